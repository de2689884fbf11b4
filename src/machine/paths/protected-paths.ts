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
 * Whether a person has agreed that a file which others run or obey is changed: a protected path opens for changing.
 * `effect`: what changing it leads to. `isSettings`: it is a project's settings file.
 */
export type Consent = (path: string, effect: string, isSettings?: boolean) => boolean;

export const noConsent: Consent = () => false;

/**
 * Consent while a call is planned, when nothing is changed: what is protected opens, and is noted. A settings file
 * opens only at the top of one of the `mendable` folders, where it cannot be read and a person can have it mended.
 */
export function notingConsent(mendable: readonly string[]): {
  consent: Consent;
  protects: readonly ProtectedPath[];
} {
  const noted = new Map<string, ProtectedPath>();
  return {
    consent(path, effect, isSettings = false) {
      if (isSettings && !mendable.includes(dirname(path))) return false;
      noted.set(path, { path, effect, ...(isSettings && { isSettings: true }) });
      return true;
    },
    get protects() {
      return [...noted.values()];
    },
  };
}

/** What was planned, and nothing else. */
export function consentTo(protects: readonly ProtectedPath[]): Consent {
  const agreed = new Set(protects.map(({ path }) => path));
  return (path) => agreed.has(path);
}

type ProtectionReason = Pick<ProtectedNames, 'effect' | 'never'>;

/** Why a path is not changed unasked, by its names alone: a real absolute path, or one below a folder that is moved. */
export function protectedReason(path: string): ProtectionReason | undefined {
  const folded = foldPath(path);
  const reason = matchers().find(({ whole }) => whole.test(folded))?.reason;
  return reason?.effect === '' ? undefined : reason;
}

/** Whether something protected could lie below a path, or be it: what a symbolic link there would lead to. */
export function couldHoldProtected(path: string): boolean {
  const folded = foldPath(path);
  return matchers().some(({ reason, partly }) => reason.effect !== '' && partly.test(folded));
}

/**
 * Throws PATH_PROTECTED for a real path that is not changed unless a person says so: by its names, because
 * it lies in a repository without a work tree or would complete one, or because nobody can see what it is. `given` is
 * how the caller named it, `isNew` says that nothing is there yet. `openPlace` asks this itself; others do when they
 * only tell what would be done.
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

/** FAT and NTFS also know `.vscode` as `VSCODE~1`. Windows itself tells the real name. */
const shortName = /(?:^|[\\/])[^\\/.~]{1,6}~\d(?:\.[^\\/.]{1,3})?(?:[\\/]|$)/;

function unclearEffect(path: string, isNew: boolean): string | undefined {
  if (shortName.test(path)) return 'it may be the short name of something else';
  return isNew && isNewUnseen(path) ? 'its name has characters that nobody sees' : undefined;
}

/** Names of folders that are there already are nobody's choice now. */
const isNewUnseen = (path: string): boolean =>
  hasUnseen(path) && (hasUnseen(basename(path)) || (!isThere(dirname(path)) && isNewUnseen(dirname(path))));

/** `effect` as in `ProtectedNames`. */
export const protectedError = (given: string, effect: string): ToolcribError =>
  refusal(
    'PATH_PROTECTED',
    given,
    `is not changed from here, because ${effect}.`,
    'If it has to be, show the person what, so that they can do it themselves.',
  );

/** What git keeps in its folder; other names in it are files of the people who put a work tree there. */
const gitNames =
  /^(?:head|config(\.worktree)?|commondir|gitdir|hooks|info|objects|(packed-)?refs|modules|worktrees|index)$/;

/** What comes of changing something there, as in `ProtectedNames`. */
export const gitFolderEffect = 'git takes its folder for a repository, and runs what that names';

/**
 * Whether a real path is part of what git takes for a repository without being told (a bare one, or the folder of one
 * kept elsewhere), or would be once something is there: by the three names that git itself looks for, or the two of a
 * linked work tree (is_git_directory in git's setup.c). Asks without waiting, so that nothing comes between it and what
 * is done next.
 */
export function inGitFolder(path: string): boolean {
  for (let here = path; here !== dirname(here); here = dirname(here)) {
    const [folder, name] = [dirname(here), basename(here).toLowerCase()];
    const has = (each: string) => each.toLowerCase() === name || isThere(join(folder, each));
    if (gitNames.test(name) && has('HEAD') && (has('commondir') || (has('objects') && has('refs'))))
      return true;
  }
  return false;
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // Nothing that this user could reach; neither could git.
    return false;
  }
}

/**
 * A path as file systems may read it: without case, in one Unicode form, without the invisible characters that HFS+
 * leaves out of names (git's next_hfs_char) and without the streams, dots and blanks at the end that NTFS does. Too
 * much is folded rather than too little.
 */
export const foldPath = (path: string): string => path.split(/[\\/]/).map(foldName).join('/');

function foldName(name: string): string {
  // Nearly all names: nothing in them that could be read in another way.
  if (/^[\w@+-][\w@+.-]*$/.test(name) && !name.endsWith('.')) return name.toLowerCase();
  const visible = name.replaceAll(/[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, '').replace(/:.*$/s, '');
  // Upper case first: ſ, ı and ligatures become the letters that they are equal to.
  const folded = visible.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
  // Only where one begins: for many dots that are not at the end it would need time in their square.
  return folded.replace(/(?<![. ])[. ]+$/, '');
}

interface Matcher {
  readonly reason: ProtectionReason;
  readonly whole: RegExp;
  readonly partly: RegExp;
}

const made: Matcher[] = [];

/** Made when first asked for: compiling them takes milliseconds that a start has no use for. */
function matchers(): readonly Matcher[] {
  const patternOf = (paths: readonly string[], partly: boolean) =>
    new RegExp(`(?:${paths.map((path) => sourceOf(path, partly)).join('|')})$`);
  if (made.length === 0)
    for (const { paths, ...reason } of protectedNames)
      made.push({ reason, whole: patternOf(paths, false), partly: patternOf(paths, true) });
  return made;
}

/** The language of the list as a regular expression. Partly: what follows a slash may be missing. */
function sourceOf(path: string, partly: boolean): string {
  const open = [0];
  const close = (): string => ')?'.repeat(open.pop() ?? 0);
  const source = path.replaceAll(/\/\*\*|\*\w+\*|[^\w]/g, (sign, at: number) => {
    if (sign === '/**') return '(?:/[^]*)?';
    // Looked for once: with a star on both sides, a name that holds it often would be gone through for each.
    if (/^\*\w/.test(sign)) return `(?=[^/]*${sign.slice(1, -1)})[^/]*`;
    if (sign === '*') return '[^/]*';
    if (sign === '}') return `${close()})`;
    const before = sign === ',' ? `${close()}|` : '(?:';
    if (sign === ',' || sign === '{') {
      open.push(0);
      return before;
    }
    if (sign !== '/' || !partly || at === 0) return `\\${sign}`;
    open.push((open.pop() ?? 0) + 1);
    return '(?:/';
  });
  return `${path.startsWith('/') ? '^' : '(?:^|/)'}${source}${close()}`;
}

/** The real paths of the folders that toolcrib keeps its own in; of a link in the place of one both. */
export function ownRealFolders(): string[] {
  const ours = [...ownFolders(thisPlatform(), process.env, homedir()), processFolderMade() ?? []].flat();
  const folders = ours.flatMap((folder) => {
    const place = join(realPath(dirname(folder)), basename(folder));
    return [place, realPath(place)];
  });
  return [...new Set(folders)];
}

/** Whether a real path is toolcrib's own, by another spelling as well. Asked anew: links may have been made. */
export function isOwn(path: string, own: readonly string[] = ownRealFolders()): boolean {
  const folded = foldPath(path);
  return own.some((folder) => isInside(folded, foldPath(folder)));
}

/** Which of them lie below a real path: relative to it, with `/` between names. */
export function ownFoldersBelow(folder: string): ReadonlySet<string> {
  const below = ownRealFolders().filter((own) => own !== folder && isInside(own, folder));
  return new Set(below.map((own) => relative(folder, own).replaceAll(sep, '/')));
}
