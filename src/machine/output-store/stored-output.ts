import { createBreath } from '../paths/breath.ts';
import {
  blockBytes,
  indexOf,
  nothingYet,
  type Block,
  type Stream,
  type StreamIndex,
  type Tally,
} from './block.ts';
import type { KeptOutput } from './kept-output.ts';
import { bytesWithin, counted, isIn, lineRuns, type LineRun, type View } from './line-runs.ts';
import { harmlessLine, textsOf, wholeCharacters, wholeWords } from './line-text.ts';

/** A line of an output. */
export interface StoredLine {
  readonly kind: 'line';
  /** From 1, as its view counts. */
  readonly number: number;
  readonly stream: Stream;
  /** Decoded and harmless; of a very long line only the beginning. */
  readonly text: string;
  /** Bytes it has, without its end. */
  readonly bytes: number;
  /** Where it begins in the bytes of its stream. */
  readonly start: number;
  /** False for one that may still grow. */
  readonly isEnded: boolean;
}

/** Something that was not kept. */
export interface MissingPart {
  readonly kind: 'missing';
  readonly bytes: number;
  /** The lines of which something is missing, as their view counts; none when `to` is less than `from`. */
  readonly from: number;
  readonly to: number;
}

/** A part of one line. */
export interface LinePart {
  readonly text: string;
  /** The bytes of the line that are shown; the next part begins at `to`. */
  readonly from: number;
  readonly to: number;
}

/** An output as it was when it was asked for, to be read while it grows. */
export interface StoredOutput {
  readonly handle: string;
  /** What it is, such as the command line; as it was given. */
  readonly about: string;
  /** Bytes that came, kept or not. */
  readonly bytes: Readonly<Record<Stream, number>>;
  readonly ended: boolean;
  /** Lines that there are, kept or not; with one that is not ended. */
  lineCount(view: View): number;
  /** The lines from a number on, with what is missing between them. Goes on while others work; may be left at any time. */
  lines(view: View, from: number): AsyncGenerator<StoredLine | MissingPart>;
  /** At most so many bytes of a line from one of them on, no character cut in two. Undefined when it has no such byte. */
  part(line: StoredLine, from: number, most: number): LinePart | undefined;
}

/** Bytes of a very long line that come as its text. */
export const longText = blockBytes;

type BytesOf = (block: Block) => Buffer | undefined;

export function createStoredOutput(output: KeptOutput, bytesOf: BytesOf): StoredOutput {
  const blocks = output.blocks();
  const { tally } = output;
  const ended = output.endedAt !== undefined;
  let last: { block: Block; bytes: Buffer } | undefined;

  /** Lines are read one after the other, so the same block is wanted several times. */
  const read = (block: Block): Buffer | undefined => {
    if (last?.block === block && block.place !== 'dropped') return last.bytes;
    const bytes = bytesOf(block);
    last = bytes && { block, bytes };
    return bytes;
  };

  /** Bytes of a stream: the first that are kept, up to what is missing. */
  function range(stream: StreamIndex, from: number, to: number): { bytes: Buffer; from: number } {
    const found: Buffer[] = [];
    let at = from;
    let began: number | undefined;
    for (const block of blocks.slice(firstAfter(blocks, (one) => one.after.bytes[stream] > from))) {
      const start = block.before.bytes[stream];
      if (start >= to) break;
      if (began !== undefined && start > at) break;
      const bytes = read(block);
      if (!bytes) continue;
      const piece = bytesWithin(block, bytes, stream, at, to);
      if (piece.length === 0) continue;
      began ??= Math.max(from, start);
      found.push(piece);
      at = Math.min(to, block.after.bytes[stream]);
    }
    return { bytes: Buffer.concat(found), from: began ?? to };
  }

  /** The text of a line that does not lie in one block. */
  function textAcross(stream: StreamIndex, start: number, end: number): string {
    const most = Math.min(end, start + longText);
    const found = range(stream, start, most);
    const isHeadless = found.from > start;
    const { text } = wholeCharacters(found.bytes, !isHeadless, most === end);
    return `${isHeadless ? '…' : ''}${harmlessLine(text)}`;
  }

  function* linesOf(run: LineRun, from: number): Generator<StoredLine> {
    const { starts, stream, end, offset } = run;
    const start = starts[0] ?? end;
    const first = start < offset ? textAcross(stream, start, (starts[1] ?? end) - 1) : undefined;
    const texts = textsOf(run, first);
    for (let index = Math.max(0, from - run.first); index < texts.length; index++) {
      const begins = starts[index] ?? end;
      yield {
        kind: 'line',
        number: run.first + index,
        stream: stream === 0 ? 'stdout' : 'stderr',
        text: texts[index] ?? '',
        bytes: (starts[index + 1] ?? end) - 1 - begins,
        start: begins,
        isEnded: true,
      };
    }
  }

  function* unendedLines(view: View, from: number): Generator<StoredLine> {
    let number = counted(view, tally.lines);
    for (const stream of [0, 1] as const) {
      const bytes = tally.bytes[stream] - tally.lineStart[stream];
      if (!isIn(view, stream) || bytes === 0 || ++number < from) continue;
      const start = tally.lineStart[stream];
      const text = textAcross(stream, start, start + bytes);
      yield {
        kind: 'line',
        number,
        stream: stream === 0 ? 'stdout' : 'stderr',
        text,
        bytes,
        start,
        isEnded: ended,
      };
    }
  }

  return {
    handle: output.handle,
    about: output.about,
    bytes: { stdout: tally.bytes[0], stderr: tally.bytes[1] },
    ended,

    lineCount: (view) => counted(view, tally.lines) + unended(tally, view),

    async *lines(view, from) {
      const start = firstAfter(blocks, ({ after }) => counted(view, after.lines) >= from);
      let seen = blocks[start]?.before ?? blocks.at(-1)?.after ?? nothingYet;
      // Where the line that was asked for is missing, that is the first thing to be told.
      if (start < blocks.length && counted(view, seen.lines) >= from)
        seen = blocks[start - 1]?.after ?? nothingYet;
      const breathe = createBreath();
      for (const block of blocks.slice(start)) {
        await breathe();
        const bytes = read(block);
        if (!bytes) continue;
        const missing = missingBetween(view, seen, block.before);
        if (missing) yield missing;
        seen = block.after;
        for (const run of lineRuns(block, bytes, view)) yield* linesOf(run, from);
      }
      const missing = missingBetween(view, seen, tally);
      if (missing) yield missing;
      yield* unendedLines(view, from);
    },

    part({ stream, start, bytes }, from, most) {
      if (from >= bytes && from > 0) return undefined;
      const index = indexOf(stream);
      const wantedEnd = Math.min(bytes, from + most);
      const found = range(index, start + from, start + wantedEnd);
      const first = found.from - start;
      if (found.bytes.length === 0) return { text: '', from: wantedEnd, to: wantedEnd };
      const lastByte = first + found.bytes.length;
      const isLast = lastByte === bytes;
      const shown = wholeCharacters(isLast ? found.bytes : wholeWords(found.bytes), first === 0, isLast);
      return { text: harmlessLine(shown.text), from: first + shown.from, to: first + shown.to };
    },
  };
}

function unended({ bytes, lineStart }: Tally, view: View): number {
  return ([0, 1] as const).filter((stream) => isIn(view, stream) && bytes[stream] > lineStart[stream]).length;
}

function missingBetween(view: View, seen: Tally, next: Tally): MissingPart | undefined {
  const bytes = counted(view, next.bytes) - counted(view, seen.bytes);
  if (bytes <= 0) return undefined;
  return { kind: 'missing', bytes, from: counted(view, seen.lines) + 1, to: counted(view, next.lines) };
}

/** The first block of which something is true that is true of all after it. */
function firstAfter(blocks: readonly Block[], isSo: (block: Block) => boolean): number {
  const index = blocks.findIndex(isSo);
  return index < 0 ? blocks.length : index;
}
