/** 0 is standard output, 1 is standard error. */
export type StreamIndex = 0 | 1;
export type Stream = 'stdout' | 'stderr';

export const indexOf = (stream: Stream): StreamIndex => (stream === 'stdout' ? 0 : 1);

/** A number for each stream. */
export type Both = readonly [number, number];

/** How far an output has come at a place in it. */
export interface Tally {
  readonly bytes: Both;
  /** Line feeds. */
  readonly lines: Both;
  /** Where, in the bytes of its stream, the line begins that has no end yet. */
  readonly lineStart: Both;
}

/** Where the bytes of a block are: in memory, in a slot of the spool, or nowhere any more. */
export type Place = Buffer | number | 'dropped';

/** A piece of an output, in the order in which it came. */
export interface Block {
  place: Place;
  length: number;
  /** Lengths of what came from one stream at a time: positive for standard output, negative for standard error. */
  runs: readonly number[];
  readonly before: Tally;
  after: Tally;
}

/** What a block holds; also that of a slot of the spool. One read of a pipe brings at most as much. */
export const blockBytes = 64 * 1024;

/** A program that switches streams more often within one block has its streams told apart there, not its order. */
const mostRuns = 1024;

const smallestBuffer = 4096;

export const nothingYet: Tally = { bytes: [0, 0], lines: [0, 0], lineStart: [0, 0] };

/** The block that an output is being written to. */
export class GrowingBlock {
  readonly before: Tally;
  length = 0;
  #bytes: Buffer = empty;
  #runs: number[] = [];
  /** Whether the bytes are somebody else's, who must not find them changed. */
  #isBorrowed = false;

  constructor(before: Tally) {
    this.before = before;
  }

  /** At most as much as there is room for. A first piece is kept as it is, without copying it. */
  add(stream: StreamIndex, piece: Buffer): void {
    if (this.length === 0 && piece.length * 2 >= piece.buffer.byteLength) {
      this.#bytes = piece;
      this.#isBorrowed = true;
    } else {
      this.#reserve(this.length + piece.length);
      piece.copy(this.#bytes, this.length);
    }
    this.length += piece.length;
    const last = this.#runs.length - 1;
    const run = this.#runs[last];
    const size = stream === 0 ? piece.length : -piece.length;
    if (run !== undefined && run > 0 === size > 0) this.#runs[last] = run + size;
    else this.#runs.push(size);
  }

  #reserve(length: number): void {
    if (!this.#isBorrowed && length <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(
      Math.min(blockBytes, Math.max(smallestBuffer, 2 * this.#bytes.length, length)),
    );
    this.#bytes.copy(larger, 0, 0, this.length);
    this.#bytes = larger;
    this.#isBorrowed = false;
  }

  /** What there is of it now. What is added later does not change it. */
  soFar(after: Tally): Block {
    const place = this.#bytes.subarray(0, this.length);
    return { place, length: this.length, runs: [...this.#runs], before: this.before, after };
  }

  /** All of it, in as much memory as it needs. */
  finish(after: Tally): Block & { place: Buffer } {
    const bytes = this.#bytes.subarray(0, this.length);
    const exact = this.length * 2 < this.#bytes.buffer.byteLength ? Buffer.from(bytes) : bytes;
    const runs = this.#runs;
    const block = { place: exact, length: this.length, runs, before: this.before, after };
    return runs.length <= mostRuns ? block : apart(block);
  }
}

const empty: Buffer = Buffer.alloc(0);

/** The same bytes with those of standard output first. */
function apart(block: Block & { place: Buffer }): Block & { place: Buffer } {
  const pieces: [Buffer[], Buffer[]] = [[], []];
  let at = 0;
  for (const run of block.runs) {
    pieces[run > 0 ? 0 : 1].push(block.place.subarray(at, at + Math.abs(run)));
    at += Math.abs(run);
  }
  const [out, err] = [Buffer.concat(pieces[0]), Buffer.concat(pieces[1])];
  return { ...block, place: Buffer.concat([out, err]), runs: [out.length, -err.length] };
}

/** A tally after more bytes of a stream. */
export function tallyAfter(tally: Tally, stream: StreamIndex, chunk: Buffer): Tally {
  let feeds = 0;
  // Faster than indexOf() where lines are short, and no slower than a pipe where they are long.
  for (let at = 0; at < chunk.length; at++) if (chunk[at] === lineFeed) feeds++;
  const bytes = tally.bytes[stream];
  return {
    bytes: withNumber(tally.bytes, stream, bytes + chunk.length),
    lines: feeds === 0 ? tally.lines : withNumber(tally.lines, stream, tally.lines[stream] + feeds),
    lineStart:
      feeds === 0
        ? tally.lineStart
        : withNumber(tally.lineStart, stream, bytes + chunk.lastIndexOf(lineFeed) + 1),
  };
}

const withNumber = (both: Both, stream: StreamIndex, number: number): Both =>
  stream === 0 ? [number, both[1]] : [both[0], number];

export const lineFeed = 0x0a;
