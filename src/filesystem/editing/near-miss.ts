import { ToolcribError } from '../../core/errors.ts';
import { lineAt } from '../text/line-numbers.ts';
import type { EditableText } from './editable-text.ts';
import { findText, withLf } from './find-text.ts';
import { shownDifference } from './shown-difference.ts';

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
/** More of a text than this is neither unwrapped nor compared. */
const mostWanted = 256 * 1024;
const mostWantedLines = 1000;

/** Says why `old` may not have been found, with the nearest text there is, and what to do. Takes 100 ms at worst. */
export async function whyNotFound(miss: Miss): Promise<{ words: string; wayOut: string }> {
  const { edit, text, file, pause } = miss;
  if (text === '') return { words: 'The file is empty.', wayOut: 'Use write_file.' };
  const words: string[] = [];
  await pause();
  if (await isThere(miss, edit.new))
    words.push('The text of new is there already: the edit may have been made before.');
  else if (text !== file.form && (await isThere({ ...miss, text: file.form }, edit.old)))
    words.push('It was there until an earlier edit of this call changed it.');
  await pause();
  const other = await otherForm(miss);
  if (other) return { words: [...words, other].join(' '), wayOut: 'Give it as it is in the file.' };
  await pause();
  const nearest = await nearestText(miss);
  return {
    words: [...words, nearest?.words ?? 'Nothing in the file is like it.'].join(' '),
    wayOut: nearest
      ? `Copy old from the lines with +.\n${nearest.text}`
      : 'Read the part again, and copy old from there.',
  };
}

async function isThere({ text, file }: Miss, wanted: string): Promise<boolean> {
  // One word can be there for any reason.
  if (wanted.trim().length < 8) return false;
  const form = await formOf(file, wanted);
  return form !== undefined && findText(text, form, '').places.length > 0;
}

/** Undefined for what cannot be in the file, since its encoding lacks it. */
const formOf = (file: EditableText, text: string): Promise<string | undefined> =>
  file.encode(text, 'text').catch((error: unknown) => {
    if (error instanceof ToolcribError) return undefined;
    throw error;
  });

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };
const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };

/** Ways in which a text is wrapped once too often on its way here. */
async function otherForm(miss: Miss): Promise<string | undefined> {
  const { old } = miss.edit;
  if (old.length > mostWanted) return undefined;
  const unescaped = old.replaceAll(/\\([nrt"'\\])/g, (_, one: string) => escapes[one] ?? one);
  const withoutEntities = old.replaceAll(
    /&(lt|gt|quot|#39|amp);/g,
    (_, name: string) => entities[name] ?? '',
  );
  if (unescaped !== old && (await isThere(miss, unescaped)))
    return 'It is there with real line breaks, tabs and quotes where old has \\n, \\t or \\".';
  return withoutEntities !== old && (await isThere(miss, withoutEntities))
    ? 'It is there with < > & " where old has &lt; &gt; &amp; &quot;.'
    : undefined;
}

async function nearestText(miss: Miss): Promise<{ words: string; text: string } | undefined> {
  const { edit, text, file } = miss;
  const old = edit.old.slice(0, mostWanted);
  const wanted = withLf(old).split('\n').slice(0, mostWantedLines);
  // The end of a line is no line.
  if (wanted.length > 1 && wanted.at(-1) === '') wanted.pop();
  const anchor = await placeOfPiece(miss, old);
  // From the beginning of a line on, or of a place before in a very long one.
  const near = text.length > compared ? Math.max(0, (anchor ?? 0) - compared / 4) : 0;
  const from = Math.max(near === 0 ? 0 : text.lastIndexOf('\n', near) + 1, near - compared / 4);
  const lines = file.show(text.slice(from, from + compared)).split('\n');
  const first = lineAt(text, from);
  // Without lines that are alike: the one, most often a very long one, that has a piece of the text.
  const start =
    nearestStart(lines, wanted) ?? (anchor === undefined ? undefined : lineAt(text, anchor) - first);
  return start === undefined ? undefined : shownDifference(wanted, lines, start, first);
}

/** Where the first piece of a text is that occurs in the file. */
async function placeOfPiece({ text, file }: Miss, old: string): Promise<number | undefined> {
  for (const piece of piecesOf(old)) {
    const form = await formOf(file, piece);
    const at = form === undefined ? -1 : text.indexOf(form);
    if (at !== -1) return at;
  }
  return undefined;
}

const pieceCharacters = 16;
const mostPieces = 16;

/** Pieces of a text, from all of it, that are more than blanks. */
function piecesOf(text: string): string[] {
  const step = Math.max(pieceCharacters, Math.floor(text.length / mostPieces));
  const pieces = Array.from({ length: mostPieces }, (_, index) =>
    text.slice(index * step, index * step + pieceCharacters).trim(),
  );
  return pieces.filter((piece) => piece.length >= 6 && !piece.includes('\n'));
}

/** How much time may be spent; what was found until then is the answer. */
const budgetMs = 80;
const leastLikeness = 0.4;
const candidates = 3;

/**
 * The line of a text, from 0, where lines most like the given ones begin; undefined when none are. The longest of them
 * are compared with all lines of the text, and each that is alike votes for a beginning.
 */
function nearestStart(text: readonly string[], wanted: readonly string[]): number | undefined {
  const until = performance.now() + budgetMs;
  const longest = [...wanted.map(folded).entries()]
    .sort(([, one], [, other]) => other.length - one.length)
    .slice(0, candidates)
    .map(([index, line]) => ({ index, line, pairs: pairsOf(line) }));
  const votes = new Map<number, number>();
  for (const [at, content] of text.entries()) {
    if (at % 256 === 0 && performance.now() > until) break;
    const other = folded(content);
    for (const { index, line, pairs } of longest) {
      const likeness = line === other ? 1 : likenessOf(line, pairs, other);
      if (likeness >= leastLikeness)
        votes.set(at - index, (votes.get(at - index) ?? 0) + likeness * likeness * line.length);
    }
  }
  const [best] = [...votes].sort(([, one], [, other]) => other - one);
  return best && best[1] > 0 ? Math.max(0, best[0]) : undefined;
}

/** A line without what is given wrongly most often: blanks, forms of quotes and dashes, case. */
const folded = (line: string): string =>
  line === ''
    ? line
    : line
        .slice(0, 400)
        .toLowerCase()
        .replaceAll(/[\s\u200b-\u200d\ufeff]+/g, '')
        .replaceAll(/[`´"\u2018-\u201f]/g, "'")
        .replaceAll(/[\u2010-\u2015]/g, '-');

/**
 * How alike two lines are, from 0 to 1: twice the pairs of neighbouring characters they share, by all pairs of both
 * (Dice, Ecology 26, 1945). Of very different lengths, not enough can be shared.
 */
function likenessOf(line: string, pairs: ReadonlySet<string>, other: string): number {
  if (other.length < line.length / 4 || other.length > line.length * 4) return 0;
  const others = pairsOf(other);
  let shared = 0;
  for (const pair of others) if (pairs.has(pair)) shared++;
  return pairs.size + others.size === 0 ? 0 : (2 * shared) / (pairs.size + others.size);
}

const pairsOf = (line: string): Set<string> =>
  new Set(Array.from({ length: Math.max(0, line.length - 1) }, (_, at) => line.slice(at, at + 2)));
