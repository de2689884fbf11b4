import { encodeExactly, characterStarts } from '../text/exact-encoding.ts';
import type { Pause } from './edit-pace.ts';
import {
  hasMacLines,
  hasReturns,
  isLineStart,
  withUnifiedLines,
  type Unified,
} from '../text/line-endings.ts';
import { occurrences } from './occurrences.ts';
import type { Match } from './replacement.ts';
import { nextLine, type Encoding } from '../text/text-file.ts';

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
  /** Also those that overlap. */
  readonly overlapping: number;
  /** Whether there may be more, which were not counted. */
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

/** What is searched, and how. */
export interface Look {
  readonly bytes: Buffer;
  readonly encoding: Encoding;
  readonly pause: Pause;
  /** Names `old` in errors. */
  readonly what: string;
}

/**
 * Finds `old` in a text. A line feed in it matches any line ending of the text; a carriage return only itself, unless
 * the text has none there. Throws what encodeExactly() and `pause` throw.
 */
export async function findEdit(edit: Wanted, look: Look): Promise<Found> {
  const blind = hasReturns(look.bytes, look.encoding);
  const { all } = edit;
  if (edit.old.includes('\r')) {
    const exact = await search({ ...edit, anyEnding: false }, all, look);
    if (exact.places.length > 0 || !edit.old.includes('\r\n')) return exact;
    const unified = { old: withLf(edit.old), new: withLf(edit.new), anyEnding: true };
    const found = await search(unified, all, look, blind);
    return { ...found, notes: ['CRLF was given; the line endings of the file were kept'] };
  }
  return search(
    { old: edit.old, new: edit.new, anyEnding: blind },
    all,
    look,
    blind && edit.old.includes('\n'),
  );
}

export const withLf = (text: string): string => text.replaceAll('\r\n', '\n');

async function search(match: Match, all: number | undefined, look: Look, unified = false): Promise<Found> {
  const wanted = await encodeExactly(match.old, look.encoding.label, look.what);
  const parts = unified ? unifiedParts(look, wanted, match.old) : plainParts(look, wanted);
  return { match, notes: [], ...(await collect(wanted, parts, all, look)) };
}

/** A part of a text as it is searched, and what begins in it is one of its occurrences. */
interface Part extends Unified {
  /** Where it begins in the text, and where those begin that the next part has. */
  readonly start: number;
  readonly end: number;
}

/** Others can work between two parts: to search one takes some milliseconds. */
const partBytes = 4 * 1024 * 1024;
/** To take the carriage returns out of lines takes longer. */
const unifiedBytes = 1024 * 1024;

function* plainParts({ bytes, encoding }: Look, wanted: Buffer): Generator<Part> {
  const step = Math.max(partBytes, wanted.length);
  for (let start: number = encoding.mark; start < bytes.length; start += step) {
    const end = start + step;
    yield { start, end, bytes: bytes.subarray(start, end + wanted.length - 1), original: (at) => at };
  }
}

/** With LF for every line ending. No part begins within one. */
function* unifiedParts({ bytes, encoding }: Look, wanted: Buffer, old: string): Generator<Part> {
  const { unit, mark } = encoding;
  const isMac = hasMacLines(bytes, encoding);
  const step = Math.max(unifiedBytes, wanted.length + (wanted.length % unit));
  // Each line feed may stand for two characters; one more, so that none is cut at the end.
  const longest = wanted.length + unit * old.split('\n').length;
  for (let [start, end] = [mark as number, 0]; start < bytes.length; start = end) {
    end = start + step;
    if (isLineStart(bytes, end + unit, encoding)) end += unit;
    const part = bytes.subarray(start, end + longest);
    const within = { ...encoding, mark: 0 } as const;
    // Without a line feed it would look as if lines ended with carriage returns alone.
    const isPlain = !isMac && nextLine(part, 0, within) === -1;
    const unified = isPlain ? { bytes: part, original: (at: number) => at } : withUnifiedLines(part, within);
    yield { start, end, ...unified };
  }
}

async function collect(wanted: Buffer, parts: Iterable<Part>, all: number | undefined, look: Look) {
  const { bytes, encoding, pause } = look;
  const starts = characterStarts(bytes, encoding);
  const places: Place[] = [];
  const limit = Math.max(mostCounted, all ?? 0);
  let [overlapping, last] = [0, 0];
  for (const part of parts) {
    for (const at of occurrences(part.bytes, wanted)) {
      const from = part.start + part.original(at);
      if (from >= part.end) break;
      const resting = pause(1);
      if (resting) await resting;
      if (!starts(from)) continue;
      // Those that overlap are only told; who says how often wants to know of the others.
      if (all === undefined && overlapping === limit) return { places, overlapping, more: true };
      overlapping++;
      if (from < last) continue;
      if (places.length === limit) return { places, overlapping, more: true };
      last = part.start + part.original(at + wanted.length);
      places.push({ from, to: last });
    }
    const resting = pause(part.bytes.length / bytesPerUnit);
    if (resting) await resting;
  }
  return { places, overlapping, more: false };
}

/** Bytes that are searched in a microsecond. */
const bytesPerUnit = 1000;
