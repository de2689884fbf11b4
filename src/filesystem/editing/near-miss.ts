import { ToolcribError } from '../../core/errors.ts';
import type { EditableText } from './editable-text.ts';
import { lineAt } from '../text/line-numbers.ts';
import { findText, withLf } from './find-text.ts';
import { nearestStart } from './nearest-lines.ts';
import { shownDifference } from './shown-difference.ts';

/** An edit whose `old` is not in the text. */
interface Miss {
  readonly edit: { readonly old: string; readonly new: string };
  readonly file: EditableText;
  /** The form of the text as the edits before have left it. */
  readonly text: string;
  pause(): Promise<void>;
}

/** What to tell of a text that was not found. */
interface Why {
  readonly words: string;
  readonly wayOut: string;
}

/** More of a file is not compared line by line, only around a place that has a piece of the text. */
const compared = 1536 * 1024;
const mostWantedLines = 1000;
/** More of a text than this is neither unwrapped nor compared. */
const mostWanted = 256 * 1024;

/** Says why `old` may not have been found, with the nearest text there is. Takes some 100 ms at worst. */
export async function whyNotFound(miss: Miss): Promise<Why> {
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
  if (!nearest)
    return {
      words: [...words, 'Nothing in the file is like it.'].join(' '),
      wayOut: 'Read the part again, and copy old from there.',
    };
  return {
    words: [...words, nearest.words].join(' '),
    wayOut: `Copy old from the lines with +.\n${nearest.text}`,
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

/** Ways in which a text is wrapped once too often on its way here. */
async function otherForm(miss: Miss): Promise<string | undefined> {
  const { old } = miss.edit;
  if (old.length > mostWanted) return undefined;
  const forms: [string, string][] = [
    [unescaped(old), 'It is there with real line breaks, tabs and quotes where old has \\n, \\t or \\".'],
    [withoutEntities(old), 'It is there with < > & " where old has &lt; &gt; &amp; &quot;.'],
  ];
  for (const [form, words] of forms) if (form !== old && (await isThere(miss, form))) return words;
  return undefined;
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

const unescaped = (text: string): string =>
  text.replaceAll(/\\([nrt"'\\])/g, (_, character: string) => escapes[character] ?? character);

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };

const withoutEntities = (text: string): string =>
  text.replaceAll(/&(lt|gt|quot|#39|amp);/g, (whole, name: string) => entities[name] ?? whole);

async function nearestText(miss: Miss): Promise<{ words: string; text: string } | undefined> {
  const { edit, text, file } = miss;
  const old = edit.old.slice(0, mostWanted);
  const wanted = withLf(old).split('\n').slice(0, mostWantedLines);
  // The end of a line is no line.
  if (wanted.length > 1 && wanted.at(-1) === '') wanted.pop();
  const from = text.length > compared ? await windowStart(miss, old) : 0;
  const shown = file.show(text.slice(from, from + compared));
  const lines = shown.split('\n');
  const start = nearestStart(lines, wanted) ?? lineOfPiece(shown, wanted.join('\n'));
  if (start === undefined) return undefined;
  return shownDifference(wanted, lines, start, lineAt(text, from));
}

/** The beginning of the line, or a place before in a very long one, from where on the text is compared. */
async function windowStart({ text, file }: Miss, old: string): Promise<number> {
  for (const piece of piecesOf(old)) {
    const form = await formOf(file, piece);
    const at = form === undefined ? -1 : text.indexOf(form);
    if (at === -1) continue;
    const near = Math.max(0, at - compared / 4);
    const start = text.lastIndexOf('\n', near) + 1;
    return near - start > compared / 4 ? near : start;
  }
  return 0;
}

const pieceCharacters = 16;
const mostPieces = 16;

/** Pieces of a text, from all of it, that are more than blanks. */
function piecesOf(text: string): string[] {
  const step = Math.max(pieceCharacters, Math.floor(text.length / mostPieces));
  const pieces = Array.from({ length: mostPieces }, (_, index) =>
    text.slice(index * step, index * step + pieceCharacters).trim(),
  );
  return pieces
    .filter((piece) => piece.length >= 6 && !piece.includes('\n'))
    .sort((one, other) => other.length - one.length);
}

/** The line, most often a very long one, that has a piece of the text. */
function lineOfPiece(shown: string, wanted: string): number | undefined {
  const at = piecesOf(wanted)
    .map((piece) => shown.indexOf(piece))
    .find((found) => found !== -1);
  return at === undefined ? undefined : lineAt(shown, at) - 1;
}
