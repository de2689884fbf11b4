/** Some text to replace. */
export interface Edit {
  readonly old: string;
  readonly new: string;
  /** Whether every place is replaced; else there has to be one. */
  readonly all?: boolean | undefined;
  /** Only whole lines are meant. */
  readonly isLines?: boolean;
  /** Lines that stand above the place, one below the other: the first place below them is meant. */
  readonly below?: readonly string[];
}

/** Some text that is to take the place of another. */
export interface Match {
  readonly old: string;
  readonly new: string;
  /** Where `old` is, from the beginning, none in another. */
  readonly places: readonly Place[];
  /** Whether it is also where it overlaps itself. */
  readonly overlaps: boolean;
  /** Whether there are more, which were not counted. */
  readonly more: boolean;
  /** Whether LF means any line ending; else each line ends as given. */
  readonly anyEnding: boolean;
  readonly note?: string;
}

export interface Place {
  readonly from: number;
  readonly to: number;
}

/** More places than this are not counted, unless more are expected. */
const mostCounted = 10_000;

/**
 * Finds `old` in a text, `expected` times or once. A line feed in it matches any line ending of the text; a carriage
 * return only itself, unless the text has none there.
 */
export function findText(text: string, old: string, fresh: string, expected = 0): Match {
  const most = Math.max(mostCounted, expected);
  if (!old.includes('\r'))
    return old.includes('\n') && text.includes('\r\n')
      ? findUnified(text, old, fresh, most)
      : { old, new: fresh, anyEnding: true, ...placesOf(text, old, most) };
  const exact = { old, new: fresh, anyEnding: false, ...placesOf(text, old, most) };
  if (exact.places.length > 0 || !old.includes('\r\n')) return exact;
  return {
    ...findUnified(text, withLf(old), withLf(fresh), most),
    note: 'CRLF was given; the line endings of the file were kept',
  };
}

export const withLf = (text: string): string => text.replaceAll('\r\n', '\n');

function placesOf(text: string, wanted: string, most: number) {
  const places: Place[] = [];
  let at = text.indexOf(wanted);
  // Only where it begins within itself: the rest is searched once, below.
  const overlaps = at !== -1 && text.slice(at + 1, at + 2 * wanted.length - 1).includes(wanted);
  while (at !== -1 && places.length < most) {
    places.push({ from: at, to: at + wanted.length });
    at = text.indexOf(wanted, at + wanted.length);
  }
  return { places, more: at !== -1, overlaps };
}

/** Searches with LF for every CRLF. */
function findUnified(text: string, old: string, fresh: string, most: number): Match {
  /** Where in the unified text a carriage return was left out. */
  const left: number[] = [];
  for (let at = text.indexOf('\r\n'); at !== -1; at = text.indexOf('\r\n', at + 2))
    left.push(at - left.length);
  const { places, ...rest } = placesOf(withLf(text), old, most);
  let before = 0;
  // Asked for ascending places.
  const original = (at: number) => {
    while ((left[before] ?? Infinity) < at) before++;
    return at + before;
  };
  return {
    old,
    new: fresh,
    anyEnding: true,
    ...rest,
    places: places.map(({ from, to }) => ({ from: original(from), to: original(to) })),
  };
}
