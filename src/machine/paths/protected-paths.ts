import { lstat, readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import { noConsent, type Consent } from './consent.ts';
import { gitFolderEffect, inGitFolder } from './git-folder.ts';
import { ownFolders } from './own-folders.ts';
import { protectedNames, type ProtectedNames } from './protected-names.ts';
import { shownPath } from './shown-path.ts';

type Reason = Pick<ProtectedNames, 'effect' | 'stays'>;

/** Why a path is never changed, by its names alone: the real absolute path, or one below a folder that is moved. */
export function protectedReason(path: string): Reason | undefined {
  const folded = foldPath(path);
  return matchers('whole').find(({ pattern }) => pattern.test(folded))?.reason;
}

/** Whether something protected could lie below a path, or be it: what a symbolic link there would lead to. */
export function couldHoldProtected(path: string): boolean {
  const folded = foldPath(path);
  return matchers('partly').some(({ pattern }) => pattern.test(folded));
}

/**
 * Throws PATH_PROTECTED for a real path that is not changed unless a person says so: by its names, because it is ours,
 * or because it lies in a repository without a work tree or would complete one; and ARG_INVALID for a name that is only
 * another, short one. `given` is how the caller named it, `isOwn` what tells what is ours, `consent` what a person has
 * said yes to, which is enough for all but what is ours. `openPlace` asks this itself; others do when they only tell what
 * would be done.
 */
export async function refuseProtected(
  { path }: { readonly path: string },
  given = path,
  {
    isOwn = ownReasons(),
    consent = noConsent,
  }: { isOwn?: ReturnType<typeof ownReasons>; consent?: Consent } = {},
): Promise<void> {
  const own = isOwn(path);
  const reason = own ?? protectedReason(path);
  if (reason && (own || reason.stays === 'in place')) throw protectedError(given, reason.effect);
  const effect = reason?.effect ?? ((await inGitFolder(path)) ? gitFolderEffect : undefined);
  if (effect !== undefined && consent.allows(path, effect)) return;
  if (effect !== undefined) throw askedFor(given, effect);
  if (/~\d/.test(path)) await refuseShortNames(path, given);
}

/** Throws PATH_PROTECTED for a new name in which there is something that nobody sees, unless a person agrees to it. */
export function refuseUnseen(path: string, given: string, consent: Consent): void {
  if (!/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029]/u.test(path) || consent.allows(path, unseenEffect)) return;
  throw askedFor(given, unseenEffect);
}

const unseenEffect = 'its name has characters that nobody sees';

/** A refusal that a person can take back. `effect` as in `ProtectedNames`. */
const askedFor = (given: string, effect: string): ToolcribError =>
  new ToolcribError(
    'PATH_PROTECTED',
    `${shownPath(given)}: is not changed from here without a person's word, because ${effect}.`,
    'If it has to be, show the person what, so that they can do it themselves.',
  );

/** The refusal; `effect` as in `ProtectedNames`. */
export const protectedError = (given: string, effect: string): ToolcribError =>
  new ToolcribError(
    'PATH_PROTECTED',
    `${shownPath(given)}: is never changed from here, because ${effect}.`,
    'If it has to be, show the person what, so that they can do it themselves.',
  );

/** As `protectedReason`, for what is ours because variables or the system say so: the folders of `ownFolders`. */
export function ownReasons(...where: Parameters<typeof ownFolders>): (path: string) => Reason | undefined {
  const own = ownFolders(...where).map((folder) => foldPath(folder));
  return (path) => {
    const folded = foldPath(path);
    return own.some((folder) => folded === folder || folded.startsWith(`${folder}/`)) ? ownFiles : undefined;
  };
}

const ownFiles: Reason = { effect: 'it is what toolcrib itself remembers', stays: 'in place' };

/**
 * A path as file systems may read it: without case, in one Unicode form, without the invisible characters that HFS+
 * leaves out of names (git's next_hfs_char) and without the streams, dots and blanks at the end that NTFS does. Too
 * much is folded rather than too little.
 */
function foldPath(path: string): string {
  return path.split(/[\\/]/).map(foldName).join('/');
}

/** One name of a path, as above. */
export function foldName(name: string): string {
  // Nearly all names: nothing in them that could be read in another way.
  if (/^[\w@+-][\w@+.-]*$/.test(name) && !name.endsWith('.')) return name.toLowerCase();
  const visible = name.replaceAll(/[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, '');
  // Upper case first: ſ, ı and ligatures become the letters that they are equal to.
  const folded = visible.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
  return withoutDroppedEnd(folded.replace(/:.*$/s, ''));
}

/** No regular expression: they need time in the square of the dots that are not at the end. */
function withoutDroppedEnd(name: string): string {
  let end = name.length;
  while (name[end - 1] === '.' || name[end - 1] === ' ') end--;
  return name.slice(0, end);
}

interface Matcher {
  readonly reason: Reason;
  readonly pattern: RegExp;
}

const made = new Map<'whole' | 'partly', readonly Matcher[]>();

/** Made when first asked for: compiling them takes milliseconds that a start has no use for. */
function matchers(how: 'whole' | 'partly'): readonly Matcher[] {
  const known = made.get(how);
  if (known) return known;
  const all = protectedNames.map(({ paths, ...reason }) => ({
    reason,
    pattern: patternOf(paths, how === 'partly'),
  }));
  made.set(how, all);
  return all;
}

function patternOf(paths: readonly string[], partly: boolean): RegExp {
  const source = (path: string) =>
    path.startsWith('/') ? `^/${sourceOf(path.slice(1), partly)}` : `(?:^|/)${sourceOf(path, partly)}`;
  return new RegExp(`(?:${paths.map(source).join('|')})$`);
}

/** The language of the list as a regular expression. Partly: what follows a slash may be missing. */
function sourceOf(path: string, partly: boolean): string {
  const open = [0];
  const close = (): string => ')?'.repeat(open.splice(-1, 1, 0)[0] ?? 0);
  const source = path.replaceAll(/\/\*\*|\*\w+\*|[^\w]/g, (sign) => {
    if (sign === '/**') return '(?:/[^]*)?';
    // Looked for once: with a star on both sides, a name that holds it often would be gone through for each.
    if (/^\*\w/.test(sign)) return `(?=[^/]*${sign.slice(1, -1)})[^/]*`;
    if (sign === '*') return '[^/]*';
    if (sign === '{') {
      open.push(0);
      return '(?:';
    }
    if (sign === ',') return `${close()}|`;
    if (sign === '}') {
      const closed = close();
      open.pop();
      return `${closed})`;
    }
    if (sign === '/' && partly) {
      open.push((open.pop() ?? 0) + 1);
      return '(?:/';
    }
    return `\\${sign}`;
  });
  return source + close();
}

/** Short names of FAT and NTFS (`GIT~1`) reach a file that is listed under another name only. */
async function refuseShortNames(real: string, given: string): Promise<void> {
  for (let path = real; path !== dirname(path); path = dirname(path)) {
    const name = path.slice(dirname(path).length).replace(/^[\\/]/, '');
    if (!/~\d/.test(name) || !(await lstat(path).catch(() => undefined))) continue;
    const listed = await readdir(dirname(path)).catch(() => [name]);
    if (listed.some((one) => one.toLowerCase() === name.toLowerCase())) continue;
    throw new ToolcribError(
      'ARG_INVALID',
      `${shownPath(given)}: ${shownPath(name)} is a short name of something that has another.`,
      'Use its full name, as list_directory shows it.',
    );
  }
}
