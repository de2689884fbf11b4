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
  readSync,
  renameSync,
  unlinkSync,
  write,
  writeSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ToolcribError } from '../../core/errors.ts';
import type { ExistingFile } from './existing-file.ts';
import type { Kept } from './kept-contents.ts';
import type { Place } from '../paths/place.ts';
import { moveWithoutOverwriting } from './relocate.ts';
import { shownPath } from '../paths/shown-path.ts';
import { isSameVersion, type WrittenFiles } from './written-files.ts';

/** A new content beside the place it is for. */
export interface Beside {
  readonly fd: number;
  readonly stat: Stats;
  /** What could not be kept of the old file. */
  readonly notes: readonly string[];
  /** Resolves when it is on the disk. */
  synced(): Promise<void>;
  /**
   * Puts it in the place, in one step, and returns what `keep` did, which is asked to keep the old file right before.
   * Throws STALE_FILE when what is there is no longer what was read, or is there at all when nothing was.
   */
  put(keep: () => Kept | undefined): Kept | undefined;
  /** Its facts in its place. */
  inPlace(): Stats;
  /** Closes it, and removes it when it was not put in its place. */
  end(): void;
}

interface Content {
  readonly bytes: Buffer;
  /** What it is to replace. */
  readonly existing: ExistingFile | undefined;
  readonly written: WrittenFiles;
}

/** Longer writes would keep everything else waiting. */
const atOnce = 4 * 1024 * 1024;
const writeSome = promisify(write);
const sync = promisify(fsync);
const noFollow = constants.O_NOFOLLOW ?? 0;

/**
 * Writes a temporary file in the folder of a place: with the mode and owner of the file it is to replace, or those of
 * any new file. Without the bits that give a program the rights of its owner, as after any write.
 *
 * The folder is not synced: that would only decide which of two whole files is there after a loss of power.
 */
export async function writeBeside(
  place: Place,
  name: string,
  { bytes, existing, written }: Content,
): Promise<Beside> {
  const temporary = join(place.folder.stablePath, name);
  const fd = create(temporary, place, existing);
  let isPut = false;
  const end = () => {
    closeSync(fd);
    if (isPut) return;
    try {
      unlinkSync(temporary);
    } catch {
      // Somebody else has removed it.
    }
  };
  try {
    for (let done = 0; done < bytes.length;) {
      // Copying so much into the cache of the system takes less time than handing it to another thread.
      if (bytes.length <= atOnce) done += writeSync(fd, bytes, done);
      else done += (await writeSome(fd, bytes, done, Math.min(atOnce, bytes.length - done))).bytesWritten;
    }
    const notes = existing ? likeOld(fd, existing.stat, written) : [];
    return {
      fd,
      stat: fstatSync(fd),
      notes,
      synced: () => sync(fd),
      put(keep) {
        if (existing) refuseChanged(place, existing);
        const kept = keep();
        try {
          if (existing) replace(temporary, place, existing);
          else moveIntoFreePlace(temporary, place);
        } catch (error) {
          kept?.notReplaced();
          throw error;
        }
        isPut = true;
        return kept;
      },
      inPlace: () => fstatSync(fd),
      end,
    };
  } catch (error) {
    end();
    throw error;
  }
}

function create(temporary: string, place: Place, existing: ExistingFile | undefined): number {
  const { O_CREAT, O_EXCL, O_WRONLY, O_RDWR } = constants;
  if (!existing) return openSync(temporary, O_CREAT | O_EXCL | O_WRONLY | noFollow, 0o666);
  if (process.platform === 'linux') return openSync(temporary, O_CREAT | O_EXCL | O_WRONLY | noFollow, 0o600);
  // The copy of macOS has the extended attributes and access list, that of Windows the alternate streams.
  copyFileSync(place.at, temporary, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  const fd = openSync(temporary, O_RDWR | noFollow);
  ftruncateSync(fd);
  return fd;
}

function likeOld(fd: number, old: Stats, written: WrittenFiles): string[] {
  const notes: string[] = [];
  const before = fstatSync(fd);
  const { uid, gid } = before;
  if (uid !== old.uid || gid !== old.gid) {
    try {
      fchownSync(fd, old.uid, old.gid);
    } catch {
      notes.push('Its owner or group could not be kept: only root may give files away.');
    }
  }
  // Last, since a change of owner takes bits away.
  fchmodSync(fd, old.mode & 0o777);
  written.observe(before, fstatSync(fd));
  return notes;
}

/** Throws PATH_DENIED for a file that may not be written to: replacing it would only need the right to its folder. */
export function refuseReadOnly(place: Place, { mode }: Stats): void {
  const readOnly = new ToolcribError(
    'PATH_DENIED',
    `${shownPath(place.path)}: is read-only.`,
    'Whoever made it so did not want it changed; chmod u+w allows it.',
  );
  // To root, nothing is denied.
  if ((mode & 0o222) === 0) throw readOnly;
  try {
    accessSync(place.at, constants.W_OK);
  } catch {
    throw readOnly;
  }
}

/** Throws STALE_FILE when what is at a place is no longer what was read there. */
function refuseChanged(place: Place, existing: ExistingFile): void {
  const now = lstatSync(place.at, { throwIfNoEntry: false });
  const same = now !== undefined && isSameVersion(now, existing.stat);
  if (!same || (existing.isFresh && !hasContent(existing.fd, existing.bytes))) throw changedMeanwhile(place);
}

function moveIntoFreePlace(temporary: string, place: Place): void {
  try {
    moveWithoutOverwriting(temporary, place.at);
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? changedMeanwhile(place) : error;
  }
}

const changedMeanwhile = (place: Place): ToolcribError =>
  new ToolcribError(
    'STALE_FILE',
    `${shownPath(place.path)}: another program changed it while it was being changed here; its change was left as it is.`,
    'Read it again, and base the change on what is there now.',
  );

function hasContent(fd: number, bytes: Buffer): boolean {
  const chunk = Buffer.allocUnsafe(Math.min(bytes.length, 1024 * 1024) + 1);
  for (let done = 0; ;) {
    const read = readSync(fd, chunk, 0, chunk.length, done);
    if (read === 0) return done === bytes.length;
    if (!chunk.subarray(0, read).equals(bytes.subarray(done, done + read))) return false;
    done += read;
  }
}

function replace(temporary: string, place: Place, existing: ExistingFile): void {
  if (process.platform !== 'win32') return renameSync(temporary, place.at);
  // Windows does not replace a file that is open, and a virus scanner or indexer may have it open for a moment.
  existing.close();
  const until = Date.now() + 500;
  for (;;) {
    try {
      return renameSync(temporary, place.at);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? '';
      if (Date.now() >= until || !['EPERM', 'EACCES', 'EBUSY'].includes(code)) throw error;
    }
  }
}
