import { setImmediate } from 'node:timers/promises';
import { ToolcribError } from '../../../core/errors.ts';
import { mostChangedBytes } from '../../../machine/history/failures.ts';
import { displayPath } from '../../../machine/paths/display-path.ts';
import { withCommas } from '../wording.ts';
import { fileBytes, fileText, refuseHalves, type NewContent } from '../text/file-text.ts';
import { linesAt, replaced, withLf, type Edit, type TextRange } from './edited-text.ts';
import { matchLines } from './lenient-match.ts';
import { refuseOmission } from './refusals.ts';

interface EditOptions {
  /** As it is shown. */
  readonly path: string;
  readonly encoding?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** More places are not replaced; where one is meant, not counted. */
const most = { replaced: 100_000, counted: 100 };
/** Fewer characters can be there for any reason. */
const leastTelling = 8;

/**
 * Replaces text in the content of a file, one edit after the other, all or none. Every byte outside of what
 * is replaced stays. Throws NOT_FOUND with the nearest text, AMBIGUOUS_EDIT with the lines where `old`
 * occurs, ENCODING for what is no text and for characters its encoding lacks, TOO_LARGE for more than a file
 * may have, CANCELLED, and ARG_INVALID.
 */
export async function applyEdits(
  bytes: Buffer,
  edits: readonly Edit[],
  { path, encoding, signal }: EditOptions,
): Promise<Required<NewContent>> {
  const shown = displayPath(path);
  const file = await fileText(bytes, shown, encoding);
  const notes = [...file.notes];
  let { body } = file;
  let places = 0;
  for (const [index, given] of edits.entries()) {
    // Lets other calls go on.
    await setImmediate();
    if (signal?.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
    const isOne = edits.length === 1;
    const what = isOne ? shown : `${shown}: edit ${index + 1} of ${edits.length} (none was made)`;
    const edit = meantBy(given);
    const plain = withLf(body);
    refuseSenseless(given, edit, what, plain);
    const found = await placesFor(plain, edit, what);
    places += found.places.length;
    body = replaced(body, found.places, found.fresh);
    const ownEndings = given.old.includes('\r\n') && !file.body.includes(given.old);
    for (const note of [found.note, ownEndings ? 'the line endings of the file were kept' : undefined])
      if (note !== undefined) notes.push(isOne ? note : `edit ${index + 1}: ${note}`);
  }
  const after = await fileBytes(body, file, `${shown}: new_string`);
  return { bytes: after, encoding: file.label, notes, places };
}

/**
 * Line endings are those of the file, and a byte order mark, hardly seen when it is copied, is no part of the
 * text.
 */
function meantBy(given: Edit): Edit {
  const isMarked = given.old.startsWith('\ufeff');
  const text = (part: string) => (isMarked ? part.replace(/^\ufeff/, '') : part).replaceAll('\r\n', '\n');
  return { ...given, old: text(given.old), new: text(given.new) };
}

function refuseSenseless(given: Edit, edit: Edit, what: string, text: Buffer): void {
  refuseHalves(given.new, `${what}: new_string`);
  if (edit.old === '')
    throw new ToolcribError(
      'ARG_INVALID',
      `${what}: old_string is empty.`,
      'To insert, give a line as old_string, and the same line with the addition as new_string.',
    );
  if (edit.old === edit.new)
    throw new ToolcribError(
      'ARG_INVALID',
      `${what}: old_string and new_string are the same.`,
      'Leave it out, or correct new_string.',
    );
  refuseOmission(`${what}: new_string`, edit.new, () => edit.old + text.toString());
}

/** What takes whose place; no places where the edit was made already. */
interface Replacing {
  readonly places: readonly TextRange[];
  readonly fresh: string;
  readonly note?: string;
}

/** Exactly where it is, else where it is in all that matters, else nowhere, when it was made before. */
async function placesFor(text: Buffer, edit: Edit, what: string): Promise<Replacing> {
  const places = placesMeant(text, edit);
  const madeAt = isMadeAlready(text, edit, places) ? places : [];
  if (places.length > 0 && madeAt.length === 0) {
    if (!edit.all && places.length > 1) throw ambiguous(text, places, what);
    refuseTooMuch(text, edit, places.length, what);
    return { places, fresh: edit.new };
  }
  const lines = places.length > 0 ? undefined : matchLines(text, edit);
  if (lines) return { ...lines, places: [lines] };
  if (madeAt.length === 0 && edit.new.trim().length >= leastTelling)
    madeAt.push(...placesOf(text, edit.new, false));
  if (madeAt.length > 0)
    return { places: [], fresh: '', note: `already so: new_string is there (${linesAt(text, madeAt)})` };
  const { whyNotFound } = await import('./near-miss.ts');
  const { words, wayOut } = await whyNotFound(text.toString(), edit.old);
  throw new ToolcribError('NOT_FOUND', `${what}: old_string is not there. ${words}`, wayOut);
}

/** Where a text is, and one place more than are wanted: where one is meant, also those that overlap. */
function placesOf(text: Buffer, wanted: string, all: boolean): TextRange[] {
  const places: TextRange[] = [];
  const bytes = Buffer.from(wanted);
  const limit = all ? most.replaced : most.counted;
  const step = all ? bytes.length : 1;
  for (let at = text.indexOf(bytes); at !== -1 && places.length <= limit; at = text.indexOf(bytes, at + step))
    places.push({ from: at, to: at + bytes.length });
  return places;
}

/** Of the places of an edit of lines those that are whole lines, and below others the first of them. */
function placesMeant(text: Buffer, { old, all, isLines, below = [] }: Edit): TextRange[] {
  const found = placesOf(text, old, all === true || isLines === true);
  if (!isLines) return found;
  const isBoundary = (at: number) => at === 0 || at === text.length || text[at - 1] === 10;
  const places = found.filter(({ from, to }) => isBoundary(from) && (text[to] === 10 || isBoundary(to)));
  let start = 0;
  for (const line of below) {
    // The line may be given without its indentation, and without what follows.
    const at = text.indexOf(line, start);
    start = at === -1 ? start : at + Buffer.byteLength(line);
  }
  const first = below.length > 0 ? places.find(({ from }) => from >= start) : undefined;
  return first ? [first] : places;
}

/** An edit that adds to what is there, where that has been added: it would be added once more. */
function isMadeAlready(
  text: Buffer,
  { old, new: fresh }: Edit,
  [place, ...others]: readonly TextRange[],
): boolean {
  const offset = fresh.indexOf(old);
  if (offset === -1 || !place || others.length > 0) return false;
  const isTelling = fresh.replace(old, () => '').trim().length >= leastTelling;
  const whole = Buffer.from(fresh);
  const from = place.from - Buffer.byteLength(fresh.slice(0, offset));
  return isTelling && from >= 0 && text.subarray(from, from + whole.length).equals(whole);
}

/** Before it is made: all places may be more than there is memory. */
function refuseTooMuch(text: Buffer, { old, new: fresh }: Edit, count: number, what: string): void {
  if (
    count <= most.replaced &&
    text.length + count * (Buffer.byteLength(fresh) - Buffer.byteLength(old)) <= mostChangedBytes
  )
    return;
  const limits = `${withCommas(most.replaced)} places, or make more than ${mostChangedBytes / 1024 / 1024} MB`;
  throw new ToolcribError(
    'TOO_LARGE',
    `${what}: it would change more than ${limits} of the file.`,
    'Give longer pieces as old_string, or the whole content to write_file.',
  );
}

function ambiguous(text: Buffer, places: readonly TextRange[], what: string): ToolcribError {
  const isMore = places.length > most.counted;
  const times = `${isMore ? `more than ${most.counted}` : places.length} times`;
  return new ToolcribError(
    'AMBIGUOUS_EDIT',
    `${what}: old_string occurs ${times} (${linesAt(text, places)}).`,
    'Give more of the text around it, or replace_all for every place.',
  );
}
