import { nearest } from '../../core/nearest.ts';
import { ChatError } from '../errors.ts';
import { isObject } from '../text/json.ts';
import { complaintOf, invalid, readCheckedFile } from './checked-file.ts';
import type { WrittenServer } from './schemas.ts';
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
 * The servers of an mcp.json. One that cannot be understood is a warning. A missing file has none; when it is `needed`,
 * it throws CONFIG_INVALID, as does one that is no JSON, unless it is the project's.
 */
export async function readMcpConfig(file: string, reading: Reading): Promise<McpConfig> {
  const { source, needed } = reading;
  const servers: Record<string, ServerConfig> = {};
  const written: Record<string, WrittenServer> = {};
  const warnings: string[] = [];
  const load = () => import('./schemas.ts');
  const content = await readCheckedFile(file, async () => (await load()).mcpFile).catch((error: unknown) => {
    // What a project's file looks like is not the person's doing, and no reason not to start.
    if (source !== 'project' || !(error instanceof ChatError)) throw error;
    warnings.push(error.message);
  });
  if (content === undefined && needed) throw invalid(file, 'does not exist.');
  if (content === undefined) return { servers, written, warnings };
  const { mcpServer } = await load();
  for (const [name, entry] of Object.entries(content.mcpServers ?? content.servers ?? {})) {
    const warn = (what: string) => void warnings.push(`${file}: ${name}: ${what}`);
    const problem = nameProblem(name, source);
    const parsed = mcpServer.safeParse(entry, { jitless: true });
    for (const slip of slipsIn(entry, Object.keys(mcpServer.shape))) warn(slip);
    if (problem !== undefined) warn(problem);
    else if (!parsed.success) {
      const { path, says } = complaintOf(parsed.error, mcpServer, entry);
      warn(`${path.join('.') || 'It'} ${says}`);
    } else if (!parsed.data.disabled) {
      if (parsed.data.trust && source === 'project') warn(`"trust" is ignored in a project's file.`);
      const server = serverOf(name, parsed.data, reading);
      if (typeof server === 'string') warn(server);
      else [servers[name], written[name]] = [server, parsed.data];
    }
  }
  return { servers, written, warnings };
}

function nameProblem(name: string, source: ServerConfig['source']): string | undefined {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name) || name === '__proto__')
    return 'The name may have letters, digits, "_" and "-".';
  // Rules, hooks and profiles know servers by their names.
  if (/^(chat|toolcrib)$/i.test(name))
    return 'The chat has that name itself. Give it another; --no-toolcrib leaves our own server out.';
  // "mcp__git__*" was not written for a server named git__x.
  if (source === 'project' && /__|_$/.test(name))
    return 'In the file of a project, the name may have no "__", nor end in "_".';
  return undefined;
}

/** Other hosts have keys of their own; one that looks like a slip is told of. */
const slipsIn = (entry: unknown, known: readonly string[]): string[] =>
  Object.keys(isObject(entry) ? entry : {}).flatMap((key) => {
    const meant = known.includes(key) ? undefined : nearest(key, known);
    return meant === undefined ? [] : [`"${key}" is ignored. Did you mean "${meant}"?`];
  });

/** The server with what it has of the environment, or what it lacks. */
function serverOf(name: string, written: WrittenServer, { source, env }: Reading): ServerConfig | string {
  const missing = variablesIn(written).find(({ name, otherwise }) => !(env[name] || otherwise));
  if (missing)
    return `uses \${${missing.name}}, which is not set. Set it, or write \${${missing.name}:-otherwise}.`;
  const filled = (value: string) =>
    value.replaceAll(variables, (_, name: string, otherwise = '') => env[name] || otherwise);
  const all = (values: Readonly<Record<string, unknown>> = {}) =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, filled(String(value))]));
  const { type, command, args = [], cwd, url, headers, tools } = written;
  const common = {
    name,
    trust: written.trust === true && source !== 'project',
    protocol: written.protocol ?? 'auto',
    timeoutMs: written.timeout ?? usualTimeoutMs,
    ...(tools && { tools }),
    source,
  };
  if (url !== undefined && type !== 'stdio') {
    const to = filled(url);
    if (!/^https?:\/\/./.test(to) || !URL.canParse(to)) return 'url should be an http or https URL.';
    return { ...common, kind: 'http', url: to, headers: all(headers) };
  }
  if (command === undefined || (type !== undefined && type !== 'stdio'))
    return 'It needs "command" (a program) or "url" (Streamable HTTP).';
  return {
    ...common,
    kind: 'stdio',
    command: filled(command),
    args: args.map(filled),
    env: all(written.env),
    ...(cwd !== undefined && { cwd: filled(cwd) }),
  };
}

/** `${NAME}`, `${NAME:-otherwise}` and VS Code's `${env:NAME}`. */
const variables = /\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/** What a server is given of the environment. */
export function variablesIn(
  written: WrittenServer,
): { readonly name: string; readonly otherwise?: string }[] {
  const { command, args = [], env = {}, cwd, url, headers = {} } = written;
  const texts = [command, ...args, ...Object.values(env), cwd, url, ...Object.values(headers)].join('\n');
  return [...texts.matchAll(variables)].map(([, name = '', otherwise]) => ({
    name,
    ...(otherwise && { otherwise }),
  }));
}
