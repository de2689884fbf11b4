import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ChatError } from './errors.ts';

// Windows has neither; there the folder's access list keeps others out.
const noFollow = constants.O_NOFOLLOW ?? 0;
const nonBlocking = constants.O_NONBLOCK ?? 0;

/**
 * The text of a file that only this person may have written; undefined when there is none. Throws CONFIG_INVALID for a
 * symbolic link, for what is no regular file, and for a file that somebody else owns or can write to.
 */
export function readPrivateFile(path: string): string | undefined {
  let opened: number;
  try {
    opened = openSync(path, constants.O_RDONLY | noFollow | nonBlocking);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (code === 'ELOOP') throw refused(path, 'is a symbolic link. Put the file itself there.', error);
    throw refused(path, `cannot be read (${code}).`, error);
  }
  try {
    const facts = fstatSync(opened);
    if (!facts.isFile()) throw refused(path, 'is no regular file.');
    if (!isOurs(facts.uid)) throw refused(path, 'belongs to somebody else.');
    if (isWritableByOthers(facts.mode)) {
      throw refused(path, `can be written by others. Run: chmod go-w '${path}'`);
    }
    return readFileSync(opened, 'utf8');
  } finally {
    closeSync(opened);
  }
}

/**
 * Writes a file that nobody else can open, in a folder that nobody else can look into and that is made when it is missing.
 * Readers see the old or the new text, whenever the power goes. Throws CONFIG_INVALID when it cannot.
 */
export function writePrivateFile(path: string, text: string): void {
  makePrivateFolder(dirname(path));
  const temporary = join(dirname(path), `.${basename(path)}.${globalThis.crypto.randomUUID()}.tmp`);
  try {
    const opened = openSync(
      temporary,
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow,
      0o600,
    );
    try {
      writeFileSync(opened, text);
      fsyncSync(opened);
    } finally {
      closeSync(opened);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw refused(path, `cannot be written (${codeOf(error)}).`, error);
  }
}

/** Makes a folder of mode 0700, or closes one of ours that others could write to. Throws CONFIG_INVALID for any other. */
export function makePrivateFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const facts = statSync(folder);
    if (isOurs(facts.uid)) {
      if (isWritableByOthers(facts.mode)) chmodSync(folder, 0o700);
      return;
    }
  } catch (error) {
    throw refused(folder, `cannot be made or opened (${codeOf(error)}).`, error);
  }
  throw refused(folder, 'belongs to somebody else.');
}

const isOurs = (uid: number): boolean => process.geteuid === undefined || process.geteuid() === uid;

const isWritableByOthers = (mode: number): boolean => process.geteuid !== undefined && (mode & 0o022) !== 0;

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error);

const refused = (path: string, why: string, cause?: unknown): ChatError =>
  new ChatError('CONFIG_INVALID', `${path} ${why}`, cause === undefined ? undefined : { cause });
