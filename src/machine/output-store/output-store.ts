import { randomUUID } from 'node:crypto';
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { ToolcribError } from '../../core/errors.ts';
import type { Budgets } from '../../core/settings.ts';
import type { OutputSink } from '../../core/tool.ts';
import { makePrivate } from '../../store/own-files.ts';
import { KeptOutput, type StoredOutput } from './kept-output.ts';

export interface OutputStoreOptions {
  /** The cache folder, in which large outputs are put; without one, less is kept, in memory. */
  readonly folder: string | undefined;
  readonly budgets: Pick<Budgets, 'outputMegabytes' | 'outputHours'>;
  /** Which of several servers this is: handles name it, where a call may come to another one. */
  readonly instance?: string | undefined;
}

/** Outputs that have ended: those that fit into memory, most of which are some hundred bytes, and those with a file. */
const mostKept = { small: 200, large: 50 };

/** What programs printed, whole, by handle, for as long as this process lives: a file for each that is large. */
export class OutputStore {
  readonly #options: OutputStoreOptions;
  /** In the order in which they began. */
  readonly #outputs = new Set<KeptOutput>();
  /** How many there have been of an owner and a name. */
  readonly #counts = new Map<string, number>();
  #isClosed = false;

  constructor(options: OutputStoreOptions) {
    this.#options = options;
  }

  /**
   * Begins to keep what a program prints. `owner` is who may read it, `about` what it is, such as the command line, of
   * which its handle is made unless one is given: `dev-1`, or `dev-1-k3x9q2` where that says whose it is.
   */
  open(owner: string, about: string, handle = this.#nextHandle(owner, about)): OutputSink {
    this.#forgetOld();
    for (const before of this.#of(owner)) if (before.handle === handle) this.#forget(before);
    const output = new KeptOutput(handle, owner, about, {
      openFile: () => this.#openFile(),
      makeRoom: (growing) => this.#makeRoom(growing),
    });
    this.#outputs.add(output);
    return output;
  }

  /** What is kept of an owner, in the order in which it began. */
  list(owner: string): readonly StoredOutput[] {
    return this.#of(owner).filter((output) => !this.#isExpired(output));
  }

  /** Throws NOT_FOUND, which says the same of what never was, is forgotten, or belongs to another. */
  find(owner: string, handle: string): StoredOutput {
    const output = this.list(owner).find((one) => one.handle === handle);
    if (output) return output;
    throw new ToolcribError(
      'NOT_FOUND',
      'id: there is no job or output by that handle, or no more: old ones are forgotten.',
      'read_output without an id lists them.',
    );
  }

  /** Forgets everything, and removes what is on disk. */
  close(): void {
    this.#isClosed = true;
    for (const output of this.#outputs) this.#forget(output);
  }

  #nextHandle(owner: string, about: string): string {
    const name = nameIn(about);
    const key = `${owner} ${name}`;
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return [name, count, this.#options.instance ?? []].flat().join('-');
  }

  #of(owner: string): KeptOutput[] {
    return [...this.#outputs].filter((output) => output.owner === owner);
  }

  #forget(output: KeptOutput): void {
    this.#outputs.delete(output);
    const file = output.drop();
    if (file !== undefined) closeSync(file);
  }

  #isExpired({ endedAt }: KeptOutput): boolean {
    return endedAt !== undefined && Date.now() - endedAt > this.#options.budgets.outputHours * 3_600_000;
  }

  /** Those that have ended and take room in a file, or take none. */
  #ended(isLarge: boolean): KeptOutput[] {
    return [...this.#outputs].filter(
      ({ endedAt, fileBytes }) => endedAt !== undefined && fileBytes > 0 === isLarge,
    );
  }

  #forgetOld(): void {
    const tooMany = [
      ...this.#ended(false).slice(0, -mostKept.small),
      ...this.#ended(true).slice(0, -mostKept.large),
    ];
    for (const output of this.#outputs)
      if (this.#isExpired(output) || tooMany.includes(output)) this.#forget(output);
  }

  /** Makes room for a block: the oldest that have ended go, or the middle of the one that grows. */
  #makeRoom(growing: KeptOutput): void {
    const most = this.#options.budgets.outputMegabytes * 1024 * 1024;
    const isFull = () => [...this.#outputs].reduce((sum, { fileBytes }) => sum + fileBytes, 0) >= most;
    for (const output of this.#ended(true)) if (isFull()) this.#forget(output);
    if (isFull()) growing.dropMiddle();
  }

  #openFile(): number | undefined {
    const { folder } = this.#options;
    return folder === undefined || this.#isClosed ? undefined : openUnnamed(folder);
  }
}

/** Behind these words stands what is really done, and the others say more than their program. */
const leads = /^(?:run|exec|x|dlx|compose|tool)$/;
const tasks = /^(?:build|check|deploy|dev|install|lint|serve|start|test|up|watch)\b/;

/** What a command line is about, in a word: `dev` of `npm run dev`, `test` of `cargo test`, `node` of `node a.mjs`. */
function nameIn(line: string): string {
  const [program = '', first = '', second = ''] = line.split(/\s+/).filter((word) => !/^\w+=/.test(word));
  const word = leads.test(first) && second !== '' ? second : tasks.test(first) ? first : program;
  const name = word
    .replace(/^.*[\\/]/, '')
    .replace(/\.\w+$/, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  return name.slice(0, 20) || 'output';
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
  const path = `${folder}/${randomUUID()}`;
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
