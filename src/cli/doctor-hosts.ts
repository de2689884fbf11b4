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
import { hosts, userFile, type HostFacts, type HostStart } from './hosts.ts';
import { flawOfRoots, isThrownAway } from './installation.ts';

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
 * Starts the entry "toolcrib" of each host that has one in its user's file, as a host that the desktop
 * started does, and asks for the list. A project's file is left alone: anybody may have written what it
 * starts.
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

/** Tries what an entry starts; says what would mend it. */
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

/** What is wrong with an entry that works today, and what has to be said beside its mending. */
async function flawOf(words: readonly string[], first: readonly string[], here: Host, facts?: HostFacts) {
  if (first.some((word) => isAbsolute(word) && isThrownAway(word, here)))
    return { says: 'it starts from a folder that does not stay' };
  if (facts?.formerly && valuesOf(words, '--questions').includes('host'))
    return { says: 'it leaves the questions to a host that may ask nobody' };
  const says = await flawOfRoots(valuesOf(words, '--root'), here);
  return says === undefined ? undefined : { says, more: ' --root ~/your-project' };
}

interface StartedServer extends HostStart {
  readonly env: Readonly<Record<string, string>>;
}

/** What an entry starts, by the keys that hosts have for it. Of one that starts nothing: why. */
function startOf(entry: Readonly<Record<string, unknown>>): StartedServer | string {
  const { env, environment, envs } = entry;
  const [command, ...args] = wordsOf(entry).filter((word) => typeof word === 'string');
  if (entry['enabled'] === false || entry['disabled'] === true)
    return 'it is switched off there, and not tried';
  if (command === undefined) return 'it has no command: one over HTTP is not tried';
  return { command, args, env: { ...((env ?? environment ?? envs) as StartedServer['env'] | undefined) } };
}

/** How many tools are listed. Throws an Error with the reason, as the program said it. */
async function tryEntry({ command, args, env }: StartedServer, home: string): Promise<string> {
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
    const lines = said.trim().split(/\r?\n/);
    // Node tells its own version last.
    const last = lines.find((line) => /^\w*Error\b.*:/.test(line)) ?? lines.at(-1);
    throw last ? new Error(last, { cause: error }) : error;
  } finally {
    await client.close();
  }
}
