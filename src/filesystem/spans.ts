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
