import { lstat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { ownExcludes, readSmallFile, userExcludes } from './ignore-files.ts';
import { parseIgnoreRules, type IgnoreRules } from './ignore-rules.ts';
import type { Pace } from './pace.ts';

/** Tells of something that is not read or applied. */
export type Complain = (path: string, why: string) => void;

/** What reading rules needs beside them. */
export interface Reading {
  readonly complain: Complain;
  readonly pace: Pace;
}

const kinds = ['rgignore', 'ignore', 'gitignore', 'exclude', 'user'] as const;
type Kind = (typeof kinds)[number];
type Lists = Readonly<Record<Kind, readonly Applied[]>>;

interface RuleFile {
  readonly rules: IgnoreRules;
  readonly size: number;
}

interface Applied extends RuleFile {
  /** Where the file is: folders above the walk's top that come before a path in it, or how much of a path leads to it. */
  readonly place: Place;
}

type Place = { readonly above: string } | { readonly below: number };

/** Characters of rules that are in force at once: some 50 times what large projects have. */
const mostRules = 256 * 1024;

/**
 * The ignore rules in a folder. Of `kinds` a later one only decides what those before leave open, and of one kind the
 * file nearest to the folder: as ripgrep has it, and git, of whose rules only those count that belong to the repository
 * the folder is in.
 */
export interface IgnoreScope {
  /**
   * Whether they leave something out. `path` is the folder it is in, below the top of the walk ('' or `a/b/`); the rules
   * hold there too unless it has an ignore file of its own.
   */
  leavesOut(path: string, name: string, isFolder: boolean): boolean;
  /** How many characters of rules there are: each may have to be looked at for a name. */
  readonly size: number;
  readonly lists: Lists;
  readonly inRepository: boolean;
  /** This user's own, in force as soon as there is a repository. */
  readonly user: RuleFile | undefined;
}

const nothing: Lists = { rgignore: [], ignore: [], gitignore: [], exclude: [], user: [] };

function scopeOf(lists: Lists, inRepository: boolean, user: RuleFile | undefined): IgnoreScope {
  const inOrder = kinds.flatMap((kind) => lists[kind]);
  return {
    lists,
    inRepository,
    user,
    size: inOrder.reduce((sum, { size }) => sum + size, 0),
    leavesOut(path, name, isFolder) {
      for (const { rules, place } of inOrder) {
        const prefix = !rules.needsPath
          ? ''
          : 'above' in place
            ? place.above + path
            : path.slice(place.below);
        const verdict = rules.verdict(prefix, name, isFolder);
        if (verdict !== undefined) return verdict === 'ignored';
      }
      return false;
    },
  };
}

/** A folder whose ignore files are to be read. */
export interface RuledFolder {
  readonly place: Place;
  /** Leads to it in system calls. */
  readonly at: string;
  /** For people. */
  readonly path: string;
  /** Which of `ruleNames` are in it. */
  readonly has: ReadonlySet<string>;
}

/** The names that make a difference to what is ignored. A `.jj` makes a repository for ripgrep. */
const ruleNames: ReadonlySet<string> = new Set(['.git', '.jj', '.gitignore', '.ignore', '.rgignore']);

const none: ReadonlySet<string> = new Set();

/** Those among what a folder has that decide about rules. */
export function ruleNamesAmong(entries: readonly { readonly name: string }[]): ReadonlySet<string> {
  let found: Set<string> | undefined;
  for (const { name } of entries)
    if (name.startsWith('.') && ruleNames.has(name)) (found ??= new Set()).add(name);
  return found ?? none;
}

/** The same of a folder that is not listed for it. */
export async function ruleNamesIn(folder: string): Promise<Set<string>> {
  const found = await Promise.all(
    [...ruleNames].map(async (name) => ({
      name,
      there: (await lstat(folder + sep + name).catch(() => undefined)) !== undefined,
    })),
  );
  return new Set(found.filter(({ there }) => there).map(({ name }) => name));
}

/** The rules of all folders above one, which may lie outside the roots: a repository's top often does. */
export async function scopeAbove(
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
  reading: Reading,
): Promise<IgnoreScope> {
  const above: string[] = [];
  for (let here = dirname(folder); ; here = dirname(here)) {
    above.unshift(here);
    if (here === dirname(here)) break;
  }
  const [user, ...present] = await Promise.all([readUserRules(env, reading), ...above.map(ruleNamesIn)]);
  let scope = scopeOf(nothing, false, user);
  for (const [index, path] of above.entries()) {
    const place = { above: `${relative(path, folder).replaceAll(sep, '/')}/` };
    scope = await scopeIn(scope, { place, at: path, path, has: present[index] ?? none }, reading);
  }
  return scope;
}

/** The rules in a folder, given those in the one it is in. */
export async function scopeIn(
  above: IgnoreScope,
  { place, at, path, has }: RuledFolder,
  { complain, pace }: Reading,
): Promise<IgnoreScope> {
  if (has.size === 0) return above;
  const begins = has.has('.git') || has.has('.jj');
  const inRepository = begins || above.inRepository;
  const own = async (file: string, from: string | undefined) => {
    if (from === undefined) return [];
    const named = { pace, complain: (_: string, why: string) => complain(join(path, file), why) };
    const rules = await readRules(from, mostRules - above.size, named);
    return rules ? [{ ...rules, place }] : [];
  };
  const listed = (file: string) => own(file, has.has(file) ? at + sep + file : undefined);
  const [rgignore, ignore, gitignore, exclude] = await Promise.all([
    listed('.rgignore'),
    listed('.ignore'),
    inRepository ? listed('.gitignore') : [],
    has.has('.git') ? ownExcludes(at).then((from) => own('.git/info/exclude', from)) : [],
  ]);
  const before = above.lists;
  const lists: Lists = {
    rgignore: [...rgignore, ...before.rgignore],
    ignore: [...ignore, ...before.ignore],
    // What lies above a repository's top does not count in it.
    gitignore: begins ? gitignore : [...gitignore, ...before.gitignore],
    exclude: begins ? exclude : before.exclude,
    user: !begins ? before.user : above.user ? [{ ...above.user, place }] : [],
  };
  return scopeOf(lists, inRepository, above.user);
}

async function readUserRules(
  env: Readonly<Record<string, string | undefined>>,
  reading: Reading,
): Promise<RuleFile | undefined> {
  const path = await userExcludes(env);
  return path === undefined ? undefined : readRules(path, mostRules, reading, { follow: true });
}

async function readRules(
  path: string,
  mostBytes: number,
  { complain, pace }: Reading,
  options: { follow?: boolean } = {},
): Promise<RuleFile | undefined> {
  const text = await readSmallFile(path, mostBytes, options);
  if (text === undefined) return undefined;
  if (text !== 'too_large') {
    const rules = await parseIgnoreRules(text, pace);
    return rules && { rules, size: text.length };
  }
  complain(path, 'too large to be applied');
  return undefined;
}
