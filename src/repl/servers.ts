import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { readMcpConfig, variablesIn } from './config/mcp-config.ts';
import type { WrittenServer } from './config/schemas.ts';
import type { ServerConfig } from './config/server-config.ts';
import { readPrivateFile, writePrivateFile } from './files/private-file.ts';
import type { ChatOptions } from './options.ts';
import { escaped } from './terminal/printable.ts';
import { listOf } from './text/json.ts';

export interface Servers {
  readonly servers: readonly ServerConfig[];
  readonly warnings: readonly string[];
  /** The project's own file, as long as nobody has said that its programs may be started. */
  readonly untrusted?: Untrusted;
}

interface Untrusted {
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
  const { env, cwd } = options;
  const file = join(cwd, '.mcp.json');
  const project = await readMcpConfig(file, { source: 'project', env, needed: false });
  const all = [
    await readMcpConfig(join(configFolder, 'mcp.json'), { source: 'user', env, needed: false }),
    ...(await Promise.all(
      options.mcpFiles.map((named) => readMcpConfig(named, { source: 'flag', env, needed: true })),
    )),
  ];
  const warnings = [...all, project].flatMap((one) => one.warnings);
  const byName = new Map(all.flatMap((one) => Object.entries(one.servers)));
  const servers = [...byName.values()];
  const theirs = Object.values(project.servers).filter(({ name }) => !byName.has(name));
  if (theirs.length === 0) return { servers, warnings };
  const hash = createHash('sha256').update(JSON.stringify(project.servers)).digest('hex');
  const key = `${cwd} ${hash}`;
  if (trusted(configFolder).includes(key)) return { servers: [...servers, ...theirs], warnings };
  const lines = theirs.flatMap(({ name }) => linesOf(name, project.written[name] ?? {}));
  const trust = () => {
    const keys = [...trusted(configFolder), key];
    writePrivateFile(join(configFolder, 'trusted.json'), `${JSON.stringify(keys, null, 1)}\n`);
  };
  return { servers, warnings, untrusted: { file, servers: theirs, lines, trust } };
}

/** As the file has it: what a variable stands for may be a secret of the person's, and which it is matters more. */
function linesOf(name: string, server: WrittenServer): string[] {
  const { command, args = [], env = {}, cwd, url, headers = {} } = server;
  const given = [...new Set(variablesIn(server).map(({ name: variable }) => variable))];
  const words = [command, ...args, url].filter((word) => word !== undefined);
  return [
    `${name}: ${words.map(shown).join(' ')}`,
    ...Object.entries(env).map(([key, value]) => `  env ${shown(key)}=${shown(String(value))}`),
    ...(cwd === undefined ? [] : [`  folder ${shown(cwd)}`]),
    ...Object.entries(headers).map(([key, value]) => `  header ${key}: ${shown(value)}`),
    ...(given.length === 0 ? [] : [`  from your environment: ${given.join(', ')}`]),
  ];
}

/** A word on one line, where it begins and ends: neither a line end nor many blanks can look like another line. */
const shown = (word: string): string =>
  escaped(/^[^\s"'\\]+$/.test(word) ? word : JSON.stringify(word)).replaceAll('  ', String.raw`\x20\x20`);

/** Folders and hashes of what was trusted in them. */
function trusted(configFolder: string): readonly unknown[] {
  try {
    return listOf(JSON.parse(readPrivateFile(join(configFolder, 'trusted.json')) ?? '[]'));
  } catch {
    // Damaged: nothing is trusted, and what is trusted next makes it anew.
    return [];
  }
}
