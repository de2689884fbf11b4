import { nearest } from '../../core/nearest.ts';
import { ChatError } from '../errors.ts';
import { isObject, objectOf } from '../text/json.ts';
import {
  anyText,
  count,
  fields,
  flag,
  list,
  Misfit,
  oneOf,
  record,
  text,
  type Check,
  type Checked,
} from './check.ts';
import { invalid, readConfigText } from './checked-file.ts';
import type { ServerConfig } from './server-config.ts';

export interface McpConfig {
  readonly servers: Readonly<Record<string, ServerConfig>>;
  /** The same as the file has them, with `${NAME}` where something of the environment will be. */
  readonly written: Readonly<Record<string, WrittenServer>>;
  /** What is wrong with the file or with one of its servers, which is left out then. */
  readonly warnings: readonly string[];
}

interface Reading {
  readonly source: ServerConfig['source'];
  readonly env: NodeJS.ProcessEnv;
  readonly needed: boolean;
}

/** The SDK's own: what a server may take for one request. */
const usualTimeoutMs = 60_000;

/**
 * The servers of an mcp.json, in the shape other hosts use (`mcpServers`, or `servers` as in VS Code). A server
 * that cannot be understood is a warning. A missing file has none; when it is `needed`, it throws CONFIG_INVALID,
 * as does one that is no JSON.
 */
export async function readMcpConfig(file: string, reading: Reading): Promise<McpConfig> {
  const servers: Record<string, ServerConfig> = {};
  const written: Record<string, WrittenServer> = {};
  const warnings: string[] = [];
  let entries: Readonly<Record<string, unknown>> = {};
  try {
    const content = await readConfigText(file);
    if (content === undefined && reading.needed) throw invalid(file, 'does not exist.');
    if (content !== undefined) entries = serversIn(content, file);
  } catch (error) {
    // What a project's file looks like is not the person's doing, and no reason not to start.
    if (reading.source !== 'project' || !(error instanceof ChatError)) throw error;
    warnings.push(error.message);
  }
  for (const [name, entry] of Object.entries(entries)) {
    const warn = (what: string) => void warnings.push(`${file}: ${name}: ${what}`);
    try {
      checkName(name, reading.source);
      const given = givenIn(entry, warn);
      if (given.disabled) continue;
      if (given.trust && reading.source === 'project') warn(`"trust" is ignored in a project's file.`);
      servers[name] = serverOf(name, given, reading);
      written[name] = given;
    } catch (error) {
      if (!(error instanceof Misfit)) throw error;
      warn(`${error.path.length === 0 ? '' : `${error.path.join('.')} `}${error.message}`);
    }
  }
  return { servers, written, warnings };
}

function serversIn(content: string, file: string): Readonly<Record<string, unknown>> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(content.replace(/^\uFEFF/, ''));
  } catch (error) {
    const at = /position (\d+)/.exec(String(error))?.[1];
    const line = at === undefined ? '' : `:${content.slice(0, Number(at)).split('\n').length}`;
    throw invalid(`${file}${line}`, 'is no JSON.', error);
  }
  const { mcpServers, servers = {} } = objectOf(parsed);
  const found = mcpServers ?? servers;
  if (isObject(parsed) && isObject(found)) return found;
  throw invalid(`${file}:`, '"mcpServers" should be names with servers.');
}

function checkName(name: string, source: ServerConfig['source']): void {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name) || name === '__proto__')
    throw new Misfit([], 'The name may have letters, digits, "_" and "-".');
  // Rules, hooks and profiles know servers by their names.
  if (/^(chat|toolcrib)$/i.test(name))
    throw new Misfit(
      [],
      'The chat has that name itself. Give it another; --no-toolcrib leaves our own server out.',
    );
  // "mcp__git__*" was not written for a server named git__x.
  if (source === 'project' && /__|_$/.test(name))
    throw new Misfit([], 'In the file of a project, the name may have no "__", nor end in "_".');
}

const plain: Check<string> = (value, path) => {
  if (['string', 'number', 'boolean'].includes(typeof value)) return String(value);
  throw new Misfit(path, 'should be text, a number, true or false.');
};

const known = {
  type: oneOf('stdio', 'http', 'streamable-http', 'streamableHttp', 'sse'),
  command: text,
  args: list(anyText),
  env: record(plain, /^[^=\0]+$/),
  cwd: text,
  url: text,
  headers: record(text, /^[\w-]+$/),
  trust: flag,
  protocol: oneOf('auto', '2025-11-25', '2026-07-28'),
  timeout: count,
  disabled: flag,
  tools: list(text),
};
const shape = fields(known);
export type WrittenServer = Checked<typeof shape>;

/** Other hosts have keys of their own, which are left alone; one that looks like a slip is told of. */
function givenIn(entry: unknown, warn: (what: string) => void): WrittenServer {
  if (!isObject(entry)) throw new Misfit([], 'It should be keys with values.');
  const own = Object.entries(entry).filter(([key]) => {
    const isKnown = Object.hasOwn(known, key);
    const meant = isKnown ? undefined : nearest(key, Object.keys(known));
    if (meant !== undefined) warn(`"${key}" is ignored. Did you mean "${meant}"?`);
    return isKnown;
  });
  return shape(Object.fromEntries(own), []);
}

function serverOf(name: string, given: WrittenServer, { source, env }: Reading): ServerConfig {
  const filled = (value: string, ...path: string[]) => expand(value, env, path);
  const all = (values: Readonly<Record<string, string>> = {}, key: string) =>
    Object.fromEntries(Object.entries(values).map(([each, value]) => [each, filled(value, key, each)]));
  const common = {
    name,
    trust: given.trust === true && source !== 'project',
    protocol: given.protocol ?? 'auto',
    timeoutMs: given.timeout ?? usualTimeoutMs,
    ...(given.tools && { tools: given.tools }),
    source,
  };
  if (given.type === 'sse')
    throw new Misfit(
      ['type'],
      'is the old SSE transport. Use "http" (Streamable HTTP) with the URL the server has for it.',
    );
  if (given.url !== undefined && given.type !== 'stdio') {
    const url = filled(given.url, 'url');
    if (!/^https?:\/\/./.test(url) || !URL.canParse(url))
      throw new Misfit(['url'], 'should be an http or https URL.');
    return { ...common, kind: 'http', url, headers: all(given.headers, 'headers') };
  }
  if (given.command === undefined || (given.type !== undefined && given.type !== 'stdio'))
    throw new Misfit([], 'It needs "command" (a program) or "url" (Streamable HTTP).');
  return {
    ...common,
    kind: 'stdio',
    command: filled(given.command, 'command'),
    args: (given.args ?? []).map((arg, index) => filled(arg, 'args', String(index))),
    env: all(given.env, 'env'),
    ...(given.cwd !== undefined && { cwd: filled(given.cwd, 'cwd') }),
  };
}

const variables = /\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/** The names of what a server is given of the environment. */
export function variablesOf({
  command,
  args = [],
  env = {},
  cwd,
  url,
  headers = {},
}: WrittenServer): string[] {
  const texts = [command, ...args, ...Object.values(env), cwd, url, ...Object.values(headers)];
  return [...new Set([...texts.join('\n').matchAll(variables)].map(([, name = '']) => name))];
}

/** Fills in `${NAME}`, `${NAME:-otherwise}` and VS Code's `${env:NAME}`. */
const expand = (value: string, env: NodeJS.ProcessEnv, path: readonly string[]): string =>
  value.replaceAll(variables, (_, name: string, otherwise?: string) => {
    const found = env[name] || otherwise;
    if (found !== undefined) return found;
    throw new Misfit(path, `uses \${${name}}, which is not set. Set it, or write \${${name}:-otherwise}.`);
  });
