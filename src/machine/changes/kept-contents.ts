import { chmodSync, constants, linkSync, lstatSync, renameSync, unlinkSync, type Stats } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { ToolcribError } from '../../core/errors.ts';
import { createPrivate } from '../folders.ts';
import { codeOf } from '../paths/real-path.ts';
import { sha256 } from './sha256.ts';
import { noJournal } from './write-failure.ts';

/** A file whose content is about to be replaced. */
export interface Replaced {
  /** The path for system calls. */
  readonly at: string;
  readonly stat: Stats;
  readonly bytes: Buffer;
  readonly hash: string;
}

/** The contents that files had, by their hash, in a private folder. */
export interface KeptContents {
  /** To be awaited before `keep`: copies what cannot be linked. Throws WRITE_FAILED. */
  prepare(replaced: Replaced): Promise<void>;
  /** Keeps the content of a file that is replaced right after. What it returns is called once that has been done. Throws WRITE_FAILED. */
  keep(replaced: Replaced): Kept;
  /**
   * Undefined when it is not kept. With its size it is also found when a program that still had the file open has added
   * to it. Throws NOT_FOUND when what is kept is no longer what it was.
   */
  content(hash: string, size?: number): Promise<Buffer | undefined>;
}

export interface Kept {
  replaced(): void;
  notReplaced(): void;
}

export const contentsFolder = (folder: string): string => `${folder}/contents`;

const noFollow = constants.O_NOFOLLOW ?? 0;
const nonBlocking = constants.O_NONBLOCK ?? 0;

/**
 * Keeps contents by hard links to the files that are replaced, which costs nothing whatever their size. Nobody can name
 * such a file any more once it is replaced; a program that still has it open (of a log, say) may write to it, so a
 * content is only given out when it has its hash. Files with several names, and on other file systems, are copied.
 *
 * Nothing here is synced: after a loss of power (never after the end of a process) a content can be missing from the
 * journal, while the file itself has the old or the new content.
 */
export function createKeptContents(folder: string): KeptContents {
  const contents = contentsFolder(folder);
  const pathOf = (hash: string) => `${contents}/${hash}`;
  const unlinkable = new Set<number>();
  const copied = new WeakSet<Replaced>();

  /** Not when it could still be changed through another name: that of a file which was not replaced in the end. */
  function isKept({ hash, bytes }: Replaced): boolean {
    const found = lstatSync(pathOf(hash), { throwIfNoEntry: false });
    return found !== undefined && found.isFile() && found.nlink === 1 && found.size === bytes.length;
  }

  const temporaryFor = (hash: string) => `${contents}/.${hash}.${globalThis.crypto.randomUUID()}`;
  const failed = (error: unknown) => noJournal(folder, `cannot be written to (${codeOf(error)})`);

  return {
    async prepare(replaced) {
      const { stat, hash, bytes } = replaced;
      if (stat.nlink === 1 && !unlinkable.has(stat.dev)) return;
      copied.add(replaced);
      if (isKept(replaced)) return;
      const temporary = temporaryFor(hash);
      try {
        await writeFile(temporary, bytes, {
          mode: 0o600,
          flag: constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow,
        });
        renameSync(temporary, pathOf(hash));
      } catch (error) {
        discard(temporary);
        throw failed(error);
      }
    },

    keep(replaced) {
      const { at, stat, hash, bytes } = replaced;
      const nothing = { replaced: () => {}, notReplaced: () => {} };
      if (copied.has(replaced)) return nothing;
      const path = pathOf(hash);
      const linked: Kept = {
        replaced: () => close(path),
        notReplaced: () => discardLink(path, stat.ino),
      };
      try {
        linkSync(at, path);
        // What lay there may have been exchanged a moment ago; then the caller will find out, too.
        if (lstatSync(path).ino === stat.ino) return linked;
        discard(path);
      } catch (error) {
        // EXDEV: another file system. EPERM, EACCES: not one's own file, or no links here. EMLINK: too many names.
        if (codeOf(error) !== 'EEXIST') unlinkable.add(stat.dev);
        else if (isKept(replaced)) return nothing;
      }
      const temporary = temporaryFor(hash);
      try {
        createPrivate(temporary, bytes);
        renameSync(temporary, path);
        return nothing;
      } catch (error) {
        discard(temporary);
        throw failed(error);
      }
    },

    async content(hash, size) {
      const bytes = await firstBytes(pathOf(hash), size);
      if (bytes && (await sha256(bytes)) !== hash) throw altered();
      return bytes;
    },
  };
}

/** All bytes of a file, or the first `most`; undefined when it cannot be read, or is no file. */
async function firstBytes(path: string, most = Infinity): Promise<Buffer | undefined> {
  try {
    const handle = await open(path, constants.O_RDONLY | noFollow | nonBlocking);
    try {
      const found = await handle.stat();
      if (!found.isFile()) return undefined;
      if (found.size <= most) return await handle.readFile();
      const bytes = Buffer.allocUnsafe(most);
      const { bytesRead } = await handle.read(bytes, 0, most, 0);
      return bytes.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch {
    // Not kept, or no longer: the same for whoever asks.
    return undefined;
  }
}

const altered = (): ToolcribError =>
  new ToolcribError(
    'NOT_FOUND',
    'The old content is no longer what it was: a program that still had the file open wrote to it after the change, or it was damaged.',
  );

function close(path: string): void {
  try {
    chmodSync(path, 0o600);
  } catch {
    // The file of another user whom we could replace but not change; the folder is closed anyhow.
  }
}

/** Another process may have put its own copy in the place. */
export function discardLink(path: string, ino: number): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.ino === ino) discard(path);
}

function discard(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Nothing was made, or it is cleaned up with what no change needs.
  }
}
