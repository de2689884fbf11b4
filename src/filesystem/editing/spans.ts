import { encodingIn, nextLine } from '../text/text-file.ts';

/** Bytes `from` to `to` of a text have become `nowFrom` to `nowTo`; what lies between two spans is the same. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly nowFrom: number;
  readonly nowTo: number;
}

/** What two changes, one after the other, have changed together. Spans that touch become one. */
export function composed(first: readonly Span[], second: readonly Span[]): Span[] {
  if (first.length === 0) return [...second];
  const spans: Span[] = [];
  let [one, two] = [0, 0];
  /** How far what comes after the spans so far has been moved by each of the changes. */
  let [firstShift, secondShift] = [0, 0];
  while (one < first.length || two < second.length) {
    const start = Math.min(first[one]?.nowFrom ?? Infinity, second[two]?.from ?? Infinity);
    const [from, nowFrom] = [start - firstShift, start + secondShift];
    let end = start;
    for (;;) {
      const [earlier, later] = [first[one], second[two]];
      if (earlier && earlier.nowFrom <= end) {
        end = Math.max(end, earlier.nowTo);
        firstShift = earlier.nowTo - earlier.to;
        one++;
      } else if (later && later.from <= end) {
        end = Math.max(end, later.to);
        secondShift = later.nowTo - later.to;
        two++;
      } else break;
    }
    spans.push({ from, to: end - firstShift, nowFrom, nowTo: end + secondShift });
  }
  return spans;
}

/**
 * Spans with no line feed between them as one: a difference is shown by lines, and for each span on its own the same long
 * line would be gone through again. Takes time in the size of the text.
 */
export function joinedInLines(spans: readonly Span[], before: Buffer, label: string): Span[] {
  const encoding = encodingIn(before, label);
  const joined: Span[] = [];
  /** Where the line begins that follows the last span, or one before. */
  let next = 0;
  for (const span of spans) {
    const last = joined.at(-1);
    if (last && next <= last.to) {
      const found = nextLine(before, last.to - (last.to % encoding.unit), encoding);
      next = found === -1 ? Infinity : found;
    }
    // A line that begins where this one does is its own.
    if (last && span.from < next) joined[joined.length - 1] = { ...last, to: span.to, nowTo: span.nowTo };
    else joined.push(span);
  }
  return joined;
}
