import { closeSync, constants, fstatSync, openSync, read, readSync, type Stats } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ToolcribError } from '../../core/errors.ts';
import { isOnDisk } from '../paths/open-file.ts';
import { refuseWrongKind } from '../paths/opened.ts';
import type { Place } from '../paths/place.ts';
import { codeOf } from '../paths/real-path.ts';
import { sha256 } from './sha256.ts';
import { shownPath } from '../paths/shown-path.ts';
import type { SpareBuffer } from './spare-buffer.ts';
import { unwritable } from './write-failure.ts';
import type { Known, WrittenFiles } from './written-files.ts';

/** The regular file that is at a place, open, with all of its content. */
export interface ExistingFile {
  readonly bytes: Buffer;
  readonly stat: Stats;
  readonly fd: number;
  /** Whether it was changed so shortly before that another change may not show in its times. */
  readonly isFresh: boolean;
  readonly known: Known | undefined;
  /** SHA-256 in hexadecimal. Begins only when the caller waits for something, so that it can go on during a write. */
  hash(): Promise<string>;
  /** May be called again. */
  close(): void;
}

/**
 * Handing a read to another thread and back takes longer than reading so little. What is about to be changed has just
 * been read, so a disk need not be waited for; other file systems may be slow all the same.
 */
const readAtOnce = { disk: 1024 * 1024, other: 64 * 1024 };
const tickMs = 20;
const readSome = promisify(read);

/**
 * Opens and reads what is at a place; undefined when there is nothing. Throws PATH_NOT_REGULAR, PATH_DENIED, and
 * TOO_LARGE for more than `mostBytes`. With `spare`, the bytes are only there until it is closed.
 */
export async function openExisting(
  place: Place,
  mostBytes: number,
  written: WrittenFiles,
  spare?: SpareBuffer,
): Promise<ExistingFile | undefined> {
  const fd = openIfThere(place);
  if (fd === undefined) return undefined;
  try {
    const lookedAt = Date.now();
    const stat = fstatSync(fd);
    refuseWrongKind(stat, place.path, 'file');
    if (stat.size > mostBytes) throw tooLarge(place.path, stat.size, mostBytes);
    const known = written.known(stat);
    const room = spare?.take(stat.size) ?? Buffer.allocUnsafeSlow(stat.size);
    const bytes = await readAll(fd, stat, room);
    let hash = known?.hash === undefined ? undefined : Promise.resolve(known.hash);
    let isOpen = true;
    return {
      bytes,
      stat,
      fd,
      isFresh: lookedAt - stat.ctimeMs < tickMs && !written.hasFineTimes(stat.dev),
      known,
      hash: () => (hash ??= setImmediate().then(() => sha256(bytes))),
      close() {
        if (!isOpen) return;
        isOpen = false;
        closeSync(fd);
        spare?.giveBack(room);
      },
    };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

export const tooLarge = (path: string, bytes: number, most: number): ToolcribError =>
  new ToolcribError(
    'TOO_LARGE',
    `${shownPath(path)}: has ${inMegabytes(bytes)}; changes that can be undone are kept up to ${inMegabytes(most)}. Nothing was changed.`,
    'Change it with a program of your own.',
  );

const inMegabytes = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024).toLocaleString('en')} MB`;

function openIfThere(place: Place): number | undefined {
  const { O_RDONLY, O_NONBLOCK = 0, O_NOCTTY = 0, O_NOFOLLOW = 0 } = constants;
  try {
    return openSync(place.at, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return undefined;
    if (code === 'ELOOP' || code === 'ENXIO' || code === 'ENODEV')
      throw new ToolcribError(
        'PATH_NOT_REGULAR',
        `${shownPath(place.path)}: is a ${code === 'ELOOP' ? 'symbolic link' : 'socket or a device'}, not a regular file.`,
      );
    throw unwritable(place.path, error);
  }
}

/** Up to the size it had; whether it is still the same is asked before it is replaced. */
async function readAll(fd: number, stat: Stats, bytes: Buffer): Promise<Buffer> {
  const { size } = stat;
  const atOnce = isOnDisk(stat) ? readAtOnce.disk : readAtOnce.other;
  let done = 0;
  while (done < size) {
    const some =
      size <= atOnce
        ? readSync(fd, bytes, done, size - done, done)
        : (await readSome(fd, bytes, done, size - done, done)).bytesRead;
    if (some === 0) break;
    done += some;
  }
  return bytes.subarray(0, done);
}
