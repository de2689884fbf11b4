import { countLines } from '../text/line-count.ts';
import { isLineStart, lineStart } from '../text/line-endings.ts';
import { changedLines } from './line-script.ts';
import type { Span } from '../editing/spans.ts';
import { nextLine, type Encoding } from '../text/text-file.ts';

/** Whole lines of a text, and those that stand in their place now. */
export interface Block extends Span {
  readonly removed: number;
  readonly added: number;
}

/** Of longer parts, lines are not compared one by one: all of it is one block. */
const comparedBytes = 256 * 1024;

/** The lines that differ, where bytes do. */
export async function changedBlocks(
  before: Buffer,
  now: Buffer,
  spans: readonly Span[],
  encoding: Encoding,
): Promise<Block[]> {
  const blocks: Block[] = [];
  for (const part of wholeLines(before, now, spans, encoding)) {
    for (const block of wholeBlock(before, now, part, encoding) ??
      (await blocksIn(before, now, part, encoding))) {
      const last = blocks.at(-1);
      const touches = last?.to === block.from && last.nowTo === block.nowFrom;
      if (touches) blocks.pop();
      blocks.push(touches ? joined(last, block) : block);
    }
  }
  return blocks;
}

const joined = (one: Block, other: Block): Block => ({
  from: one.from,
  to: other.to,
  nowFrom: one.nowFrom,
  nowTo: other.nowTo,
  removed: one.removed + other.removed,
  added: one.added + other.added,
});

/** Spans as they begin and end with lines; those in the same line become one. */
function wholeLines(before: Buffer, now: Buffer, spans: readonly Span[], encoding: Encoding): Span[] {
  const parts: Span[] = [];
  for (const span of spans) {
    const from = lineStart(before, span.from - (span.from % encoding.unit), encoding);
    const { to, nowTo } = lineEnds(before, now, span, encoding);
    const last = parts.at(-1);
    if (last && (from < last.to || span.from < last.to)) {
      parts[parts.length - 1] = { from: last.from, to, nowFrom: last.nowFrom, nowTo };
    } else parts.push({ from, to, nowFrom: span.nowFrom - (span.from - from), nowTo });
  }
  return parts;
}

function lineEnds(before: Buffer, now: Buffer, { to, nowTo }: Span, encoding: Encoding) {
  const even = Math.min(before.length, to + (to % encoding.unit));
  const nowEven = Math.min(now.length, nowTo + (nowTo % encoding.unit));
  const ended = isLineStart(before, even, encoding) && isLineStart(now, nowEven, encoding);
  if (ended || (even === before.length && nowEven === now.length)) return { to: even, nowTo: nowEven };
  const next = nextLine(before, even, encoding);
  const end = next === -1 ? before.length : next;
  return { to: end, nowTo: nowEven + end - even };
}

/** A part in which nothing is to be found that is the same, or that is too long to look for it. */
function wholeBlock(before: Buffer, now: Buffer, part: Span, encoding: Encoding): Block[] | undefined {
  const { from, to, nowFrom, nowTo } = part;
  const removed = linesIn(before, from, to, encoding);
  const added = linesIn(now, nowFrom, nowTo, encoding);
  if (removed + added === 0) return [];
  const tooLong = to - from + nowTo - nowFrom > comparedBytes;
  const whole = removed === 0 || added === 0 || (removed === 1 && added === 1) || tooLong;
  return whole ? [{ from, to, nowFrom, nowTo, removed, added }] : undefined;
}

async function blocksIn(before: Buffer, now: Buffer, part: Span, encoding: Encoding): Promise<Block[]> {
  const lines = splitLines(before, part.from, part.to, encoding);
  const nowLines = splitLines(now, part.nowFrom, part.nowTo, encoding);
  const starts = startsOf(lines, part.from);
  const nowStarts = startsOf(nowLines, part.nowFrom);
  return (await changedLines(lines, nowLines)).map(({ from, to, nowFrom, nowTo }) => ({
    from: starts[from] ?? 0,
    to: starts[to] ?? 0,
    nowFrom: nowStarts[nowFrom] ?? 0,
    nowTo: nowStarts[nowTo] ?? 0,
    removed: to - from,
    added: nowTo - nowFrom,
  }));
}

/** Lines between two bytes where lines begin or the text ends; the last one may have no line feed. */
export function linesIn(bytes: Buffer, from: number, to: number, encoding: Encoding): number {
  if (from === to) return 0;
  const ended = isLineStart(bytes, to, encoding);
  return countLines(bytes, from, to, encoding) + (ended ? 0 : 1);
}

/** Lines with their endings; one character for each byte, so that nothing gets lost. */
function splitLines(bytes: Buffer, from: number, to: number, encoding: Encoding): string[] {
  const part = bytes.subarray(0, to);
  const lines: string[] = [];
  for (let at = from; at < to;) {
    const next = nextLine(part, at, encoding);
    const end = next === -1 ? to : next;
    lines.push(part.toString('latin1', at, end));
    at = end;
  }
  return lines;
}

function startsOf(lines: readonly string[], from: number): number[] {
  const starts = [from];
  for (const line of lines) starts.push((starts.at(-1) ?? 0) + line.length);
  return starts;
}
