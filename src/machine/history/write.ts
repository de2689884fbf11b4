import {
  accessSync,
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync,
  ftruncateSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { discard } from '../../store/own-files.ts';
import { refuseWrongKind } from '../paths/opened.ts';
import { lookOnceMore, type PathTarget } from '../paths/path-target.ts';
import { codeOf } from '../paths/real-path.ts';
import { refusal } from '../paths/display-path.ts';
import { newChange, type ChangeDetails, type Change } from './entry.ts';
import { changedMeanwhile, mostChangedBytes, tooLarge, unwritable } from './failures.ts';
import { sha256, type Log } from './log.ts';

/** The regular file that is at a place, with all of its content. */
export interface Before {
  readonly bytes: Buffer;
  readonly stat: Stats;
  /** SHA-256 in hexadecimal, computed once. */
  hash(): string;
}

/** The new content of a file. */
export interface NewFileContent {
  readonly bytes: Buffer;
  /** Lines, for the list of changes. */
  readonly added?: number;
  readonly removed?: number;
  /** Called with the change before the next one begins. */
  readonly done?: (written: WriteOutcome) => void;
}

export type DecideContent = (
  before: Before | undefined,
) => NewFileContent | undefined | Promise<NewFileContent | undefined>;

export interface WriteOutcome {
  readonly change: Change;
  /** Of the new file in its place. */
  readonly stat: Stats;
  /** SHA-256 of the new content, in hexadecimal. */
  readonly hash: string;
  /** Notes for the caller. */
  readonly notes: readonly string[];
}

/**
 * Reads a file; undefined when there is none. Throws PATH_NOT_REGULAR, TOO_LARGE, and errors of the system.
 */
export function readExisting(place: PathTarget): Before | undefined {
  if (!lstatSync(place.at, { throwIfNoEntry: false })) return undefined;
  const { O_RDONLY, O_NONBLOCK = 0, O_NOCTTY = 0, O_NOFOLLOW = 0 } = constants;
  const fd = openSync(place.at, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
  try {
    const stat = fstatSync(fd);
    refuseWrongKind(stat, place.path, 'file');
    if (stat.size > mostChangedBytes) throw tooLarge(place.path, stat.size, mostChangedBytes);
    const bytes = readFileSync(fd);
    let hash: string | undefined;
    return {
      bytes,
      stat,
      hash() {
        hash ??= sha256(bytes);
        return hash;
      },
    };
  } finally {
    closeSync(fd);
  }
}

/**
 * Replaces or makes one file, as `History.write` says. The change is logged before it is made: whenever the
 * process ends, the old content has a backup that can be found.
 */
export async function writeFile(
  log: Log,
  place: PathTarget,
  decide: DecideContent,
  details: ChangeDetails,
): Promise<WriteOutcome | undefined> {
  try {
    lookOnceMore(place);
    const existing = readExisting(place);
    if (existing) refuseReadOnly(place, existing.stat);
    const decision = await decide(existing);
    if (!decision || existing?.bytes.equals(decision.bytes)) return undefined;
    const { bytes, done, ...counts } = decision;
    if (bytes.length > mostChangedBytes) throw tooLarge(place.path, bytes.length, mostChangedBytes);
    const hash = sha256(bytes);
    const change: Change = {
      ...newChange('write', place.path, details),
      ...(existing && { before: { kind: 'file', size: existing.bytes.length } }),
      after: { kind: 'file', size: bytes.length, hash },
      ...counts,
    };
    try {
      if (existing) {
        log.backUp(change.id, place.at, existing);
        // A hard link changes the file's ctime.
        existing.stat.ctimeMs = lstatSync(place.at).ctimeMs;
      }
      log.append(change);
      const put = await putFile(place, existing, bytes, { temporary: change.temporary });
      const written = { change, hash, ...put };
      done?.(written);
      return written;
    } catch (error) {
      log.drop(change.id);
      throw error;
    }
  } catch (error) {
    throw unwritable(place.path, error);
  }
}

/**
 * Throws PATH_DENIED for a file that may not be written to: replacing it would only need the right to its
 * folder.
 */
function refuseReadOnly({ at, path }: PathTarget, { mode }: Stats): void {
  try {
    // To root, nothing is denied.
    if ((mode & 0o222) === 0) throw new Error('nobody may write');
    accessSync(at, constants.W_OK);
  } catch {
    const wayOut = 'Whoever made it so did not want it changed; chmod u+w allows it.';
    throw refusal('PATH_DENIED', path, 'is read-only.', wayOut);
  }
}

const sync = promisify(fsync);

/**
 * Puts a file in the place of the one that was read there, or of nothing, in one step; until it is whole it
 * has a temporary name. Permissions are given, or stay. Throws STALE_FILE when what is there is something
 * else, and what the system says; then nothing has changed.
 */
export async function putFile(
  place: PathTarget,
  existing: Pick<Before, 'stat'> | undefined,
  bytes: Buffer,
  { temporary: name, mode }: { temporary: string; mode?: number },
): Promise<Pick<WriteOutcome, 'stat' | 'notes'>> {
  const temporary = join(place.folder.stablePath, name);
  let fd: number | undefined;
  try {
    fd = create(temporary, place, existing !== undefined, mode);
    writeFileSync(fd, bytes);
    const notes = existing ? copyModeAndOwner(fd, existing.stat) : [];
    if (mode !== undefined) fchmodSync(fd, mode);
    await sync(fd);
    lookOnceMore(place);
    moveIntoPlace(temporary, place, existing);
    return { stat: fstatSync(fd), notes };
  } catch (error) {
    if (fd !== undefined) discard(temporary);
    throw error;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function create(temporary: string, place: PathTarget, isReplacing: boolean, mode = 0o666): number {
  const { O_CREAT, O_EXCL, O_WRONLY, O_RDWR, O_NOFOLLOW = 0 } = constants;
  if (!isReplacing || process.platform === 'linux')
    return openSync(temporary, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, isReplacing ? 0o600 : mode);
  // The copy of macOS has the extended attributes and access list, that of Windows the alternate streams.
  copyFileSync(place.at, temporary, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  const fd = openSync(temporary, O_RDWR | O_NOFOLLOW);
  ftruncateSync(fd);
  return fd;
}

/**
 * Copies mode and owner of the file that is replaced, without the bits that give a program its owner's
 * rights.
 */
function copyModeAndOwner(fd: number, old: Stats): string[] {
  const notes: string[] = [];
  const { uid, gid } = fstatSync(fd);
  try {
    if (uid !== old.uid || gid !== old.gid) fchownSync(fd, old.uid, old.gid);
  } catch {
    notes.push('Its owner or group could not be kept: only root may give files away.');
  }
  // Last, since a change of owner takes bits away.
  fchmodSync(fd, old.mode & 0o777);
  if (old.nlink > 1)
    notes.push(`It was one of ${old.nlink} hard links to the same file; the others keep the old content.`);
  return notes;
}

/**
 * Renames a file into place. Throws STALE_FILE when another file is there than was read, or one where none
 * was.
 */
function moveIntoPlace(
  temporary: string,
  { at, path }: PathTarget,
  existing: Pick<Before, 'stat'> | undefined,
): void {
  const now = lstatSync(at, { throwIfNoEntry: false });
  const facts = ['dev', 'ino', 'size', 'mtimeMs', 'ctimeMs'] as const;
  if (facts.some((fact) => now?.[fact] !== existing?.stat[fact])) throw changedMeanwhile(path);
  // On Windows a virus scanner or indexer may have the file open for a moment.
  const until = process.platform === 'win32' ? Date.now() + 500 : 0;
  for (;;) {
    try {
      renameSync(temporary, at);
      return;
    } catch (error) {
      if (Date.now() >= until || !['EPERM', 'EACCES', 'EBUSY'].includes(codeOf(error))) throw error;
    }
  }
}
