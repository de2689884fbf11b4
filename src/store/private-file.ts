import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { isOurs, nonBlocking, noFollow, replacePrivate } from './own-files.ts';

const { O_APPEND, O_CREAT, O_RDONLY, O_RDWR } = constants;

/**
 * An error about a file or folder that is not this user's own or cannot be used; the message says which, and
 * why.
 */
export class OwnFileError extends Error {}

/**
 * Opens a regular file of this user, without following a link or waiting for a pipe. Throws OwnFileError for
 * anything else.
 */
function openOwn(path: string, flags: number): number {
  let opened: number;
  try {
    opened = openSync(path, flags | noFollow | nonBlocking, 0o600);
  } catch (error) {
    const isLink = codeOf(error) === 'ELOOP';
    const why = isLink
      ? 'is a symbolic link. Put the file itself there.'
      : `cannot be opened (${codeOf(error)}).`;
    throw refused(path, why, error);
  }
  const facts = fstatSync(opened);
  if (facts.isFile() && isOurs(facts, 0)) return opened;
  closeSync(opened);
  throw refused(path, facts.isFile() ? 'belongs to somebody else.' : 'is no regular file.');
}

/**
 * Reads the text of a file of this user, or its first `most` bytes. Throws OwnFileError for anything else.
 */
export function readOwnText(path: string, most = Infinity): string {
  const opened = openOwn(path, O_RDONLY);
  try {
    const bytes = Buffer.allocUnsafe(Math.min(fstatSync(opened).size, most));
    return bytes.toString('utf8', 0, readSync(opened, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(opened);
  }
}

/** Reads the text of a file that nobody else can write; undefined when there is none. Throws OwnFileError. */
export function readOwnTextOnly(path: string): string | undefined {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (!facts) return undefined;
  if (isOurs(facts, 0) && !isOurs(facts))
    throw refused(path, `can be written by others. Run: chmod go-w '${path}'`);
  return readOwnText(path);
}

/**
 * Opens a file of this user for appending and reading, and closes it to others. With O_APPEND each write goes
 * to the end, whoever else writes. Creates the file when it is missing, unless `flags` says otherwise. Throws
 * OwnFileError.
 */
export function openToAppend(path: string, flags = O_CREAT): number {
  const opened = openOwn(path, O_RDWR | O_APPEND | flags);
  // The mode given to open() holds only for a new file.
  fchmodSync(opened, 0o600);
  return opened;
}

/**
 * Appends to a file of this user with one write. Throws OwnFileError, and the system's error for the write.
 */
export function appendPrivately(path: string, text: string): void {
  const opened = openToAppend(path);
  try {
    writeSync(opened, text);
  } finally {
    closeSync(opened);
  }
}

/**
 * Writes a file that nobody else can open, in a folder that nobody else can write to. Readers see the old or
 * the new text, even after a power failure. Throws OwnFileError when it cannot be written.
 */
export function writePrivateFile(path: string, content: string | Buffer): void {
  makePrivateFolder(dirname(path));
  try {
    replacePrivate(dirname(path), basename(path), content, true);
  } catch (error) {
    throw refused(path, `cannot be written (${codeOf(error)}).`, error);
  }
}

/**
 * Creates a folder of mode 0700, or closes one of ours that others can write to; a link counts as the folder
 * it leads to. Throws OwnFileError for any other folder, because its owner could read what is written there.
 */
export function makePrivateFolder(folder: string): void {
  let isOwned: boolean;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const facts = statSync(folder);
    isOwned = isOurs(facts, 0);
    if (isOwned && !isOurs(facts)) chmodSync(folder, 0o700);
  } catch (error) {
    throw refused(folder, `cannot be made or opened (${codeOf(error)}).`, error);
  }
  if (!isOwned) throw refused(folder, 'belongs to somebody else.');
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error);

const refused = (path: string, why: string, cause?: unknown): OwnFileError =>
  new OwnFileError(`${path} ${why}`, { cause });
