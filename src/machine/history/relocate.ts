import { lstatSync, readlinkSync, renameSync } from 'node:fs';
import { cp, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { readPlain } from '../../store/own-files.ts';
import { isInside } from '../paths/inside.ts';
import { lookOnceMore, type PathTarget } from '../paths/path-target.ts';
import { protectedError } from '../paths/protected-paths.ts';
import { refuseMoving } from '../paths/protected-trees.ts';
import { codeOf } from '../paths/real-path.ts';
import { refusal } from '../paths/display-path.ts';
import { newChange, type ChangeDetails, type Change, type Facts } from './entry.ts';
import { noSuchChange, mostChangedBytes, tooLarge, unwritable } from './failures.ts';
import { mostBackupBytes, sha256, type Log } from './log.ts';

/** Inspects what is there while nobody else changes it; throwing leaves it there. */
export type RefuseRemoval = (found: Facts) => void | Promise<void>;

/** Something that moves: into the history (no `to`), out of it (no `from`), or from place to place. */
export interface Move {
  readonly from?: PathTarget | undefined;
  readonly to?: PathTarget | undefined;
  readonly details: ChangeDetails;
  /** The name of its backup, to take it from or to give it; left out: the id of the change. */
  readonly backup?: string | undefined;
  readonly inspect?: RefuseRemoval | undefined;
}

/**
 * Moves a file, link or folder, and never onto something. Throws PATH_NOT_FOUND, PATH_EXISTS, PATH_DENIED,
 * STALE_FILE, PATH_PROTECTED for a folder that the history is in and for what `refuseMoving` refuses,
 * TOO_LARGE for what is not kept, NOT_FOUND for what no longer is, and WRITE_FAILED; then nothing has
 * changed.
 */
export async function relocateChange(
  log: Log,
  { from, to, details, backup, inspect }: Move,
): Promise<Change> {
  const places = [from, to].filter((place) => place !== undefined);
  const { path = '' } = from ?? to ?? {};
  if (from && isInside(log.folder, path)) throw protectedError(path, 'the history of changes is in it');
  if (from && to && path !== to.path && isInside(to.path, path))
    throw refusal('ARG_INVALID', path, 'cannot be moved into itself.');
  try {
    places.forEach((place) => lookOnceMore(place));
    const old = from?.at ?? join(log.backups, backup ?? '');
    const found = await factsAt(old);
    if (!found) throw from ? unwritable(path, { code: 'ENOENT' }) : noSuchChange(backup);
    if (!to && found.size > mostBackupBytes) throw tooLarge(path, found.size, mostBackupBytes);
    await inspect?.(found);
    if (from && to) await refuseMoving({ ...from, given: path }, { kind: found.kind, to: to.path });
    if (to && isTaken(old, to.at)) throw unwritable(to.path, { code: 'EEXIST' });
    const change: Change = {
      ...newChange(!to ? 'remove' : from ? 'move' : 'write', path, details),
      ...(from && to && { to: to.path }),
      // What is only moved takes no room in the history.
      ...(!to && { before: found }),
      ...(to && { after: found }),
      ...(backup !== undefined && { kept: backup }),
    };
    if (details.dryRun) return change;
    log.append(change);
    try {
      places.forEach((place) => lookOnceMore(place));
      await relocate(old, to?.at ?? join(log.backups, backup ?? change.id), change.temporary);
    } catch (error) {
      log.drop(change.id);
      throw to ? unwritable(to.path, error) : error;
    }
    return change;
  } catch (error) {
    throw unwritable(path, error);
  }
}

/**
 * Facts about a path; a link is not followed. Undefined when nothing is there; throws other errors of the
 * system.
 */
async function factsAt(path: string): Promise<Facts | undefined> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return undefined;
  const { size } = found;
  if (found.isDirectory()) return { kind: 'folder', ...(await contentsOf(path)) };
  if (found.isSymbolicLink()) return { kind: 'link', size, hash: sha256(readlinkSync(path, 'buffer')) };
  if (!found.isFile()) return { kind: 'other', size };
  const bytes = readPlain(path, () => size <= mostChangedBytes);
  return { kind: 'file', size, ...(bytes && { hash: sha256(bytes) }) };
}

/** Counts without following links. A folder that is closed to this user goes uncounted. */
async function contentsOf(top: string): Promise<Pick<Facts, 'size' | 'entries'>> {
  const names = await readdir(top, { recursive: true }).catch(() => []);
  let size = 0;
  for (const [at, name] of names.entries()) {
    // Others have their turn every few milliseconds.
    if (at % 1000 === 999) await setImmediate();
    const found = lstatSync(join(top, name), { throwIfNoEntry: false });
    if (!found?.isDirectory()) size += found?.size ?? 0;
  }
  return { size, entries: names.length };
}

/**
 * In one step after a look, since Node has no renameat2(2); between two file systems it is copied whole
 * before the original goes. Throws EEXIST.
 */
async function relocate(from: string, to: string, name: string): Promise<void> {
  const rename = (source: string) => {
    if (isTaken(source, to)) throw Object.assign(new Error('exists'), { code: 'EEXIST' });
    renameSync(source, to);
  };
  try {
    rename(from);
    return;
  } catch (error) {
    if (codeOf(error) !== 'EXDEV') throw error;
  }
  const temporary = join(dirname(to), name);
  try {
    const exactly = { verbatimSymlinks: true, preserveTimestamps: true, force: false, errorOnExist: true };
    await cp(from, temporary, { recursive: true, ...exactly });
    rename(temporary);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
  // It has been moved: what cannot be removed of the original is no failure of that.
  await rm(from, { recursive: true, force: true }).catch(() => {});
}

/** Tells if a path is taken, and not by another spelling of the same name where case does not count. */
function isTaken(from: string, to: string): boolean {
  const there = lstatSync(to, { throwIfNoEntry: false });
  const isSpelling = basename(from).toLowerCase() === basename(to).toLowerCase();
  return there !== undefined && !(isSpelling && there.ino === lstatSync(from).ino);
}
