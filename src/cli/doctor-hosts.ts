import { readFile } from 'node:fs/promises';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { parse as parseJson } from 'jsonc-parser';
import { parse as parseYaml } from 'yaml';
import type { Host } from '../machine/host.ts';
import { version } from '../server/version.ts';
import { hosts, userFile, type HostFacts, type Start } from './hosts.ts';

/** What came of a host's entry for us. */
export interface HostCheck {
  readonly host: string;
  readonly file: string;
  /** `note`: it was not tried. */
  readonly state: 'ok' | 'note' | 'wrong';
  /** How many tools it listed, or why it did not. */
  readonly says: string;
}

const mostMs = 20_000;

/**
 * Starts the entry "toolcrib" of each host that has one in its user's file, as a host that the desktop started does,
 * and asks for the list. A project's file is left alone: anybody may have written what it starts.
 */
export async function checkHosts({ env, home, platform }: Host): Promise<HostCheck[]> {
  const checks = Object.entries(hosts).map(async ([host, facts]) => {
    const file = userFile(facts, { platform, env, home });
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text === undefined) return undefined;
    try {
      const entry = entryIn(file, text, facts);
      if (entry === undefined) return undefined;
      const start = startOf(entry);
      if (typeof start === 'string') return { host, file, state: 'note' as const, says: start };
      return { host, file, state: 'ok' as const, says: await tryEntry(start, home) };
    } catch (error) {
      const says = error instanceof Error ? (error.message.trim().split('\n')[0] ?? '') : String(error);
      return { host, file, state: 'wrong' as const, says };
    }
  });
  return (await Promise.all(checks)).filter((check) => check !== undefined);
}

type Entry = Readonly<Record<string, unknown>>;

function entryIn(file: string, text: string, { under }: HostFacts): Entry | undefined {
  const path = [...under, 'toolcrib'];
  if (file.endsWith('.toml')) return tomlTable(text, path.join('.'));
  const whole: unknown = /\.ya?ml$/.test(file) ? parseYaml(text) : parseJson(text);
  return path.reduce((value, key) => (value as Entry | undefined | null)?.[key], whole) as Entry | undefined;
}

/** A table as `config` writes it: TOML's strings and lists in one line are JSON's, and its 'text' has no escapes. */
function tomlTable(text: string, name: string): Entry | undefined {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const at = lines.indexOf(`[${name}]`);
  if (at < 0) return undefined;
  const end = lines.findIndex((line, index) => index > at && line.startsWith('['));
  const table: Record<string, unknown> = {};
  for (const line of lines.slice(at + 1, end < 0 ? undefined : end)) {
    const [, key = '', value = ''] = /^([\w-]+)\s*=\s*(.*)$/.exec(line) ?? [];
    if (/^(?:'|"|\[)/.test(value))
      table[key] = /^'([^']*)'$/.exec(value)?.[1] ?? (JSON.parse(value) as unknown);
  }
  const env = tomlTable(text, `${name}.env`);
  return env ? { ...table, env } : table;
}

interface Started extends Start {
  readonly env: Readonly<Record<string, string>>;
}

/** What an entry starts, by the keys that hosts have for it. Of one that starts nothing: why. */
function startOf(entry: Entry): Started | string {
  const { command, cmd, args = [], env, environment, envs } = entry;
  const words: unknown[] = [command ?? cmd, args].flat(2);
  const [program, ...rest] = words.filter((word) => typeof word === 'string');
  if (entry['enabled'] === false || entry['disabled'] === true)
    return 'it is switched off there, and not tried';
  if (program === undefined) return 'it has no command: one over HTTP is not tried';
  return {
    command: program,
    args: rest,
    env: { ...((env ?? environment ?? envs) as Started['env'] | undefined) },
  };
}

/** How many tools are listed. Throws an Error with the reason, which is what the program said last. */
async function tryEntry({ command, args, env }: Started, home: string): Promise<string> {
  const bare = process.platform === 'win32' ? {} : { PATH: '/usr/bin:/bin' };
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    env: { ...bare, HOME: home, ...env },
    cwd: home,
    stderr: 'pipe',
  });
  let said = '';
  transport.stderr?.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2000)));
  const client = new Client({ name: 'toolcrib-doctor', version });
  try {
    await client.connect(transport, { timeout: mostMs });
    const { tools } = await client.listTools({}, { timeout: mostMs });
    return `${tools.length} tools`;
  } catch (error) {
    const last = said.trim().split('\n').at(-1);
    throw last ? new Error(last, { cause: error }) : error;
  } finally {
    await client.close();
  }
}
