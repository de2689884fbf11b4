import { readSync, writeSync } from 'node:fs';
import type { OutputSink } from '../../core/tool.ts';
import { decode } from '../decode.ts';
import { wholeCharacters } from '../output.ts';
import { sanitize } from '../sanitize.ts';

/**
 * A line of an output, or several lines that were not kept. Lines of both streams are in the order of their
 * ends.
 */
export type OutputLine =
  /** A kept line: `text` is decoded and harmless, and `number` counts from 1. */
  | { readonly kind: 'line'; readonly number: number; readonly text: string }
  | { readonly kind: 'missing'; readonly number: number; readonly last: number };

/** An output, which may grow while it is read. */
export interface StoredOutput {
  readonly handle: string;
  /** The description of the output, such as the command line, as it was given. */
  readonly about: string;
  /** The time of its end, in ms since 1970; undefined while it grows. */
  readonly endedAt: number | undefined;
  /** The number of lines, kept or not. */
  readonly lineCount: number;
  /** The number of lines that will not change any more: the last of each stream may grow. */
  readonly finalLines: number;
  /** Yields the lines from a number on, many at a time. */
  lines(from: number): Generator<readonly OutputLine[]>;
}

/** Yields the lines of an output from a number on, one by one. */
export function* eachLine(output: StoredOutput, from: number): Generator<OutputLine> {
  for (const lines of output.lines(from)) yield* lines;
}

/** Lines that are stored together. */
interface Block {
  readonly first: number;
  readonly lines: number;
  readonly bytes: number;
  /** The bytes, or the number of a slot in the file; undefined when the block was dropped. */
  location: Buffer | number | undefined;
}

/** The size of a block, and of a slot in the file. A pipe brings at most 64 KB at a time. */
const blockBytes = 70 * 1024;
const pieceBytes = 64 * 1024;
/** The length of the parts into which a longer line is split, about a third of what an answer shows. */
const longestLine = 5000;
/** The most bytes that go to the next part so that no word is cut: nothing recognises half a secret. */
const longestWord = 1024;
/**
 * The most blocks of one output: 64 MB, ten times the log of a long build, or 1 MB where it has to stay in
 * memory.
 */
const mostBlocks = { inFile: 1024, inMemory: 16 };
const lineFeed = 0x0a;
const goesOn = Buffer.from('…\n');
const empty: Buffer = Buffer.alloc(0);

/** The storage of large outputs. */
interface BlockStorage {
  /**
   * Opens a file that no other output uses; undefined where there cannot be one. Called once, when memory is
   * not enough.
   */
  openFile(): number | undefined;
  /** Frees space before a block is put into the file. */
  makeRoom(output: KeptOutput): void;
}

/** The output of one program: its head and tail when it is too much. A short output never leaves memory. */
export class KeptOutput implements OutputSink, StoredOutput {
  readonly handle: string;
  readonly owner: string;
  readonly about: string;
  endedAt: number | undefined;
  readonly #storage: BlockStorage;
  /** The file of its blocks; 'none' when there cannot be one. */
  #file: number | 'none' | undefined;
  #blocks: Block[] = [];
  #slots = 0;
  #freeSlots: number[] = [];
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  finalLines = 0;
  #linesInBlocks = 0;
  /** The beginnings of lines whose ends have not arrived yet. */
  readonly #rest = { stdout: empty, stderr: empty };

  constructor(handle: string, owner: string, about: string, storage: BlockStorage) {
    this.handle = handle;
    this.owner = owner;
    this.about = about;
    this.#storage = storage;
  }

  add(stream: 'stdout' | 'stderr', chunk: Uint8Array): void {
    if (this.endedAt !== undefined) return;
    for (let from = 0; from < chunk.length; from += pieceBytes)
      this.#addPiece(stream, chunk.subarray(from, from + pieceBytes));
  }

  #addPiece(stream: 'stdout' | 'stderr', piece: Uint8Array): void {
    const bytes = Buffer.concat([this.#rest[stream], piece]);
    let from = 0;
    let lineStart = 0;
    let lines = 0;
    // Faster than indexOf() where lines are short, and no slower than a pipe where they are long.
    for (let at = 0; at < bytes.length; at++) {
      if (bytes[at] === lineFeed) {
        lines++;
        lineStart = at + 1;
      } else if (at - lineStart >= longestLine) {
        this.#append(bytes.subarray(from, lineStart), lines);
        const part = wholeWords(wholeCharacters(bytes.subarray(lineStart, at)));
        this.#append(Buffer.concat([part, goesOn]), 1);
        from = lineStart + part.length;
        lineStart = from;
        lines = 0;
      }
    }
    this.#append(bytes.subarray(from, lineStart), lines);
    this.#rest[stream] = Buffer.from(bytes.subarray(lineStart));
  }

  end(): void {
    if (this.endedAt !== undefined) return;
    for (const stream of ['stdout', 'stderr'] as const) {
      if (this.#rest[stream].length > 0)
        this.#append(Buffer.concat([this.#rest[stream], Buffer.of(lineFeed)]), 1);
      this.#rest[stream] = empty;
    }
    this.endedAt = Date.now();
  }

  #append(bytes: Buffer, lines: number): void {
    if (lines === 0) return;
    if (this.#pendingBytes + bytes.length > blockBytes) this.#storePending();
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    this.finalLines += lines;
  }

  #pendingBlock(): Block & { location: Buffer } {
    return {
      first: this.#linesInBlocks + 1,
      lines: this.finalLines - this.#linesInBlocks,
      bytes: this.#pendingBytes,
      location: Buffer.concat(this.#pending),
    };
  }

  #storePending(): void {
    const block: Block & { location: Buffer } = this.#pendingBlock();
    this.#linesInBlocks = this.finalLines;
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#file ??= this.#storage.openFile() ?? 'none';
    this.#storage.makeRoom(this);
    if (this.#blocks.length >= mostBlocks[this.#file === 'none' ? 'inMemory' : 'inFile']) this.dropMiddle();
    if (this.#file === 'none') {
      this.#blocks.push(block);
      return;
    }
    const slot = this.#nextSlot();
    try {
      const written = writeSync(this.#file, block.location, 0, block.bytes, slot * blockBytes);
      if (written === block.bytes) this.#blocks.push({ ...block, location: slot });
    } catch {
      // A full disk must not stop the program; readers are told what is missing.
      this.#freeSlots.push(slot);
    }
  }

  #nextSlot(): number {
    const free = this.#freeSlots.pop();
    if (free !== undefined) return free;
    this.#slots++;
    return this.#slots - 1;
  }

  /** The bytes that it takes in its file. */
  get fileBytes(): number {
    return typeof this.#file === 'number' ? this.#blocks.length * blockBytes : 0;
  }

  /** Drops the block in the middle, of which as much was kept before it as after. */
  dropMiddle(): void {
    if (this.#blocks.length < 2) return;
    const [block] = this.#blocks.splice(Math.floor(this.#blocks.length / 2), 1);
    if (typeof block?.location === 'number') this.#freeSlots.push(block.location);
    // A reader must not read what is stored in its slot next.
    if (block) block.location = undefined;
  }

  /** Drops all of it, and returns the file that is to be closed. */
  drop(): number | undefined {
    this.end();
    for (const block of this.#blocks) block.location = undefined;
    this.#blocks = [];
    this.#pending = [];
    const file = this.#file;
    this.#file = 'none';
    return typeof file === 'number' ? file : undefined;
  }

  get lineCount(): number {
    return this.finalLines + Object.values(this.#rest).filter(({ length }) => length > 0).length;
  }

  *lines(from: number): Generator<readonly OutputLine[]> {
    const rest = { ...this.#rest };
    const whole = this.finalLines;
    let next = from;
    for (const block of [...this.#blocks, this.#pendingBlock()]) {
      const bytes = block.first + block.lines > from ? this.#read(block) : undefined;
      if (!bytes) continue;
      if (block.first > next) yield [{ kind: 'missing', number: next, last: block.first - 1 }];
      yield linesOf(block, bytes).slice(Math.max(0, from - block.first));
      next = block.first + block.lines;
    }
    if (next <= whole) yield [{ kind: 'missing', number: next, last: whole }];
    let number = whole;
    for (const stream of ['stdout', 'stderr'] as const) {
      if (rest[stream].length === 0) continue;
      number++;
      if (number >= from)
        yield [{ kind: 'line', number, text: harmlessLine(decode(wholeCharacters(rest[stream]))) }];
    }
  }

  #read({ location, bytes }: Block): Buffer | undefined {
    if (typeof location !== 'number') return location;
    if (typeof this.#file !== 'number') return undefined;
    const read = Buffer.allocUnsafe(bytes);
    try {
      return readSync(this.#file, read, 0, bytes, location * blockBytes) === bytes ? read : undefined;
    } catch {
      // On a failing disk, what cannot be read is missing.
      return undefined;
    }
  }
}

/** Cuts the bytes of a part at a gap between words near its end. */
function wholeWords(bytes: Buffer): Buffer {
  // None of these is a byte of a longer character in any encoding of programs.
  const isGap = (byte: number) => ' \t"\'(),;<>'.includes(String.fromCharCode(byte));
  const last = bytes.subarray(-longestWord).findLastIndex(isGap);
  return last < 0 ? bytes : bytes.subarray(0, bytes.length - longestWord + last + 1);
}

function linesOf({ first, lines }: Block, bytes: Buffer): OutputLine[] {
  const decoded = decode(bytes).slice(0, -1);
  // Sanitizing all lines at once is faster; each is sanitized by itself where that would remove line ends.
  const together = harmless(decoded).split('\n');
  const texts = together.length === lines ? together : decoded.split('\n').map(harmlessLine);
  return texts.map((text, index) => ({ kind: 'line', number: first + index, text }));
}

/**
 * The sign for the carriage return with which a progress bar overwrites itself, so that one line stays one
 * line.
 */
const carriageReturn = '␍';

const harmlessLine = (text: string): string => harmless(text).replaceAll('\n', carriageReturn);

const harmless = (text: string): string =>
  sanitize(text.replaceAll(/\r+(?=\n|$)/g, '').replaceAll('\r', carriageReturn));
