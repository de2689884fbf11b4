import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ChatError } from '../errors.ts';

const { O_APPEND, O_CREAT, O_RDONLY, O_RDWR } = constants;
// Windows has neither; there the folder's access list keeps others out.
const noFollow = constants.O_NOFOLLOW ?? 0;
const nonBlocking = constants.O_NONBLOCK ?? 0;

/** Whether what cannot be used is configuration or a conversation. */
type Code = 'CONFIG_INVALID' | 'SESSION_UNUSABLE';

/** Opens a regular file of this person, without following a link or waiting for a pipe. Throws for anything else. */
function openOwn(path: string, flags: number, code: Code): number {
  let opened: number;
  try {
    opened = openSync(path, flags | noFollow | nonBlocking, 0o600);
  } catch (error) {
    const isLink = codeOf(error) === 'ELOOP';
    const why = isLink
      ? 'is a symbolic link. Put the file itself there.'
      : `cannot be opened (${codeOf(error)}).`;
    throw refused(code, path, why, error);
  }
  const facts = fstatSync(opened);
  if (facts.isFile() && isOurs(facts.uid)) return opened;
  closeSync(opened);
  throw refused(code, path, facts.isFile() ? 'belongs to somebody else.' : 'is no regular file.');
}

function textOf(opened: number, most = Infinity): string {
  try {
    const bytes = Buffer.allocUnsafe(Math.min(fstatSync(opened).size, most));
    return bytes.toString('utf8', 0, readSync(opened, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(opened);
  }
}

/**
 * The text of a file that only this person may have written; undefined when there is none. Throws CONFIG_INVALID for a
 * symbolic link, for what is no regular file, and for a file that somebody else owns or can write to.
 */
export function readPrivateFile(path: string): string | undefined {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (!facts) return undefined;
  if (isWritableByOthers(facts.mode))
    throw refused('CONFIG_INVALID', path, `can be written by others. Run: chmod go-w '${path}'`);
  return textOf(openOwn(path, O_RDONLY, 'CONFIG_INVALID'));
}

/** The text of a session, or its first bytes. Throws SESSION_UNUSABLE for what is no file of this person. */
export const readSessionText = (path: string, most?: number): string =>
  textOf(openOwn(path, O_RDONLY, 'SESSION_UNUSABLE'), most);

/**
 * Opens a file to add to and to read, and closes it to others. With O_APPEND each write goes to the end, whoever
 * else writes. It is made when it is missing, unless `flags` says otherwise. Throws for what is no file of this
 * person.
 */
export function openToAppend(path: string, flags = O_CREAT, code: Code = 'CONFIG_INVALID'): number {
  const opened = openOwn(path, O_RDWR | O_APPEND | flags, code);
  // The mode above holds only for a new file.
  fchmodSync(opened, 0o600);
  return opened;
}

/** Adds to such a file, with one write. */
export function appendPrivately(path: string, text: string): void {
  const opened = openToAppend(path);
  try {
    writeSync(opened, text);
  } finally {
    closeSync(opened);
  }
}

/**
 * Writes a file that nobody else can open, in a folder that nobody else can look into and that is made when it is
 * missing. Readers see the old or the new text, whenever the power goes. Throws CONFIG_INVALID when it cannot.
 */
export function writePrivateFile(path: string, text: string | Buffer): void {
  makePrivateFolder(dirname(path));
  const temporary = join(dirname(path), `.${basename(path)}.${globalThis.crypto.randomUUID()}.tmp`);
  try {
    writeFileSync(temporary, text, { mode: 0o600, flag: 'wx', flush: true });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw refused('CONFIG_INVALID', path, `cannot be written (${codeOf(error)}).`, error);
  }
}

/**
 * Makes a folder of mode 0700, or closes one of ours that others could write to; a link counts as what it leads to.
 * Throws for any other: whoever owns it could read what is written there.
 */
export function makePrivateFolder(folder: string, code: Code = 'CONFIG_INVALID'): void {
  let mine: boolean;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const facts = statSync(folder);
    mine = isOurs(facts.uid);
    if (mine && isWritableByOthers(facts.mode)) chmodSync(folder, 0o700);
  } catch (error) {
    throw refused(code, folder, `cannot be made or opened (${codeOf(error)}).`, error);
  }
  if (!mine) throw refused(code, folder, 'belongs to somebody else.');
}

const isOurs = (uid: number): boolean => process.geteuid === undefined || process.geteuid() === uid;

const isWritableByOthers = (mode: number): boolean => process.geteuid !== undefined && (mode & 0o022) !== 0;

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error);

const refused = (code: Code, path: string, why: string, cause?: unknown): ChatError =>
  new ChatError(code, `${path} ${why}`, cause === undefined ? undefined : { cause });
