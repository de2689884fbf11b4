import { isDeepStrictEqual } from 'node:util';
import { ToolcribError } from '../core/errors.ts';
import { isRecord } from './host-format.ts';
import type { HostFacts } from './hosts.ts';
import type { Launch } from './installation.ts';

/** The words of an entry that start something, by the keys that hosts have for them. */
export const wordsOf = ({ command, cmd, args = [] }: Readonly<Record<string, unknown>>): string[] =>
  [command ?? cmd ?? [], args].flat(2) as string[];

/** The values that options have among words: `--root a`, `--root=a`. */
export function valuesOf(words: readonly string[], option: string): string[] {
  return words.flatMap((word, at) => {
    if (words[at - 1] === option) return [word];
    return String(word).startsWith(`${option}=`) ? [word.slice(option.length + 1)] : [];
  });
}

/** Folders for an entry: those that were named, and the one for an entry that needs one and has none. */
export interface EntryRoots {
  readonly given: readonly string[];
  readonly needed: () => Promise<readonly string[]>;
  /** Is not named again: in the file of a project, that project. */
  readonly left?: string;
}

/**
 * A host's entry for us. Of one that is there, only what starts us is replaced: what a person has added to it
 * stays. Throws CONFIG_INVALID for one that starts something else.
 */
export async function entryFor(facts: HostFacts, launch: Launch, roots: EntryRoots, there: unknown) {
  const { command } = launch;
  const made = async (args: readonly string[], options: readonly string[]) =>
    facts.entry({ command, args: [...args, 'serve', ...(await optionsFor(facts, options, roots))] });
  const usual = [
    ...(facts.promptsUser ? ['--questions', 'host'] : []),
    ...(facts.needsFiles ? [] : ['--expose', 'no-files']),
  ];
  if (!isRecord(there)) return made(launch.args, usual);
  const words = wordsOf(there);
  const at = words.indexOf('serve');
  const start = at < 0 ? words : words.slice(0, at);
  if (isRemote(there) || (start.length > 0 && !isOurs(start)))
    throw new ToolcribError(
      'CONFIG_INVALID',
      `The entry that is there is another one (${isRemote(there) ? 'over HTTP' : start.join(' ')}).`,
      'Nothing was written; --remove --write takes it out first.',
    );
  const ofNode = isNode(start[0]) && isNode(command) ? start.slice(1, -1) : [];
  const fresh = await made([...ofNode, ...launch.args], at < 0 ? usual : words.slice(at + 1));
  if (start.length === 0) return { ...fresh, ...there };
  const starts = Object.entries(fresh).filter(([key]) => ['command', 'cmd', 'args'].includes(key));
  return { ...there, ...Object.fromEntries(starts) };
}

async function optionsFor(facts: HostFacts, options: readonly string[], { given, needed, left }: EntryRoots) {
  const asked = facts.formerly ? without(options, '--questions', (value) => value === 'host') : options;
  const kept = without(asked, '--root', (value) => value === left);
  const before = valuesOf(kept, '--root');
  const wanted = given.length > 0 ? given : before.length > 0 ? before : await needed();
  if (isDeepStrictEqual(before, wanted)) return kept;
  return [...without(kept, '--root', () => true), ...wanted.flatMap((root) => ['--root', root])];
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

/** The words before `serve` are as config writes them, or wrote them once. */
export function isOurs(start: readonly string[]): boolean {
  const [first, last] = [nameOf(start[0]), nameOf(start.at(-1))];
  if (ours.test(last)) return start.length <= 2 || starters.test(first);
  return start.length === 1 ? start[0] === first : start.length === 2 && isNode(first);
}
