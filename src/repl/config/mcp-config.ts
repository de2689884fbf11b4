import { checked, invalid, readCheckedFile } from './checked-file.ts';
import type { WrittenServer } from './schemas.ts';

/** An MCP server and how it is reached. */
export type ServerConfig = Common &
  (
    | {
        readonly kind: 'stdio';
        readonly command: string;
        readonly args: readonly string[];
        readonly env: Readonly<Record<string, string>>;
        readonly cwd?: string;
      }
    | { readonly kind: 'http'; readonly url: string; readonly headers: Readonly<Record<string, string>> }
  );

interface Common {
  readonly name: string;
  /** What the server says of its tools is believed. */
  readonly trust: boolean;
  readonly protocol: NonNullable<WrittenServer['protocol']>;
  /** For one request. */
  readonly timeoutMs: number;
  /** Globs on the server's own tool names, `!` excludes; without them all tools. */
  readonly tools?: readonly string[];
  /** Our own server, as opposed to one of a file. */
  readonly isOwn: boolean;
}

interface McpConfig {
  readonly servers: readonly ServerConfig[];
  /** What is wrong with one of its servers, which is left out then. */
  readonly warnings: readonly string[];
}

/** The SDK's own: what a server may take for one request. */
const usualTimeoutMs = 60_000;

/**
 * The servers of an mcp.json. One that cannot be understood is a warning. A missing file has none; when it is `needed`,
 * it throws CONFIG_INVALID, as does one that cannot be read.
 */
export async function readMcpConfig(
  file: string,
  { env, needed }: { readonly env: NodeJS.ProcessEnv; readonly needed: boolean },
): Promise<McpConfig> {
  const content = await readCheckedFile(file, 'mcpFile');
  const entries = content?.mcpServers ?? content?.servers;
  if (!entries && needed)
    throw invalid(file, content ? 'names no servers: it has no "mcpServers".' : 'does not exist.');
  if (!entries) return { servers: [], warnings: [] };
  const { mcpServer } = await import('./schemas.ts');
  const servers: ServerConfig[] = [];
  const warnings: string[] = [];
  for (const [name, entry] of Object.entries(entries)) {
    const parsed = checked(mcpServer, entry);
    if ('value' in parsed && parsed.value.disabled) continue;
    const problem =
      'value' in parsed
        ? problemOf(name, parsed.value, env)
        : `${parsed.path.join('.') || 'It'} ${parsed.says}`;
    if (problem !== undefined) warnings.push(`${file}: ${name}: ${problem}`);
    else if ('value' in parsed) servers.push(serverOf(name, parsed.value, env));
  }
  return { servers, warnings };
}

function problemOf(name: string, server: WrittenServer, env: NodeJS.ProcessEnv): string | undefined {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name) || name === '__proto__')
    return 'The name may have letters, digits, "_" and "-".';
  // Rules, hooks and profiles know servers by their names.
  if (/^(chat|toolcrib)$/i.test(name))
    return 'The chat has that name itself. Give it another; --no-toolcrib leaves our own server out.';
  const { type, command, url } = server;
  const isHttp = url !== undefined && type !== 'stdio';
  if (!isHttp && (command === undefined || (type !== undefined && type !== 'stdio')))
    return 'It needs "command" (a program) or "url" (Streamable HTTP).';
  const unset = [...JSON.stringify(server).matchAll(variables)].find(
    ([, variable = '', otherwise]) => !(env[variable] || otherwise),
  )?.[1];
  if (unset !== undefined)
    return `uses \${${unset}}, which is not set. Set it, or write \${${unset}:-otherwise}.`;
  const to = isHttp ? filled(url, env) : 'http://none';
  return /^https?:\/\/./.test(to) && URL.canParse(to) ? undefined : 'url should be an http or https URL.';
}

function serverOf(name: string, written: WrittenServer, env: NodeJS.ProcessEnv): ServerConfig {
  const { type, command = '', args = [], cwd, url, tools, trust = false, protocol = 'auto' } = written;
  const all = (values: Readonly<Record<string, unknown>> = {}) =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, filled(String(value), env)]));
  const { timeout: timeoutMs = usualTimeoutMs } = written;
  const common = { name, trust, protocol, timeoutMs, ...(tools && { tools }), isOwn: false };
  if (url !== undefined && type !== 'stdio')
    return { ...common, kind: 'http', url: filled(url, env), headers: all(written.headers) };
  return {
    ...common,
    kind: 'stdio',
    command: filled(command, env),
    args: args.map((arg) => filled(arg, env)),
    env: all(written.env),
    ...(cwd !== undefined && { cwd: filled(cwd, env) }),
  };
}

/** `${NAME}`, `${NAME:-otherwise}` and VS Code's `${env:NAME}`. */
const variables = /\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

const filled = (value: string, env: NodeJS.ProcessEnv): string =>
  value.replaceAll(variables, (_, name: string, otherwise = '') => env[name] || otherwise);
