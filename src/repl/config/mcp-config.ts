import { objectOf } from '../text/json.ts';
import { checked, invalid, readCheckedFile } from './checked-file.ts';
import type { WrittenServer } from './schemas.ts';

/** An MCP server and how it is reached: by its `url`, else by its `command`. */
export type ServerConfig = Omit<WrittenServer, 'type' | 'disabled'> & {
  readonly name: string;
  /** Our own server, as opposed to one of a file. */
  readonly isOwn: boolean;
};

/**
 * The servers of an mcp.json. One that cannot be understood is left out, and is a warning. A missing file has
 * none; when it is `needed`, it throws CONFIG_INVALID, as does one that cannot be read.
 */
export async function readMcpConfig(
  file: string,
  { env, needed }: { readonly env: NodeJS.ProcessEnv; readonly needed: boolean },
) {
  const content = await readCheckedFile(file, 'mcpFile');
  const entries = content?.mcpServers ?? content?.servers;
  if (!entries && needed)
    throw invalid(file, content ? 'names no servers: it has no "mcpServers".' : 'does not exist.');
  const used = Object.entries(entries ?? {}).filter(([, entry]) => objectOf(entry)['disabled'] !== true);
  const read = await Promise.all(used.map(([name, entry]) => serverOf(name, entry, env)));
  return {
    servers: read.filter((one) => typeof one === 'object'),
    warnings: read.flatMap((one, at) => (typeof one === 'string' ? `${file}: ${used[at]?.[0]}: ${one}` : [])),
  };
}

/** `${NAME}`, `${NAME:-otherwise}` and VS Code's `${env:NAME}`. */
const variables = /\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/** The server with its variables filled in, or what is wrong with it. */
async function serverOf(
  name: string,
  entry: unknown,
  env: NodeJS.ProcessEnv,
): Promise<ServerConfig | string> {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name) || name === '__proto__')
    return 'The name may have letters, digits, "_" and "-".';
  // Rules, hooks and profiles know servers by their names.
  if (/^(chat|toolcrib)$/i.test(name))
    return 'The chat has that name itself. Give it another; --no-toolcrib leaves our own server out.';
  const unset = new Set<string>();
  const fill = (_: string, value: unknown) =>
    typeof value !== 'string'
      ? value
      : value.replaceAll(variables, (_, variable: string, otherwise = '') => {
          const found = env[variable] || otherwise;
          if (found === '') unset.add(variable);
          return found;
        });
  const filled: unknown = JSON.parse(JSON.stringify(entry ?? null), fill);
  const [one] = unset;
  if (one !== undefined) return `uses \${${one}}, which is not set. Set it, or write \${${one}:-otherwise}.`;
  const { mcpServer } = await import('./schemas.ts');
  const parsed = checked(mcpServer, filled);
  if (!('value' in parsed)) return `${parsed.path.join('.') || 'It'} ${parsed.says}`;
  const { type, disabled: _, url, ...server } = parsed.value;
  const isHttp = url !== undefined && type !== 'stdio';
  if (!isHttp && (server.command === undefined || (type ?? 'stdio') !== 'stdio'))
    return 'It needs "command" (a program) or "url" (Streamable HTTP).';
  return { ...server, name, isOwn: false, ...(isHttp && { url }) };
}
