import { lstatSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, relative, sep } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import type { ProtectedPath } from '../../core/tool.ts';
import { hasUnseen } from '../../core/unseen.ts';
import { ownFolders, thisPlatform } from '../../store/own-files.ts';
import { processFolderMade } from '../../store/process-folder.ts';
import { isInside } from './inside.ts';
import { protectedNames, type ProtectedNames } from './protected-names.ts';
import { realPath } from './real-path.ts';
import { refusal } from './display-path.ts';

/**
 * Decides whether a protected path may be opened for changing, because a person has agreed. `effect` is the
 * effect of changing it, and `isSettings` is true for a project's settings file.
 */
export type Consent = (path: string, effect: string, isSettings?: boolean) => boolean;

export const noConsent: Consent = () => false;

/**
 * Creates a consent for the planning of a call, in which nothing is changed: a protected path opens, and is
 * recorded. A settings file opens only at the top of one of the `mendable` folders, where it cannot be read
 * and a person can have it mended.
 */
export function notingConsent(mendable: readonly string[]): {
  consent: Consent;
  protects: readonly ProtectedPath[];
} {
  const recorded = new Map<string, ProtectedPath>();
  return {
    consent(path, effect, isSettings = false) {
      if (isSettings && !mendable.includes(dirname(path))) return false;
      recorded.set(path, { path, effect, ...(isSettings && { isSettings: true }) });
      return true;
    },
    get protects() {
      return [...recorded.values()];
    },
  };
}

/** Creates a consent to the planned paths, and to nothing else. */
export function consentTo(protects: readonly ProtectedPath[]): Consent {
  const agreed = new Set(protects.map(({ path }) => path));
  return (path) => agreed.has(path);
}

type ProtectionReason = Pick<ProtectedNames, 'effect' | 'never'>;

/**
 * The reason why a path is not changed without approval, by its names alone. The path is a real absolute one,
 * or one below a folder that is moved.
 */
export function protectedReason(path: string): ProtectionReason | undefined {
  const folded = foldPath(path);
  const reason = matchers().find(({ whole }) => whole.test(folded))?.reason;
  return reason?.effect === '' ? undefined : reason;
}

/**
 * True where something protected could lie below a path, or be it: a symbolic link there could lead to it.
 */
export function couldHoldProtected(path: string): boolean {
  const folded = foldPath(path);
  return matchers().some(({ reason, partly }) => reason.effect !== '' && partly.test(folded));
}

/**
 * Throws PATH_PROTECTED for a real path that is not changed without a person's consent: by its names, because
 * it lies in a repository without a work tree or would complete one, or because nobody can see what it is.
 * `given` is the caller's name for it, and `isNew` is true where nothing is there yet. `openPlace` calls this
 * itself; others do when they only describe what would be done.
 */
export function refuseProtected(
  { path }: { readonly path: string },
  given = path,
  { consent = noConsent, isNew = false }: { consent?: Consent; isNew?: boolean } = {},
): void {
  const reason = protectedReason(path);
  if (reason?.never === true) throw protectedError(given, reason.effect);
  const effect = reason?.effect ?? (inGitFolder(path) ? gitFolderEffect : unclearEffect(path, isNew));
  if (effect !== undefined && !consent(path, effect, reason?.never !== undefined))
    throw protectedError(given, effect);
}

/**
 * The form of short names: FAT and NTFS also know `.vscode` as `VSCODE~1`. Windows itself reports the real
 * name.
 */
const shortName = /(?:^|[\\/])[^\\/.~]{1,6}~\d(?:\.[^\\/.]{1,3})?(?:[\\/]|$)/;

function unclearEffect(path: string, isNew: boolean): string | undefined {
  if (shortName.test(path)) return 'it may be the short name of something else';
  return isNew && isNewUnseen(path) ? 'its name has characters that nobody sees' : undefined;
}

/**
 * True where a name that does not exist yet has invisible characters. Nobody chooses the names of existing
 * folders now.
 */
const isNewUnseen = (path: string): boolean =>
  hasUnseen(path) && (hasUnseen(basename(path)) || (!isThere(dirname(path)) && isNewUnseen(dirname(path))));

/** The error for a protected path; `effect` is as in `ProtectedNames`. */
export const protectedError = (given: string, effect: string): ToolcribError =>
  refusal(
    'PATH_PROTECTED',
    given,
    `is not changed from here, because ${effect}.`,
    'If it has to be, show the person what, so that they can do it themselves.',
  );

/**
 * The names that git itself puts into its folder; others are files of the people who put a work tree there.
 */
const gitNames =
  /^(?:head|config(\.worktree)?|commondir|gitdir|hooks|info|objects|(packed-)?refs|modules|worktrees|index)$/;

/** The effect of changing something there, as in `ProtectedNames`. */
export const gitFolderEffect = 'git takes its folder for a repository, and runs what that names';

/**
 * True where a real path is part of what git takes for a repository by itself (a bare one, or the folder of
 * one kept elsewhere), or would be once something is there: by the three names that git looks for, or the two
 * of a linked work tree (is_git_directory in git's setup.c). Runs synchronously, so that nothing comes
 * between it and what is done next.
 */
export function inGitFolder(path: string): boolean {
  for (let ancestor = path; ancestor !== dirname(ancestor); ancestor = dirname(ancestor)) {
    const folder = dirname(ancestor);
    const name = basename(ancestor).toLowerCase();
    const has = (entry: string) => entry.toLowerCase() === name || isThere(join(folder, entry));
    if (gitNames.test(name) && has('HEAD') && (has('commondir') || (has('objects') && has('refs'))))
      return true;
  }
  return false;
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // This user cannot reach anything there, and neither can git.
    return false;
  }
}

/**
 * Folds a path to how file systems may read it: without case, in one Unicode form, without the invisible
 * characters that HFS+ leaves out of names (git's next_hfs_char) and without the streams, dots and blanks at
 * the end that NTFS leaves out. It folds too much rather than too little.
 */
export const foldPath = (path: string): string => path.split(/[\\/]/).map(foldName).join('/');

function foldName(name: string): string {
  // Nearly all names have nothing in them that could be read in another way.
  if (/^[\w@+-][\w@+.-]*$/.test(name) && !name.endsWith('.')) return name.toLowerCase();
  const visible = name.replaceAll(/[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, '').replace(/:.*$/s, '');
  // By upper case, ſ, ı and ligatures become the letters that they are equal to.
  const folded = visible.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
  // The match starts only where such a run begins: otherwise many dots that are not at the end would take
  // quadratic time.
  return folded.replace(/(?<![. ])[. ]+$/, '');
}

interface Matcher {
  readonly reason: ProtectionReason;
  readonly whole: RegExp;
  readonly partly: RegExp;
}

const compiled: Matcher[] = [];

/** Compiles the patterns at the first call, because that takes milliseconds that a start has no use for. */
function matchers(): readonly Matcher[] {
  const patternOf = (paths: readonly string[], partly: boolean) =>
    new RegExp(`(?:${paths.map((path) => sourceOf(path, partly)).join('|')})$`);
  if (compiled.length === 0)
    for (const { paths, ...reason } of protectedNames)
      compiled.push({ reason, whole: patternOf(paths, false), partly: patternOf(paths, true) });
  return compiled;
}

/**
 * Converts a pattern of the list to the source of a regular expression. With `partly`, what follows a slash
 * may be missing.
 */
function sourceOf(path: string, partly: boolean): string {
  const open = [0];
  const close = (): string => ')?'.repeat(open.pop() ?? 0);
  const source = path.replaceAll(/\/\*\*|\*\w+\*|[^\w]/g, (sign, at: number) => {
    if (sign === '/**') return '(?:/[^]*)?';
    // The name is searched for once: with a star on both sides, a name that has it often would be tried for
    // each.
    if (/^\*\w/.test(sign)) return `(?=[^/]*${sign.slice(1, -1)})[^/]*`;
    if (sign === '*') return '[^/]*';
    if (sign === '}') return `${close()})`;
    if (sign === '{') {
      open.push(0);
      return '(?:';
    }
    if (sign === ',') {
      const end = close();
      open.push(0);
      return `${end}|`;
    }
    if (sign !== '/' || !partly || at === 0) return `\\${sign}`;
    open.push((open.pop() ?? 0) + 1);
    return '(?:/';
  });
  return `${path.startsWith('/') ? '^' : '(?:^|/)'}${source}${close()}`;
}

/**
 * The real paths of the folders in which toolcrib keeps its own files; where a link replaces one, those of
 * the link and of its target.
 */
export function ownRealFolders(): string[] {
  const ours = [...ownFolders(thisPlatform(), process.env, homedir()), processFolderMade() ?? []].flat();
  const folders = ours.flatMap((folder) => {
    const path = join(realPath(dirname(folder)), basename(folder));
    return [path, realPath(path)];
  });
  return [...new Set(folders)];
}

/**
 * True where a real path is toolcrib's own, also in another spelling. The folders are determined at each
 * call, because links may have been made.
 */
export function isOwn(path: string, own: readonly string[] = ownRealFolders()): boolean {
  const folded = foldPath(path);
  return own.some((folder) => isInside(folded, foldPath(folder)));
}

/** The folders of toolcrib below a real path, relative to it, with `/` between names. */
export function ownFoldersBelow(folder: string): ReadonlySet<string> {
  const below = ownRealFolders().filter((own) => own !== folder && isInside(own, folder));
  return new Set(below.map((own) => relative(folder, own).replaceAll(sep, '/')));
}
