import { ToolcribError } from '../../core/errors.ts';
import { lineAt } from '../text/line-numbers.ts';
import { around, differenceAt, visibleLine } from '../text/visible-line.ts';
import type { EditableText } from './editable-text.ts';
import { findText, withLf } from './find-text.ts';

/** An edit whose `old` is not in the text. */
interface Miss {
  readonly edit: { readonly old: string; readonly new: string };
  readonly file: EditableText;
  /** The form of the text as the edits before have left it. */
  readonly text: string;
  pause(): Promise<void>;
}

/** More of a file is not compared line by line, only around a place that has a piece of the text. */
const compared = 1536 * 1024;
/** More of a text than this is not compared. */
const mostWanted = 256 * 1024;
const mostWantedLines = 1000;
/** Characters of a line, and lines, that are shown. */
const lineCharacters = 200;
const mostShown = 24;
/** Lines more than were given that are looked at, since some may be missing in what was given. */
const margin = 8;

/** Says why `old` may not have been found, with the nearest text there is, and what to do. Takes 100 ms at worst. */
export async function whyNotFound(miss: Miss): Promise<{ words: string; wayOut: string }> {
  const { edit, text, file, pause } = miss;
  if (text === '') return { words: 'The file is empty.', wayOut: 'Use write_file.' };
  const words: string[] = [];
  await pause();
  if (text !== file.form && (await isThere({ ...miss, text: file.form }, edit.old)))
    words.push('It was there until an earlier edit of this call changed it.');
  await pause();
  const nearest = await nearestText(miss);
  return {
    words: [...words, nearest?.words ?? 'Nothing in the file is like it.'].join(' '),
    wayOut: nearest
      ? `Copy old_string from the lines with +.\n${nearest.text}`
      : 'Read the part again, and copy old_string from there.',
  };
}

async function isThere({ text, file }: Miss, wanted: string): Promise<boolean> {
  const form = await formOf(file, wanted);
  return form !== undefined && findText(text, form, '').places.length > 0;
}

/** Undefined for what cannot be in the file, since its encoding lacks it. */
const formOf = (file: EditableText, text: string): Promise<string | undefined> =>
  file.encode(text, 'text').catch((error: unknown) => {
    if (error instanceof ToolcribError) return undefined;
    throw error;
  });

/** The lines that have most of those that were given; without any, those around a piece of the text. */
async function nearestText(miss: Miss): Promise<{ words: string; text: string } | undefined> {
  const { edit, text, file } = miss;
  const old = edit.old.slice(0, mostWanted);
  const wanted = withLf(old).split('\n').slice(0, mostWantedLines);
  // The end of a line is no line.
  if (wanted.length > 1 && wanted.at(-1) === '') wanted.pop();
  const anchor = await placeOfPiece(miss, old);
  // From the beginning of a line on, or of a place before in a very long one.
  const near = text.length > compared ? Math.max(0, (anchor ?? 0) - compared / 4) : 0;
  const from = near === 0 ? 0 : Math.max(text.lastIndexOf('\n', near) + 1, near - compared / 4);
  const lines = file.show(text.slice(from, from + compared)).split('\n');
  const first = lineAt(text, from);
  const start =
    nearestStart(lines, wanted) ?? (anchor === undefined ? undefined : lineAt(text, anchor) - first);
  if (start === undefined) return undefined;
  const rows = await differenceRows(wanted, lines, start, first + start);
  const left = rows.splice(mostShown).length;
  const legend = '(- as given, + as in the file; · is a blank, → a tab, ␍ a carriage return)';
  return {
    words: `The nearest begins at line ${first + start}.`,
    text: [legend, ...rows, ...(left > 0 ? [`… ${left} more lines`] : [])].join('\n'),
  };
}

const pieceCharacters = 16;
const mostPieces = 16;

/** Where the first piece of a text is, of some from all of it that are more than blanks, that occurs in the file. */
async function placeOfPiece({ text, file }: Miss, old: string): Promise<number | undefined> {
  const step = Math.max(pieceCharacters, Math.floor(old.length / mostPieces));
  for (let from = 0; from < step * mostPieces; from += step) {
    const piece = old.slice(from, from + pieceCharacters).trim();
    if (piece.length < 6 || piece.includes('\n')) continue;
    const form = await formOf(file, piece);
    const at = form === undefined ? -1 : text.indexOf(form);
    if (at !== -1) return at;
  }
  return undefined;
}

/** The line, from 0, where most of the given lines would begin, by their length; undefined when none is there. */
function nearestStart(text: readonly string[], wanted: readonly string[]): number | undefined {
  const indexes = new Map(wanted.map((line, index) => [folded(line), index] as const).toReversed());
  const votes = new Map<number, number>();
  for (const [at, line] of text.entries()) {
    const key = folded(line);
    const index = indexes.get(key);
    if (index !== undefined && key !== '') votes.set(at - index, (votes.get(at - index) ?? 0) + key.length);
  }
  const [best] = [...votes].sort(([, one], [, other]) => other - one);
  return best && Math.max(0, best[0]);
}

/** A line without what is given wrongly most often: blanks, forms of quotes, dashes and accents, case. */
const folded = (line: string): string =>
  line
    .slice(0, 400)
    .replaceAll(/[\s\u00ad\u200b-\u200f\u2060\ufeff]+/g, '')
    .replaceAll(/[`´"\u2018-\u201f]/g, "'")
    .replaceAll(/[\u2010-\u2015]/g, '-')
    .normalize('NFC')
    .toLowerCase();

/** How given lines differ from those of a text that begin at `start`, the first of which has the number `line`. */
async function differenceRows(
  wanted: readonly string[],
  lines: readonly string[],
  start: number,
  line: number,
) {
  const { diffArrays } = await import('diff');
  const there = lines.slice(start, start + wanted.length + margin).map((one) => one.replace(/\r$/, ''));
  // A text that begins within a line does not differ by the indentation before it.
  const indent = /^\S/.test(wanted[0] ?? '') ? (/^\s*/.exec(there[0] ?? '')?.[0] ?? '') : '';
  const given = wanted.map((one, index) => (index === 0 ? indent + one : one));
  const changes = diffArrays(given, there);
  const rows: string[] = [];
  for (const [at, { added, removed, value }] of changes.entries()) {
    const [before, after] = [changes[at - 1], changes[at + 1]];
    if (removed) {
      const others = after?.added ? after.value : [];
      rows.push(...value.map((one, index) => `- given  ${shownBeside(one, others[index])}`));
      continue;
    }
    if (added) {
      const others = before?.removed ? before.value : [];
      // At the end only as many lines as were given in their place; the others the margin has brought.
      const shown = after ? value : value.slice(0, others.length);
      rows.push(...shown.map((one, index) => `+ ${line + index}  ${shownBeside(one, others[index])}`));
    } else {
      // One line before and after what differs tells where it is.
      for (const index of new Set([...(before ? [0] : []), ...(after ? [value.length - 1] : [])]))
        rows.push(`  ${line + index}  ${around(value[index] ?? '', 0, lineCharacters)}`);
    }
    line += value.length;
  }
  return rows;
}

/** A line with what is not seen in it made visible; all of that where little else makes it differ from the other. */
const shownBeside = (line: string, other: string | undefined): string =>
  visibleLine(
    around(line, other === undefined ? 0 : differsAt(line, other), lineCharacters),
    other !== undefined && folded(line) === folded(other),
  );

/** Where a line begins to differ from another, or from the part of it that the other is. */
function differsAt(line: string, other: string): number {
  const at = differenceAt(line, other);
  const step = 12;
  for (let from = 0; at === 0 && from + step <= other.length; from += step) {
    const found = line.indexOf(other.slice(from, from + step));
    if (found !== -1) return Math.max(0, found - from);
  }
  return at;
}
