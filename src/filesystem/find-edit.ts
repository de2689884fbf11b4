import { encodeExactly, characterStarts } from './exact-encoding.ts';
import { hasReturns, withUnifiedLines } from './line-endings.ts';
import { occurrences } from './occurrences.ts';
import type { Match } from './replacement.ts';
import type { Encoding } from './text-file.ts';

/** Where some text is: bytes `from` to `to`. */
export interface Place {
  readonly from: number;
  readonly to: number;
}

/** How often a text occurs. */
export interface Found {
  readonly match: Match;
  /** Those that do not overlap, from the beginning. */
  readonly places: readonly Place[];
  /** All of them, also overlapping. */
  readonly overlapping: number;
  /** Whether there are more, which were not counted. */
  readonly more: boolean;
  /** What the caller should know about how it was found. */
  readonly notes: readonly string[];
}

/** More occurrences than this are not counted, unless more are expected. */
const mostCounted = 10_000;

interface Wanted {
  readonly old: string;
  readonly new: string;
  /** How many are expected. */
  readonly all?: number | undefined;
}

/**
 * Finds `old` in a text. A line feed in it matches any line ending of the text; a carriage return only itself, unless the
 * text has none there. `what` names `old` in errors, which are those of encodeExactly().
 */
export async function findEdit(
  bytes: Buffer,
  edit: Wanted,
  encoding: Encoding,
  what: string,
): Promise<Found> {
  const given = edit.old.includes('\r');
  const blind = hasReturns(bytes, encoding);
  const limit = Math.max(mostCounted, edit.all ?? 0);
  const look = { bytes, encoding, limit, what };
  if (given) {
    const exact = await search({ ...edit, anyEnding: false }, look);
    if (exact.places.length > 0 || !edit.old.includes('\r\n')) return exact;
    const unified = { old: withLf(edit.old), new: withLf(edit.new), anyEnding: true };
    const found = blind ? await searchUnified(unified, look) : await search(unified, look);
    return { ...found, notes: ['CRLF was given; the line endings of the file were kept'] };
  }
  const match = { old: edit.old, new: edit.new, anyEnding: blind };
  return blind && edit.old.includes('\n') ? searchUnified(match, look) : search(match, look);
}

export const withLf = (text: string): string => text.replaceAll('\r\n', '\n');

interface Look {
  readonly bytes: Buffer;
  readonly encoding: Encoding;
  readonly limit: number;
  readonly what: string;
}

async function search(match: Match, look: Look): Promise<Found> {
  const wanted = await encodeExactly(match.old, look.encoding.label, look.what);
  return { match, notes: [], ...collect(wanted, look) };
}

async function searchUnified(match: Match, look: Look): Promise<Found> {
  const { bytes, original } = withUnifiedLines(look.bytes, look.encoding);
  const found = await search(match, { ...look, bytes });
  const places = found.places.map(({ from, to }) => ({ from: original(from), to: original(to) }));
  return { ...found, places };
}

function collect(wanted: Buffer, { bytes, encoding, limit }: Look) {
  const starts = characterStarts(bytes, encoding);
  const places: Place[] = [];
  let [overlapping, end] = [0, 0];
  for (const from of occurrences(bytes, wanted, encoding.mark)) {
    if (!starts(from)) continue;
    overlapping++;
    if (from < end) continue;
    if (places.length === limit) return { places, overlapping, more: true };
    end = from + wanted.length;
    places.push({ from, to: end });
  }
  return { places, overlapping, more: false };
}
