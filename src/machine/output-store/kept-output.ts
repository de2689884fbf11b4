import { readSync, writeSync } from 'node:fs';
import type { OutputSink } from '../../core/tool.ts';
import { decode } from '../decode.ts';
import { wholeCharacters } from '../output.ts';
import { sanitize } from '../sanitize.ts';

/** A line of an output, or several that were not kept. Lines of both streams are in the order of their ends. */
export type OutputLine =
  /** `text` is decoded and harmless; `number` counts from 1. */
  | { readonly kind: 'line'; readonly number: number; readonly text: string }
  | { readonly kind: 'missing'; readonly number: number; readonly last: number };

/** An output, which may grow while it is read. */
export interface StoredOutput {
  readonly handle: string;
  /** What it is, such as the command line; as it was given. */
  readonly about: string;
  /** When it ended, in ms since 1970; undefined while it grows. */
  readonly endedAt: number | undefined;
  /** Lines that there are, kept or not. */
  readonly lineCount: number;
  /** Lines that will not change any more: the last of each stream may grow. */
  readonly finalLines: number;
  /** The lines from a number on, many at a time. */
  lines(from: number): Generator<readonly OutputLine[]>;
}

/** The same, one by one. */
export function* eachLine(output: StoredOutput, from: number): Generator<OutputLine> {
  for (const lines of output.lines(from)) yield* lines;
}

/** Lines that are kept together. */
interface Block {
  readonly first: number;
  readonly lines: number;
  readonly bytes: number;
  /** Where it is: the bytes, or the number of a slot of the file; undefined when it was given up. */
  place: Buffer | number | undefined;
}

/** What a block holds, and a slot of the file. A pipe brings at most 64 KB at a time. */
const blockBytes = 70 * 1024;
const pieceBytes = 64 * 1024;
/** Of a longer line each part is a line of its own, about a third of what an answer shows. */
const longestLine = 5000;
/** So many bytes at most go to the next part, so that no word is cut: half a secret is recognised by nobody. */
const longestWord = 1024;
/** Of one output: 64 MB, which is a long build's log ten times over; 1 MB where it has to stay in memory. */
const mostBlocks = { inFile: 1024, inMemory: 16 };
const lineFeed = 0x0a;
const goesOn = Buffer.from('…\n');
const empty: Buffer = Buffer.alloc(0);

/** Where large outputs go. */
interface Room {
  /** A file that is theirs alone; undefined where there cannot be one. Asked once, when memory is not enough. */
  openFile(): number | undefined;
  /** Called before a block is put into the file. */
  makeRoom(output: KeptOutput): void;
}

/** What one program printed: its head and tail when it is too much. What is short never leaves the memory. */
export class KeptOutput implements OutputSink, StoredOutput {
  readonly handle: string;
  readonly owner: string;
  readonly about: string;
  endedAt: number | undefined;
  readonly #room: Room;
  /** The file of its blocks; 'none' when there cannot be one. */
  #file: number | 'none' | undefined;
  #blocks: Block[] = [];
  #slots = 0;
  #freeSlots: number[] = [];
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  finalLines = 0;
  #linesInBlocks = 0;
  /** What has come of a line whose end has not. */
  readonly #rest = { stdout: empty, stderr: empty };

  constructor(handle: string, owner: string, about: string, room: Room) {
    this.handle = handle;
    this.owner = owner;
    this.about = about;
    this.#room = room;
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
        this.#keep(bytes.subarray(from, lineStart), lines);
        const part = wholeWords(wholeCharacters(bytes.subarray(lineStart, at)));
        this.#keep(Buffer.concat([part, goesOn]), 1);
        from = lineStart + part.length;
        lineStart = from;
        lines = 0;
      }
    }
    this.#keep(bytes.subarray(from, lineStart), lines);
    this.#rest[stream] = Buffer.from(bytes.subarray(lineStart));
  }

  end(): void {
    if (this.endedAt !== undefined) return;
    for (const stream of ['stdout', 'stderr'] as const) {
      if (this.#rest[stream].length > 0)
        this.#keep(Buffer.concat([this.#rest[stream], Buffer.of(lineFeed)]), 1);
      this.#rest[stream] = empty;
    }
    this.endedAt = Date.now();
  }

  #keep(bytes: Buffer, lines: number): void {
    if (lines === 0) return;
    if (this.#pendingBytes + bytes.length > blockBytes) this.#putAway();
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    this.finalLines += lines;
  }

  #pendingBlock(): Block & { place: Buffer } {
    return {
      first: this.#linesInBlocks + 1,
      lines: this.finalLines - this.#linesInBlocks,
      bytes: this.#pendingBytes,
      place: Buffer.concat(this.#pending),
    };
  }

  #putAway(): void {
    const block: Block & { place: Buffer } = this.#pendingBlock();
    this.#linesInBlocks = this.finalLines;
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#file ??= this.#room.openFile() ?? 'none';
    this.#room.makeRoom(this);
    if (this.#blocks.length >= mostBlocks[this.#file === 'none' ? 'inMemory' : 'inFile']) this.dropMiddle();
    if (this.#file === 'none') return void this.#blocks.push(block);
    const slot = this.#freeSlots.pop() ?? this.#slots++;
    try {
      const written = writeSync(this.#file, block.place, 0, block.bytes, slot * blockBytes);
      if (written === block.bytes) this.#blocks.push({ ...block, place: slot });
    } catch {
      // A full disk: the program must not be stopped by it, and what is missing is said to who reads.
      this.#freeSlots.push(slot);
    }
  }

  /** Bytes that it takes in its file. */
  get fileBytes(): number {
    return typeof this.#file === 'number' ? this.#blocks.length * blockBytes : 0;
  }

  /** Gives up the block in the middle, of which as much was kept before it as after. */
  dropMiddle(): void {
    if (this.#blocks.length < 2) return;
    const [block] = this.#blocks.splice(Math.floor(this.#blocks.length / 2), 1);
    if (typeof block?.place === 'number') this.#freeSlots.push(block.place);
    // Who is reading must not read what comes into its place.
    if (block) block.place = undefined;
  }

  /** Gives up all of it, and tells which file is to be closed. */
  drop(): number | undefined {
    this.end();
    for (const block of this.#blocks.splice(0)) block.place = undefined;
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
    for (const stream of ['stdout', 'stderr'] as const)
      if (rest[stream].length > 0 && ++number >= from)
        yield [{ kind: 'line', number, text: harmlessLine(decode(wholeCharacters(rest[stream]))) }];
  }

  #read({ place, bytes }: Block): Buffer | undefined {
    if (typeof place !== 'number') return place;
    if (typeof this.#file !== 'number') return undefined;
    const read = Buffer.allocUnsafe(bytes);
    try {
      return readSync(this.#file, read, 0, bytes, place * blockBytes) === bytes ? read : undefined;
    } catch {
      // A failing disk: what cannot be read is missing.
      return undefined;
    }
  }
}

/** The bytes of a part up to a gap between words near its end. */
function wholeWords(bytes: Buffer): Buffer {
  // A blank, a quote, a bracket or a comma: no byte of a longer character in any encoding of programs.
  const isGap = (byte: number) => ' \t"\'(),;<>'.includes(String.fromCharCode(byte));
  const last = bytes.subarray(-longestWord).findLastIndex(isGap);
  return last < 0 ? bytes : bytes.subarray(0, bytes.length - longestWord + last + 1);
}

function linesOf({ first, lines }: Block, bytes: Buffer): OutputLine[] {
  const decoded = decode(bytes).slice(0, -1);
  // All at once, which is faster; one by one where that would take line ends out.
  const together = harmless(decoded).split('\n');
  const texts = together.length === lines ? together : decoded.split('\n').map(harmlessLine);
  return texts.map((text, index) => ({ kind: 'line', number: first + index, text }));
}

/** What a progress bar writes over itself with, shown so that one line stays one line. */
const carriageReturn = '␍';

const harmlessLine = (text: string): string => harmless(text).replaceAll('\n', carriageReturn);

const harmless = (text: string): string =>
  sanitize(text.replaceAll(/\r+(?=\n|$)/g, '').replaceAll('\r', carriageReturn));
