import { isLineStart } from '../text/line-endings.ts';
import type { Span } from '../editing/spans.ts';
import { nextLine, type Encoding } from '../text/text-file.ts';

/** Lines that are looked at after a difference, to find one that both texts have: more each time none is found. */
const windows = [16, 128, 1024];
const windowBytes = 128 * 1024;
/** More differences are not told apart: what follows is one. */
const mostSpans = 500;
/** A line shorter than that is in every text. */
const leastCharacters = 6;

/**
 * Where two texts differ, told by comparing bytes and by the next line that both have after a difference. Not the fewest
 * differences there can be, but found in a time that hardly depends on what the texts have in common.
 */
export function changedSpans(before: Buffer, now: Buffer, encoding: Encoding): Span[] {
  const spans: Span[] = [];
  let [at, nowAt] = [0, 0];
  for (;;) {
    const same = commonPrefix(before, at, now, nowAt);
    at += same;
    nowAt += same;
    if (at === before.length && nowAt === now.length) return spans;
    const [from, nowFrom] = [at - (at % encoding.unit), nowAt - (nowAt % encoding.unit)];
    const next = spans.length < mostSpans ? nextInBoth(before, from, now, nowFrom, encoding) : undefined;
    if (!next) {
      const end = commonSuffix(before, from, now, nowFrom);
      const even = end - (end % encoding.unit);
      spans.push({ from, to: before.length - even, nowFrom, nowTo: now.length - even });
      return spans;
    }
    spans.push({ from, to: next.at, nowFrom, nowTo: next.nowAt });
    at = next.at;
    nowAt = next.nowAt;
  }
}

const chunkBytes = 16 * 1024;

/** How many bytes are the same from two places on. */
export function commonPrefix(one: Buffer, from: number, other: Buffer, otherFrom: number): number {
  const most = Math.min(one.length - from, other.length - otherFrom);
  let same = 0;
  for (let chunk = 64; same < most; chunk = Math.min(2 * chunk, chunkBytes)) {
    const length = Math.min(chunk, most - same);
    const [start, otherStart] = [from + same, otherFrom + same];
    if (one.compare(other, otherStart, otherStart + length, start, start + length) !== 0) break;
    same += length;
  }
  while (same < most && one[from + same] === other[otherFrom + same]) same++;
  return same;
}

function commonSuffix(one: Buffer, from: number, other: Buffer, otherFrom: number): number {
  const most = Math.min(one.length - from, other.length - otherFrom);
  let same = 0;
  for (let chunk = 64; same < most; chunk = Math.min(2 * chunk, chunkBytes)) {
    const length = Math.min(chunk, most - same);
    const [end, otherEnd] = [one.length - same, other.length - same];
    if (one.compare(other, otherEnd - length, otherEnd, end - length, end) !== 0) break;
    same += length;
  }
  while (same < most && one[one.length - same - 1] === other[other.length - same - 1]) same++;
  return same;
}

/** The nearest line after a difference that both texts have. */
function nextInBoth(before: Buffer, at: number, now: Buffer, nowAt: number, encoding: Encoding) {
  for (const count of windows) {
    const lines = linesAfter(before, at, count, encoding);
    const nowLines = linesAfter(now, nowAt, count, encoding);
    const known = new Map<string, number>();
    for (const [index, { text }] of nowLines.entries()) if (!known.has(text)) known.set(text, index);
    let best: { at: number; nowAt: number; cost: number } | undefined;
    for (const [index, line] of lines.entries()) {
      if (best && index >= best.cost) break;
      const other = known.get(line.text);
      const found = other === undefined ? undefined : nowLines[other];
      if (other === undefined || !found || (best && index + other >= best.cost)) continue;
      best = { at: line.start, nowAt: found.start, cost: index + other };
    }
    if (best) return best;
    if (lines.length < count && nowLines.length < count) return undefined;
  }
  return undefined;
}

/** Some lines that begin after a byte, without those that are too short to tell them from others. */
function linesAfter(bytes: Buffer, from: number, count: number, encoding: Encoding) {
  const lines: { text: string; start: number }[] = [];
  const part = bytes.subarray(0, from + windowBytes);
  const isStart = from > 0 && isLineStart(part, from, encoding);
  let start = isStart ? from : nextLine(part, from, encoding);
  for (let seen = 0; start !== -1 && seen < count; seen++) {
    const end = nextLine(part, start, encoding);
    if (end === -1) break;
    if (end - start >= leastCharacters * encoding.unit)
      lines.push({ text: part.toString('latin1', start, end), start });
    start = end;
  }
  return lines;
}
