import { ToolcribError } from '../../core/errors.ts';
import { createTurns, type Turns } from '../../machine/limited.ts';
import type { Opened } from '../../machine/paths/opened.ts';
import { chunksOf } from './read-ahead.ts';
import { createBuffers, type Buffers } from './read-buffers.ts';
import type { TextFile } from './file-lines.ts';
import { afterFeed, feedsIn } from './line-feeds.ts';
import { nextLine, type Encoding } from '../text/text-file.ts';
import { sameVersion, settled, versionOf, type Version } from '../unchanged.ts';

/** Where a line begins, or how many lines there are when there are fewer. */
export type Found = { readonly start: number } | { readonly lines: number };

/** What ends a search before it is done. */
export interface Patience {
  readonly signal: AbortSignal;
  /** By performance.now(). */
  readonly untilMs: number;
}

/** Where lines are in large files, as far as they have been looked at, so that no part of them is counted twice. */
export interface LineIndexes {
  /** What files are read into. */
  readonly buffers: Buffers;
  /**
   * The byte where a line begins. Throws CANCELLED, and TOO_LARGE with the line it got to when the time is over; a next
   * call goes on from there.
   */
  find(file: TextFile, line: number, patience: Patience): Promise<Found>;
  /** How many lines a file has, if that is known without reading it. */
  linesOf(file: TextFile): number | undefined;
}

/** What has been counted of one version of a file. */
interface LineIndex {
  readonly version: Version;
  /** When the file was seen to have that version: before anything of it was counted. */
  readonly seenAt: number;
  readonly encoding: Encoding;
  /** Bytes from one mark to the next. */
  readonly stride: number;
  /** Line feeds before each mark. */
  readonly marks: number[];
  /** Line feeds before byte `reached`; there may be more behind it. */
  feeds: number;
  reached: number;
  /** Of the whole file, once it has been counted to its end. */
  lines: number | undefined;
  /** One counts at a time, for all. */
  readonly turns: Turns;
  waiting: number;
}

/** What is counted at once: the smallest stride. */
const blockBytes = 64 * 1024;
/** With 8 bytes a mark, all indexes together take 256 KB at most. */
const mostMarks = 2048;
const mostFiles = 16;
/** What one counts while others wait: some 4 ms. */
const turnBytes = 16 * 1024 * 1024;

/** Remembers the files that were looked into last. */
export function createLineIndexes(): LineIndexes {
  const indexes = new Map<string, LineIndex>();
  const buffers = createBuffers();

  function kept({ encoding, opened: { stat } }: Large): LineIndex | undefined {
    const index = indexes.get(keyOf(stat));
    if (!index || !sameVersion(index.version, stat)) return undefined;
    return sameFeeds(index.encoding, encoding) ? index : undefined;
  }

  function keep(index: LineIndex): void {
    const key = keyOf(index.version);
    indexes.delete(key);
    indexes.set(key, index);
    const [oldest] = indexes.keys();
    if (indexes.size > mostFiles && oldest !== undefined) indexes.delete(oldest);
  }

  function forget(index: LineIndex): void {
    if (indexes.get(keyOf(index.version)) === index) indexes.delete(keyOf(index.version));
  }

  return {
    buffers,
    linesOf: (file) => (isLarge(file) ? kept(file)?.lines : linesIn(file)),
    async find(file, line, patience) {
      if (line === 1) return { start: file.encoding.mark };
      if (!isLarge(file)) return findIn(file, line);
      const earlier = kept(file);
      const index = earlier ?? emptyIndex(file);
      // Others that look into the same file at the same time share the work.
      if (settled(index.version, index.seenAt)) keep(index);
      const unchanged = async () => {
        const same = sameVersion(index.version, await file.opened.handle.stat());
        if (!same) forget(index);
        return same;
      };
      const found = await seek(file, line, index, patience, buffers).catch(async (error: unknown) => {
        await unchanged();
        throw error;
      });
      if ((await unchanged()) || !earlier) return found;
      // It was changed after it was opened: nothing that was known of it counts any more.
      return seek(file, line, emptyIndex(file), patience, buffers);
    },
  };
}

type Large = TextFile & { readonly opened: Opened };

const isLarge = (file: TextFile): file is Large => file.opened !== undefined && file.head.length < file.size;

/** A file, not a version: an older one of the same file is of no use. */
const keyOf = ({ dev, ino }: Version): string => `${dev}:${ino}`;

/** Whether a line feed looks alike in both. */
const sameFeeds = (a: Encoding, b: Encoding): boolean =>
  a.unit === b.unit && (a.unit === 1 || a.label === b.label);

function emptyIndex({ size, encoding, opened: { stat } }: Large): LineIndex {
  let stride = blockBytes;
  while (size / stride > mostMarks) stride *= 2;
  return {
    version: versionOf(stat),
    seenAt: Date.now(),
    encoding,
    stride,
    marks: [0],
    feeds: 0,
    reached: 0,
    lines: undefined,
    turns: createTurns(1),
    waiting: 0,
  };
}

async function seek(
  file: Large,
  line: number,
  index: LineIndex,
  patience: Patience,
  buffers: Buffers,
): Promise<Found> {
  // A line begins after as many line feeds as there are lines before it.
  const wanted = line - 1;
  for (;;) {
    if (index.feeds >= wanted) return within(file, wanted, index, patience, buffers);
    if (index.lines !== undefined) return { lines: index.lines };
    const found = await inTurn(index, wanted, patience, () =>
      onwards(file, wanted, index, patience, buffers),
    );
    if (found) return found;
  }
}

/** Does nothing but wait when somebody else is counting, who may have come far enough then. */
async function inTurn<T>(index: LineIndex, wanted: number, patience: Patience, task: () => Promise<T>) {
  const counted = index.reached;
  index.waiting++;
  const timeoutMs = Math.max(0, patience.untilMs - performance.now());
  const end = await index.turns.take({ signal: patience.signal, timeoutMs });
  index.waiting--;
  if (!end) throw givenUp(patience, wanted, index.feeds, index.reached);
  try {
    return index.reached === counted ? await task() : undefined;
  } finally {
    end();
  }
}

/** Looks for what has been counted already, from the last mark before it. */
async function within(
  file: Large,
  wanted: number,
  { marks, stride, reached }: LineIndex,
  patience: Patience,
  buffers: Buffers,
): Promise<Found> {
  const mark = lastBelow(marks, wanted);
  let feeds = marks[mark] ?? 0;
  const from = mark * stride;
  const to = Math.min(from + stride, reached);
  for await (const { bytes, position } of chunksOf(file.opened.handle, from, to, buffers)) {
    if (position > from) hurry(patience, wanted, feeds, position);
    for (const { block, at } of blocksOf(bytes, position)) {
      const here = feedsIn(block, file.encoding, false);
      if (feeds + here >= wanted)
        return foundAt(file, at + afterFeed(block, wanted - feeds, file.encoding), wanted);
      feeds += here;
    }
  }
  // It is shorter than it was when it was counted.
  return { lines: feeds };
}

/** Counts on from where the index ends; undefined when others should have a look at how far it has come. */
async function onwards(
  file: Large,
  wanted: number,
  index: LineIndex,
  patience: Patience,
  buffers: Buffers,
): Promise<Found | undefined> {
  const { encoding, size, opened } = file;
  const from = index.reached;
  let dense = false;
  let endsLine = false;
  for await (const { bytes, position } of chunksOf(opened.handle, from, size, buffers)) {
    if (index.waiting > 0 && position - from >= turnBytes) return undefined;
    // Each call gets on by a chunk at least, however late it is.
    if (position > from) hurry(patience, wanted, index.feeds, position);
    for (const { block, at } of blocksOf(bytes, position)) {
      const here = feedsIn(block, encoding, dense);
      if (index.feeds + here >= wanted)
        return foundAt(file, at + afterFeed(block, wanted - index.feeds, encoding), wanted);
      // To search for one costs as much as to look at some 14 bytes.
      dense = here > block.length / 14;
      endsLine = feedsIn(block.subarray(-encoding.unit), encoding, true) > 0;
      index.feeds += here;
      index.reached = at + block.length;
      if (index.reached % index.stride === 0) index.marks.push(index.feeds);
      if (index.reached === size) index.lines = index.feeds + (endsLine ? 0 : 1);
    }
  }
  // Without an end it has been shortened while it was read.
  return { lines: index.lines ?? index.feeds };
}

function* blocksOf(bytes: Buffer, position: number) {
  for (let at = 0; at < bytes.length; at += blockBytes)
    yield { block: bytes.subarray(at, at + blockBytes), at: position + at };
}

/** The last index whose value is below; the values rise. */
function lastBelow(values: readonly number[], limit: number): number {
  let [low, high] = [0, values.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((values[middle] ?? Infinity) < limit) low = middle;
    else high = middle;
  }
  return low;
}

/** A line feed at the very end ends the last line and begins no other. */
const foundAt = ({ size }: TextFile, start: number, feeds: number): Found =>
  start < size ? { start } : { lines: feeds };

/** A file that is in memory. */
function findIn(file: TextFile, line: number): Found {
  const { head, encoding } = file;
  let start: number = encoding.mark;
  for (let reached = 1; reached < line; reached++) {
    const next = nextLine(head, start, encoding);
    // A text can be nothing but a byte order mark.
    if (next === -1 || next >= head.length) return { lines: start < head.length ? reached : 0 };
    start = next;
  }
  return { start };
}

const linesIn = (file: TextFile): number => {
  const found = findIn(file, Infinity);
  return 'lines' in found ? found.lines : 0;
};

function hurry(patience: Patience, wanted: number, feeds: number, byte: number): void {
  if (patience.signal.aborted || performance.now() > patience.untilMs)
    throw givenUp(patience, wanted, feeds, byte);
}

function givenUp({ signal }: Patience, wanted: number, feeds: number, byte: number): ToolcribError {
  if (signal.aborted) return new ToolcribError('CANCELLED', 'The call was cancelled.');
  const goal = wanted === Infinity ? 'The end' : `Line ${wanted + 1}`;
  return new ToolcribError(
    'TOO_LARGE',
    `${goal} was not reached in time; byte ${byte} is in line ${feeds + 1}.`,
    `The same call again goes on from there. Or read on with bytes {"from": ${byte}}, or the end with tail.`,
  );
}
