import { ToolcribError } from '../../core/errors.ts';
import { countLines } from '../text/line-count.ts';
import { nextLine } from '../text/text-file.ts';
import { sameVersion, settled, versionOf, type Version } from '../unchanged.ts';
import { readAt, type TextFile } from './text-source.ts';

/** Where a line begins, or how many lines there are when there are fewer. */
export type Found = { readonly start: number } | { readonly lines: number };

/** What finding lines needs of a call. */
export interface Search {
  readonly lines: LineIndexes;
  readonly signal: AbortSignal;
}

/** Where lines are in large files, as far as they have been looked at. */
export interface LineIndexes {
  /**
   * The byte where a line begins. Throws CANCELLED, and TOO_LARGE with the line it got to when the time is over; a next
   * call goes on from there.
   */
  find(file: TextFile, line: number, signal: AbortSignal): Promise<Found>;
}

interface LineIndex {
  readonly version: Version;
  readonly label: string;
  /** Line feeds before each mark. */
  readonly feeds: number[];
}

/** Bytes from one mark to the next: a file of 30 GB has 30,000. */
const stride = 1024 * 1024;
const mostFiles = 16;
/** How long to look for a far line: the call must answer before its client gives up. */
const searchMs = 20_000;

/** Remembers the files that were looked into last. */
export function createLineIndexes(): LineIndexes {
  const indexes = new Map<string, LineIndex>();

  function indexOf({ encoding: { label }, stat }: TextFile): LineIndex {
    const key = `${stat.dev}:${stat.ino}`;
    const kept = indexes.get(key);
    const isSame = kept?.label === label && sameVersion(kept.version, stat);
    const index = isSame ? kept : { version: versionOf(stat), label, feeds: [0] };
    indexes.delete(key);
    // What was changed just now can be changed again without its times showing it.
    if (settled(stat, Date.now())) indexes.set(key, index);
    const [oldest] = indexes.keys();
    if (indexes.size > mostFiles && oldest !== undefined) indexes.delete(oldest);
    return index;
  }

  return {
    async find(file, line, signal) {
      const { encoding, size, head } = file;
      if (line === 1) return { start: encoding.mark };
      if (head.length === size) return within(file, head, 0, line - 1) ?? { lines: linesIn(file, head, 0) };
      const endsAt = performance.now() + searchMs;
      const { feeds } = indexOf(file);
      const wanted = line - 1;
      let mark = Math.max(
        0,
        feeds.findLastIndex((before) => before < wanted),
      );
      for (; mark * stride < size; mark++) {
        const [position, before = 0] = [mark * stride, feeds[mark]];
        if (signal.aborted || performance.now() > endsAt) throw givenUp(signal, line, before, position);
        const bytes = await readAt(file, position, stride);
        const here = countLines(bytes, 0, bytes.length, encoding);
        if (before + here >= wanted)
          return within(file, bytes, position, wanted - before) ?? { lines: wanted };
        if (position + bytes.length >= size || bytes.length < stride)
          return { lines: linesIn(file, bytes, before) };
        feeds[mark + 1] = before + here;
      }
      return { lines: feeds.at(-1) ?? 0 };
    },
  };
}

/** Where the line after some line feeds begins; undefined when none does: one at the very end begins no other line. */
function within(
  { encoding, size }: TextFile,
  bytes: Buffer,
  position: number,
  feeds: number,
): Found | undefined {
  let at = 0;
  for (let seen = 0; seen < feeds; seen++) {
    at = nextLine(bytes, at, encoding);
    if (at === -1 || position + at >= size) return undefined;
  }
  return { start: position + at };
}

/** Lines of a text whose last bytes these are. */
function linesIn({ encoding }: TextFile, bytes: Buffer, before: number): number {
  const feeds = countLines(bytes, 0, bytes.length, encoding);
  const last = bytes.subarray(-encoding.unit);
  const isEnded = bytes.length <= encoding.mark || nextLine(last, 0, encoding) !== -1;
  return before + feeds + (isEnded ? 0 : 1);
}

function givenUp(signal: AbortSignal, line: number, feeds: number, byte: number): ToolcribError {
  if (signal.aborted) return new ToolcribError('CANCELLED', 'The call was cancelled.');
  return new ToolcribError(
    'TOO_LARGE',
    `${line === Infinity ? 'The end' : `Line ${line}`} was not reached in time; byte ${byte} is in line ${feeds + 1}.`,
    `The same call again goes on from there. Or read on with bytes {"from": ${byte}}, or the end with tail.`,
  );
}
