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
  /** The name of this server among several, which handles contain where a call may come to another one. */
  readonly instance?: string | undefined;
}

/**
 * The most ended outputs: those that fit into memory, most of which are some hundred bytes, and those with a
 * file.
 */
const mostEnded = { small: 200, large: 50 };

/**
 * The whole output of programs, by handle, at most for as long as this process lives. Each large output has a
 * file.
 */
export class OutputStore {
  readonly #options: OutputStoreOptions;
  /** The outputs in the order in which they began. */
  readonly #outputs = new Set<KeptOutput>();
  /** The number of outputs so far, by owner and name. */
  readonly #counts = new Map<string, number>();
  #isClosed = false;

  constructor(options: OutputStoreOptions) {
    this.#options = options;
  }

  /**
   * Begins to store what a program prints. Only `owner` may read it. The handle is made of `about`, such as
   * the command line, unless one is given: `dev-1`, or `dev-1-k3x9q2` with the name of the server.
   */
  open(owner: string, about: string, handle = this.#nextHandle(owner, about)): OutputSink {
    this.#forgetOld();
    for (const earlier of this.#of(owner)) if (earlier.handle === handle) this.#forget(earlier);
    const output = new KeptOutput(handle, owner, about, {
      openFile: () => this.#openFile(),
      makeRoom: (growing) => this.#makeRoom(growing),
    });
    this.#outputs.add(output);
    return output;
  }

  /** The stored outputs of an owner, in the order in which they began. */
  list(owner: string): readonly StoredOutput[] {
    return this.#of(owner).filter((output) => !this.#isExpired(output));
  }

  /**
   * Finds an output. Throws NOT_FOUND with the same message for one that never was, is forgotten, or belongs
   * to another.
   */
  find(owner: string, handle: string): StoredOutput {
    const output = this.list(owner).find((each) => each.handle === handle);
    if (output) return output;
    throw new ToolcribError(
      'NOT_FOUND',
      'id: there is no job or output by that handle, or no more: old ones are forgotten.',
      'read_output without an id lists them.',
    );
  }

  /** Forgets all outputs, and removes what is on disk. */
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

  /** The ended outputs that take space in a file, or those that take none. */
  #ended(isLarge: boolean): KeptOutput[] {
    return [...this.#outputs].filter(
      ({ endedAt, fileBytes }) => endedAt !== undefined && fileBytes > 0 === isLarge,
    );
  }

  #forgetOld(): void {
    const tooMany = [
      ...this.#ended(false).slice(0, -mostEnded.small),
      ...this.#ended(true).slice(0, -mostEnded.large),
    ];
    for (const output of this.#outputs)
      if (this.#isExpired(output) || tooMany.includes(output)) this.#forget(output);
  }

  /** Frees space for a block: drops the oldest ended outputs, or else the middle of the growing one. */
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

/** Words after which the next word tells what is really done. */
const leads = /^(?:run|exec|x|dlx|compose|tool)$/;
/** Words that tell more than the name of their program. */
const tasks = /^(?:build|check|deploy|dev|install|lint|serve|start|test|up|watch)\b/;

/**
 * Names a command line in a word: `dev` for `npm run dev`, `test` for `cargo test`, `node` for `node a.mjs`.
 */
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

/**
 * The flag FILE_FLAG_DELETE_ON_CLOSE, as Node passes it on (UV_FS_O_TEMPORARY); the constants of node:fs lack
 * it.
 */
const deleteOnClose = 0x40;

/**
 * Opens a file that nobody else can open, in a private folder that is made when it is missing. The file then
 * has no name, or the system removes it, so that nothing is left of it however this process ends. Undefined
 * where that is not possible.
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
    // On a full disk, in a read-only home, or with too many open files, less is kept, in memory.
    return undefined;
  }
}
