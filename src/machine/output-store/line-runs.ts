import { lineFeed, type Block, type StreamIndex } from './block.ts';

/** Which streams are looked at. With both, lines stand in the order in which they were ended. */
export type View = 'stdout' | 'stderr' | 'both';

/** Lines of one stream that came one behind the other and in one block, each ended by a line feed. */
export interface LineRun {
  readonly stream: StreamIndex;
  /** The number of the first, from 1. */
  readonly first: number;
  /** Where each begins, in the bytes of its stream; the first may begin in an earlier block. */
  readonly starts: readonly number[];
  /** Where the last ends, its line feed included. */
  readonly end: number;
  /** The bytes of the stream from `offset` to `end`. */
  readonly bytes: Buffer;
  readonly offset: number;
}

/** Whether a stream belongs to a view. */
export const isIn = (view: View, stream: StreamIndex): boolean =>
  view === 'both' || (view === 'stdout') === (stream === 0);

/** A number of both streams as a view counts it. */
export const counted = (view: View, [out, err]: readonly [number, number]): number =>
  view === 'both' ? out + err : view === 'stdout' ? out : err;

/** The lines that end in a block. */
export function* lineRuns(block: Block, bytes: Buffer, view: View): Generator<LineRun> {
  const at: [number, number] = [...block.before.bytes];
  const lineStart: [number, number] = [...block.before.lineStart];
  let next = counted(view, block.before.lines) + 1;
  let from = 0;
  for (const run of block.runs) {
    const stream: StreamIndex = run > 0 ? 0 : 1;
    const piece = bytes.subarray(from, from + Math.abs(run));
    from += piece.length;
    const offset = at[stream];
    at[stream] += piece.length;
    if (!isIn(view, stream)) continue;
    const starts: number[] = [];
    let start = lineStart[stream];
    for (let index = 0; index < piece.length; index++) {
      if (piece[index] !== lineFeed) continue;
      starts.push(start);
      start = offset + index + 1;
    }
    lineStart[stream] = start;
    if (starts.length === 0) continue;
    yield { stream, first: next, starts, end: start, bytes: piece.subarray(0, start - offset), offset };
    next += starts.length;
  }
}

/** The bytes of one stream that a block has from one place to another. */
export function bytesWithin(
  block: Block,
  bytes: Buffer,
  stream: StreamIndex,
  from: number,
  to: number,
): Buffer {
  const found: Buffer[] = [];
  let at = block.before.bytes[stream];
  let index = 0;
  for (const run of block.runs) {
    const length = Math.abs(run);
    if (run > 0 === (stream === 0)) {
      const start = Math.max(from, at);
      const end = Math.min(to, at + length);
      if (start < end) found.push(bytes.subarray(index + start - at, index + end - at));
      at += length;
    }
    index += length;
  }
  return found.length === 1 && found[0] ? found[0] : Buffer.concat(found);
}
