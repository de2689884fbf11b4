import { isDeepStrictEqual } from 'node:util';
import { ToolcribError } from '../core/errors.ts';
import { isRecord } from './host-format.ts';
import type { HostFacts } from './hosts.ts';
import type { Launch } from './installation.ts';

/** The words of an entry's command line, by the keys that hosts have for them. */
export const wordsOf = ({ command, cmd, args = [] }: Readonly<Record<string, unknown>>): string[] =>
  [command ?? cmd ?? [], args].flat(2) as string[];

/** The values of an option in a command line: `--root a`, `--root=a`. */
export function valuesOf(words: readonly string[], option: string): string[] {
  return words.flatMap((word, at) => {
    if (words[at - 1] === option) return [word];
    return String(word).startsWith(`${option}=`) ? [word.slice(option.length + 1)] : [];
  });
}

/** The folders for an entry: those that were named, and those for an entry that needs some and has none. */
export interface EntryRoots {
  readonly given: readonly string[];
  readonly needed: () => Promise<readonly string[]>;
  /** A folder that is not named again: in the file of a project, that project. */
  readonly left?: string;
}

/**
 * Makes a host's entry for toolcrib. Of an existing entry only what starts us is replaced, and a person's
 * additions stay. Throws CONFIG_INVALID for an entry that starts something else.
 */
export async function entryFor(facts: HostFacts, launch: Launch, roots: EntryRoots, existing: unknown) {
  const { command } = launch;
  const make = async (args: readonly string[], options: readonly string[]) =>
    facts.entry({ command, args: [...args, 'serve', ...(await optionsFor(facts, options, roots))] });
  const usual = [
    ...(facts.promptsUser ? ['--questions', 'host'] : []),
    ...(facts.needsFiles ? [] : ['--expose', 'no-files']),
  ];
  if (!isRecord(existing)) return make(launch.args, usual);
  const words = wordsOf(existing);
  const at = words.indexOf('serve');
  const start = at < 0 ? words : words.slice(0, at);
  if (isRemote(existing) || (start.length > 0 && !isOurs(start)))
    throw new ToolcribError(
      'CONFIG_INVALID',
      `The entry that is there is another one (${isRemote(existing) ? 'over HTTP' : start.join(' ')}).`,
      'Nothing was written; --remove --write takes it out first.',
    );
  const ofNode = isNode(start[0]) && isNode(command) ? start.slice(1, -1) : [];
  const fresh = await make([...ofNode, ...launch.args], at < 0 ? usual : words.slice(at + 1));
  if (start.length === 0) return { ...fresh, ...existing };
  const starts = Object.entries(fresh).filter(([key]) => ['command', 'cmd', 'args'].includes(key));
  return { ...existing, ...Object.fromEntries(starts) };
}

async function optionsFor(facts: HostFacts, options: readonly string[], { given, needed, left }: EntryRoots) {
  const current = facts.formerly ? without(options, '--questions', (value) => value === 'host') : options;
  const remaining = without(current, '--root', (value) => value === left);
  const before = valuesOf(remaining, '--root');
  const roots = given.length > 0 ? given : before.length > 0 ? before : await needed();
  if (isDeepStrictEqual(before, roots)) return remaining;
  return [...without(remaining, '--root', () => true), ...roots.flatMap((root) => ['--root', root])];
}

function without(words: readonly string[], option: string, isMeant: (value: string) => boolean): string[] {
  return words.filter((word, at) => {
    if (word === option) return !isMeant(words[at + 1] ?? '');
    if (words[at - 1] === option) return !isMeant(word);
    return !(String(word).startsWith(`${option}=`) && isMeant(word.slice(option.length + 1)));
  });
}

const isRemote = (entry: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(entry).some((key) => /^(?:url|uri|httpUrl|serverUrl)$/i.test(key));

const nameOf = (word = ''): string => String(word).split(/[\\/]/).at(-1) ?? '';
const isNode = (word?: string): boolean => /^(?:node|nodejs|bun)(?:\.exe)?$/i.test(nameOf(word));
const starters = /^(?:node|nodejs|npx|npm|pnpm|pnpx|yarn|bun|bunx|cmd|toolcrib)(?:\.(?:exe|cmd|cjs))?$/i;
const ours = /^toolcrib(?:\.\w+|@.*)?$/i;

/** True where the words before `serve` are as config writes them, or once wrote them. */
export function isOurs(start: readonly string[]): boolean {
  const first = nameOf(start[0]);
  const last = nameOf(start.at(-1));
  if (ours.test(last)) return start.length <= 2 || starters.test(first);
  return start.length === 1 ? start[0] === first : start.length === 2 && isNode(first);
}
