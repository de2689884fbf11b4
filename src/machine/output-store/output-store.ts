import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { ToolcribError } from '../../core/errors.ts';
import type { Budgets } from '../../core/settings.ts';
import type { OutputSink } from '../../core/tool.ts';
import { makePrivate } from '../folders.ts';
import { KeptOutput, type StoredOutput } from './kept-output.ts';

/** What programs printed, whole, by handle. */
export interface OutputStore {
  /** Begins to keep what a program prints. `owner` is who may read it, `about` what it is, such as the command line. */
  open(owner: string, about: string, handle?: string): OutputSink;
  /** Throws NOT_FOUND, which says the same of what never was, is forgotten, or belongs to another. */
  find(owner: string, handle: string): StoredOutput;
  /** Forgets everything, and removes what is on disk. */
  close(): void;
}

export interface OutputStoreOptions {
  /** The cache folder, in which large outputs are put; without one, less is kept, in memory. */
  readonly folder: string | undefined;
  readonly budgets: Pick<Budgets, 'outputMegabytes' | 'outputHours'>;
}

/** Outputs that have ended: those that fit into memory, most of which are some hundred bytes, and those with a file. */
const mostKept = { small: 200, large: 50 };

/** Keeps outputs for as long as this process lives: a file for each that is large. */
export function createOutputStore({ folder, budgets }: OutputStoreOptions): OutputStore {
  /** In the order in which they began. */
  const outputs = new Map<string, KeptOutput>();
  const mostBytes = budgets.outputMegabytes * 1024 * 1024;
  const lifeMs = budgets.outputHours * 60 * 60 * 1000;
  let isClosed = false;

  function forget(output: KeptOutput): void {
    outputs.delete(output.handle);
    const file = output.drop();
    if (file !== undefined) closeSync(file);
  }

  const isExpired = ({ endedAt }: KeptOutput) => endedAt !== undefined && Date.now() - endedAt > lifeMs;

  /** Those that have ended and take room in a file, or take none. */
  const ended = (isLarge: boolean) =>
    [...outputs.values()].filter(
      ({ endedAt, fileBytes }) => endedAt !== undefined && fileBytes > 0 === isLarge,
    );

  function forgetOld(): void {
    const tooMany = [...ended(false).slice(0, -mostKept.small), ...ended(true).slice(0, -mostKept.large)];
    for (const output of [...tooMany, ...[...outputs.values()].filter(isExpired)]) forget(output);
  }

  /** Makes room for a block: the oldest that have ended go, or the middle of the one that grows. */
  function makeRoom(growing: KeptOutput): void {
    const isFull = () =>
      [...outputs.values()].reduce((sum, { fileBytes }) => sum + fileBytes, 0) >= mostBytes;
    for (const output of ended(true)) if (isFull()) forget(output);
    if (isFull()) growing.dropMiddle();
  }

  const openFile = () => (folder === undefined || isClosed ? undefined : openUnnamed(folder));

  return {
    open(owner, about, handle = newHandle()) {
      forgetOld();
      const before = outputs.get(handle);
      if (before) forget(before);
      const output = new KeptOutput(handle, owner, about, { openFile, makeRoom });
      outputs.set(handle, output);
      return output;
    },
    find(owner, handle) {
      const output = outputs.get(handle);
      if (output?.owner === owner && !isExpired(output)) return output;
      throw new ToolcribError(
        'NOT_FOUND',
        'output: there is no output by that handle, or no more: old ones are forgotten.',
        'Give one that a result named, or run the program again.',
      );
    },
    close() {
      isClosed = true;
      for (const output of outputs.values()) forget(output);
    },
  };
}

/** 100 random bits, in letters and digits that are not taken for each other. */
export function newHandle(): string {
  let handle = '';
  for (const byte of randomBytes(20)) handle += 'abcdefghijkmnpqrstuvwxyz23456789'[byte & 31];
  return handle;
}

/** FILE_FLAG_DELETE_ON_CLOSE, as Node hands it on (UV_FS_O_TEMPORARY); constants of node:fs leave it out. */
const deleteOnClose = 0x40;

/**
 * A file that nobody else can open, in a private folder that is made when it is missing. It has no name from then on,
 * or the system removes it, so that nothing is left of it when this process ends, however it does. Undefined where
 * that cannot be had.
 */
function openUnnamed(cache: string): number | undefined {
  const { O_RDWR, O_CREAT, O_EXCL } = constants;
  const folder = `${cache}/outputs`;
  const path = `${folder}/${newHandle()}`;
  try {
    if (!makePrivate(cache) || !makePrivate(folder)) return undefined;
    if (process.platform === 'win32') return openSync(path, O_RDWR | O_CREAT | O_EXCL | deleteOnClose);
    const file = openSync(path, O_RDWR | O_CREAT | O_EXCL | constants.O_NOFOLLOW, 0o600);
    unlinkSync(path);
    return file;
  } catch {
    // A full disk, a read-only home, too many open files: then less is kept, in memory.
    return undefined;
  }
}
