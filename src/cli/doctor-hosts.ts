import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Host } from '../machine/host.ts';
import { ownCommandLine } from '../server/approvals/own-command.ts';
import { version } from '../machine/version.ts';
import { isOurs, valuesOf, wordsOf } from './host-entry.ts';
import { settingIn } from './host-file.ts';
import { isRecord } from './host-format.ts';
import { hosts, userFile, type HostFacts } from './hosts.ts';
import { flawOfRoots, isThrownAway, type Launch } from './installation.ts';

/** The outcome of trying a host's entry for toolcrib. */
export interface HostCheck {
  readonly host: string;
  readonly file: string;
  /** The state of the entry; `note` where it was not tried, or works with a flaw. */
  readonly state: 'ok' | 'note' | 'wrong';
  /** The number of tools that it listed, or the reason why it listed none. */
  readonly says: string;
}

/** Milliseconds after which an entry that does not answer counts as broken. */
const mostMs = 20_000;

/**
 * Starts the entry "toolcrib" of each host that has one in its user's file, as a host that the desktop
 * started does, and asks for the list of tools. A project's file is left alone, because anybody may have
 * written what it starts.
 */
export async function checkHosts(here: Host): Promise<HostCheck[]> {
  const checks = Object.entries(hosts).map(async ([host, facts]) => {
    const file = await userFile(facts, here);
    const text = await readFile(file, 'utf8').catch(() => '');
    if (!text.includes('toolcrib')) return undefined;
    try {
      const entry = settingIn(file, text, [...facts.under, 'toolcrib']);
      if (!isRecord(entry)) return undefined;
      const start = startOf(entry);
      if (typeof start === 'string') return { host, file, state: 'note' as const, says: start };
      return { host, file, ...(await checkStart(start, here, host)) };
    } catch (error) {
      return { host, file, state: 'wrong' as const, says: firstLine(error) };
    }
  });
  return (await Promise.all(checks)).filter((check) => check !== undefined);
}

const firstLine = (error: unknown): string =>
  error instanceof Error ? (error.message.trim().split('\n')[0] ?? '') : String(error);

/** Tries what an entry starts, and tells how to mend it. */
async function checkStart(
  start: StartedServer,
  here: Host,
  host: string,
): Promise<Pick<HostCheck, 'state' | 'says'>> {
  const mending = `${ownCommandLine()} config ${host} --write`;
  const words = wordsOf({ ...start });
  const first = words.slice(0, Math.max(words.indexOf('serve'), 0));
  try {
    const tools = await tryEntry(start, here.home);
    const flaw = await flawOf(words, first, here, hosts[host]);
    return flaw === undefined
      ? { state: 'ok', says: tools }
      : { state: 'note', says: `${tools}; ${flaw.says}; to mend it: ${mending}${flaw.more ?? ''}` };
  } catch (error) {
    const gone = isOurs(first) ? first.find((word) => isAbsolute(word) && !existsSync(word)) : undefined;
    if (gone !== undefined) {
      const what = gone === start.command ? 'program' : 'script';
      return { state: 'wrong', says: `its ${what} ${gone} is gone; to mend it: ${mending}` };
    }
    const says = firstLine(error);
    const isGone = valuesOf(words, '--root').some((root) => !existsSync(root));
    const wayOut = isGone ? ` To mend it: ${mending} --root ~/your-project` : '';
    return { state: 'wrong', says: says + wayOut };
  }
}

/** The flaw of an entry that works today, with the options that its mending needs. */
async function flawOf(words: readonly string[], first: readonly string[], here: Host, facts?: HostFacts) {
  if (first.some((word) => isAbsolute(word) && isThrownAway(word, here)))
    return { says: 'it starts from a folder that does not stay' };
  if (facts?.formerly && valuesOf(words, '--questions').includes('host'))
    return { says: 'it leaves the questions to a host that may ask nobody' };
  const says = await flawOfRoots(valuesOf(words, '--root'), here);
  return says === undefined ? undefined : { says, more: ' --root ~/your-project' };
}

interface StartedServer extends Launch {
  readonly env: Readonly<Record<string, string>>;
}

/** The program that an entry starts, read from the keys that hosts use, or the reason why it starts none. */
function startOf(entry: Readonly<Record<string, unknown>>): StartedServer | string {
  const { env, environment, envs } = entry;
  const [command, ...args] = wordsOf(entry).filter((word) => typeof word === 'string');
  if (entry['enabled'] === false || entry['disabled'] === true)
    return 'it is switched off there, and not tried';
  if (command === undefined) return 'it has no command: one over HTTP is not tried';
  return { command, args, env: { ...((env ?? environment ?? envs) as StartedServer['env'] | undefined) } };
}

/**
 * Starts an entry, and returns the number of its tools. Throws an Error with the reason that the program
 * printed.
 */
async function tryEntry({ command, args, env }: StartedServer, home: string): Promise<string> {
  const bare = process.platform === 'win32' ? {} : { PATH: '/usr/bin:/bin' };
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    env: { ...bare, HOME: home, ...env },
    cwd: home,
    stderr: 'pipe',
  });
  let printed = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    printed = (printed + chunk.toString()).slice(-2000);
  });
  const client = new Client({ name: 'toolcrib-doctor', version });
  try {
    await client.connect(transport, { timeout: mostMs });
    const { tools } = await client.listTools({}, { timeout: mostMs });
    return `${tools.length} tools`;
  } catch (error) {
    const lines = printed.trim().split(/\r?\n/);
    // Node prints its own version last.
    const last = lines.find((line) => /^\w*Error\b.*:/.test(line)) ?? lines.at(-1);
    throw last ? new Error(last, { cause: error }) : error;
  } finally {
    await client.close();
  }
}
