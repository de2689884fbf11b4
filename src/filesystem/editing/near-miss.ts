import { ToolcribError } from '../../core/errors.ts';
import type { Pause } from './edit-pace.ts';
import { findEdit, withLf } from './find-edit.ts';
import { shownText, wholeCharacters } from '../text/exact-encoding.ts';
import { countLines } from '../text/line-count.ts';
import { lineStart } from '../text/line-endings.ts';
import { nearestStart } from './nearest-lines.ts';
import { occurrences } from './occurrences.ts';
import { shownDifference } from './shown-difference.ts';
import type { Encoding } from '../text/text-file.ts';

/** What to tell of a text that was not found. */
export interface Why {
  readonly words: string;
  readonly wayOut: string;
}

interface Edit {
  readonly old: string;
  readonly new: string;
}

interface Where {
  readonly bytes: Buffer;
  /** The text before the first edit. */
  readonly first: Buffer;
  readonly encoding: Encoding;
  readonly pause: Pause;
}

/** More of a file is not compared line by line, only around a place that has a piece of the text. */
const comparedBytes = 1536 * 1024;
const mostWantedLines = 1000;
/** More of a text than this is neither unwrapped nor compared. */
const mostWanted = 256 * 1024;

/**
 * Says why `old` may not have been found, with the nearest text there is. Takes some 100 ms at worst, and lets others
 * work meanwhile. Throws what `pause` throws.
 */
export async function whyNotFound(edit: Edit, where: Where): Promise<Why> {
  const { bytes, encoding } = where;
  const words: string[] = [];
  if (bytes.length <= encoding.mark) return { words: 'The file is empty.', wayOut: 'Use write_file.' };
  if (await isThere(edit.new, where))
    words.push('The text of new is there already: the edit may have been made before.');
  else if (where.first !== bytes && (await isThere(edit.old, { ...where, bytes: where.first })))
    words.push('It was there until an earlier edit of this call changed it.');
  const other = await otherForm(edit.old, where);
  if (other) return { words: [...words, other].join(' '), wayOut: 'Give it as it is in the file.' };
  const nearest = await nearestText(edit.old.slice(0, mostWanted), where);
  const shown =
    nearest && (await shownDifference(nearest.wanted, nearest.lines, nearest.start, nearest.firstLine));
  if (!shown)
    return {
      words: [...words, 'Nothing in the file is like it.'].join(' '),
      wayOut: 'Read the part again, and copy old from there.',
    };
  return {
    words: [...words, shown.words].join(' '),
    wayOut: `Copy old from the lines with +.\n${shown.text}`,
  };
}

async function isThere(text: string, where: Where): Promise<boolean> {
  // One word can be there for any reason.
  if (text.trim().length < 8) return false;
  const found = await findEdit({ old: text, new: '' }, { ...where, what: 'text' }).catch((error: unknown) => {
    // Then it cannot be there.
    if (error instanceof ToolcribError && ['ENCODING', 'ARG_INVALID'].includes(error.code)) return undefined;
    throw error;
  });
  return found !== undefined && found.places.length > 0;
}

/** Ways in which a text is wrapped once too often, or once too rarely, on its way here. */
async function otherForm(old: string, where: Where): Promise<string | undefined> {
  if (old.length > mostWanted) return undefined;
  const forms: [string, string][] = [
    [unescaped(old), 'It is there with real line breaks, tabs and quotes where old has \\n, \\t or \\".'],
    [withoutEntities(old), 'It is there with < > & " where old has &lt; &gt; &amp; &quot;.'],
  ];
  for (const [text, words] of forms)
    if (text !== old && text !== '' && (await isThere(text, where))) return words;
  return undefined;
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

const unescaped = (text: string): string =>
  text.replaceAll(/\\([nrt"'\\])/g, (_, character: string) => escapes[character] ?? character);

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };

const withoutEntities = (text: string): string =>
  text.replaceAll(/&(lt|gt|quot|#39|amp);/g, (whole, name: string) => entities[name] ?? whole);

interface Nearest {
  readonly wanted: readonly string[];
  /** Lines of the file; the first of them has this number. */
  readonly lines: readonly string[];
  readonly firstLine: number;
  /** The line, of these, where the nearest text begins. */
  readonly start: number;
}

async function nearestText(old: string, where: Where): Promise<Nearest | undefined> {
  const { bytes, encoding, pause } = where;
  const wanted = withLf(old).split('\n').slice(0, mostWantedLines);
  // The end of a line is no line.
  if (wanted.length > 1 && wanted.at(-1) === '') wanted.pop();
  const piece = bytes.length > comparedBytes ? await placeOfPiece(old, where) : encoding.mark;
  const from = Math.max(
    encoding.mark,
    lineStartNear(bytes, piece - (piece === encoding.mark ? 0 : comparedBytes / 4), encoding),
  );
  const part = wholeCharacters(bytes, from, from + comparedBytes, encoding);
  const text = shownText(part, encoding.label);
  await pause(part.length / bytesPerUnit);
  const lines = text.split('\n');
  const start = nearestStart(lines, wanted) ?? lineOfPiece(text, wanted);
  if (start === undefined) return undefined;
  return { wanted, lines, start, firstLine: 1 + countLines(bytes, encoding.mark, from, encoding) };
}

function lineStartNear(bytes: Buffer, at: number, encoding: Encoding): number {
  const even = Math.max(0, at - (at % encoding.unit));
  const start = lineStart(bytes, even, encoding);
  // A line may be as long as the file.
  return even - start > comparedBytes / 4 ? even : start;
}

/** Bytes that are gone through in a microsecond. */
const bytesPerUnit = 1000;
const pieceCharacters = 16;
const mostPieces = 16;

/** Pieces of a text, from all of it, that are more than blanks. */
function piecesOf(text: string): string[] {
  const step = Math.max(pieceCharacters, Math.floor(text.length / mostPieces));
  const pieces: string[] = [];
  for (let at = 0; at + 4 < text.length && pieces.length < mostPieces; at += step) {
    const piece = text.slice(at, at + pieceCharacters).trim();
    if (piece.length >= 6 && !piece.includes('\n')) pieces.push(piece);
  }
  return pieces.sort((one, other) => other.length - one.length);
}

/** Where the first piece of a text is that occurs in the file; the beginning when none does. */
async function placeOfPiece(old: string, { bytes, encoding, pause }: Where): Promise<number> {
  for (const piece of piecesOf(old)) {
    const wanted =
      encoding.unit === 1
        ? Buffer.from(piece, encoding.label === 'utf-8' ? 'utf8' : 'latin1')
        : Buffer.from(piece, 'utf16le');
    if (encoding.label === 'utf-16be') wanted.swap16();
    for (const at of occurrences(bytes, wanted, encoding.mark)) return at;
    await pause(bytes.length / bytesPerUnit);
  }
  return encoding.mark;
}

/** The line, most often a very long one, that has a piece of the lines. */
function lineOfPiece(text: string, wanted: readonly string[]): number | undefined {
  for (const piece of piecesOf(wanted.join('\n'))) {
    const at = text.indexOf(piece);
    if (at !== -1) return text.slice(0, at).split('\n').length - 1;
  }
  return undefined;
}
