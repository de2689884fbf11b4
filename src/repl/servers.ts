import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { readMcpConfig, variablesOf, type WrittenServer } from './config/mcp-config.ts';
import type { ServerConfig } from './config/server-config.ts';
import type { ChatOptions } from './options.ts';
import { readPrivateFile, writePrivateFile } from './files/private-file.ts';
import { escaped } from './terminal/printable.ts';

export interface Servers {
  readonly servers: readonly ServerConfig[];
  readonly warnings: readonly string[];
  /** The project's own file, as long as nobody has said that its programs may be started. */
  readonly untrusted?: Untrusted;
}

export interface Untrusted {
  readonly file: string;
  readonly servers: readonly ServerConfig[];
  /** All that they would be started with and sent, safe to be shown. */
  readonly lines: readonly string[];
  trust(): void;
}

/** Our own server as every host starts it. */
export function ownServer({ ownServer: own, cwd }: ChatOptions): ServerConfig[] {
  if (!own) return [];
  return [
    {
      name: 'toolcrib',
      kind: 'stdio',
      command: own.command,
      args: [...own.args],
      env: {},
      cwd,
      trust: true,
      // In 2025-11-25 a client says at once that its roots have changed.
      protocol: '2025-11-25',
      timeoutMs: 10 * 60_000,
      source: 'own',
    },
  ];
}

/**
 * The servers of the person's mcp.json, of files named on the command line, and of the project's `.mcp.json`: the
 * last only once a person has trusted this very content, since it names programs to be started.
 */
export async function otherServers(options: ChatOptions, configFolder: string): Promise<Servers> {
  const files = [
    { file: join(configFolder, 'mcp.json'), source: 'user' as const, needed: false },
    ...options.mcpFiles.map((file) => ({ file, source: 'flag' as const, needed: true })),
  ];
  const all = await Promise.all(
    files.map((one) => readMcpConfig(one.file, { source: one.source, env: options.env, needed: one.needed })),
  );
  const project = await readMcpConfig(join(options.cwd, '.mcp.json'), {
    source: 'project',
    env: options.env,
    needed: false,
  });
  const warnings = [...all, project].flatMap((one) => one.warnings);
  const byName = new Map(all.flatMap(({ servers }) => Object.entries(servers)));
  const names = Object.keys(project.servers).filter((name) => !byName.has(name));
  if (names.length === 0) return { servers: [...byName.values()], warnings };
  const trusted = trustedFiles(configFolder);
  const hash = createHash('sha256').update(JSON.stringify(project.servers)).digest('hex');
  const key = `${options.cwd} ${hash}`;
  const wanted = names.flatMap((name) => project.servers[name] ?? []);
  if (trusted.keys.includes(key)) return { servers: [...byName.values(), ...wanted], warnings };
  const lines = names.flatMap((name) => linesOf(name, project.written[name] ?? {}));
  const untrusted = {
    file: join(options.cwd, '.mcp.json'),
    servers: wanted,
    lines,
    trust: () => trusted.add(key),
  };
  return { servers: [...byName.values()], warnings, untrusted };
}

/** As the file has it: what a variable stands for may be a secret of the person's, and which it is matters more. */
function linesOf(name: string, server: WrittenServer): string[] {
  const { command, args = [], env = {}, cwd, url, headers = {} } = server;
  const given = variablesOf(server);
  return [
    `${name}: ${[command, ...args, url].flatMap((word) => (word === undefined ? [] : [shown(word)])).join(' ')}`,
    ...Object.entries(env).map(([key, value]) => `  env ${shown(key)}=${shown(value)}`),
    ...(cwd === undefined ? [] : [`  folder ${shown(cwd)}`]),
    ...Object.entries(headers).map(([key, value]) => `  header ${key}: ${shown(value)}`),
    ...(given.length === 0 ? [] : [`  from your environment: ${given.join(', ')}`]),
  ];
}

/** A word on one line, where it begins and ends: neither a line end nor many blanks can look like another line. */
const shown = (word: string): string =>
  escaped(/^[^\s"'\\]+$/.test(word) ? word : JSON.stringify(word)).replaceAll('  ', String.raw`\x20\x20`);

function trustedFiles(configFolder: string): { keys: readonly string[]; add(key: string): void } {
  const file = join(configFolder, 'trusted.json');
  const keys = (): string[] => {
    try {
      const found: unknown = JSON.parse(readPrivateFile(file) ?? '[]');
      return Array.isArray(found) ? found.filter((key) => typeof key === 'string') : [];
    } catch {
      // Damaged: nothing is trusted, and what is trusted next makes it anew.
      return [];
    }
  };
  return {
    keys: keys(),
    add: (key) => writePrivateFile(file, `${JSON.stringify([...keys(), key], null, 1)}\n`),
  };
}
