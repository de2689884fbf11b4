import { setImmediate } from 'node:timers/promises';
import { ToolcribError } from '../../core/errors.ts';
import { mostChangedBytes } from '../../machine/history/failures.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { fileBytes, fileText, refuseHalves } from '../text/file-text.ts';
import { withCommas } from '../with-commas.ts';
import { lineAt, linesOf, replaceAt, withLf, type Edit, type Place } from './edited-text.ts';
import { matchLines } from './lenient-match.ts';
import { refuseOmission } from './refusals.ts';

/** A file after edits. */
export interface Edited {
  readonly bytes: Buffer;
  /** As TextDecoder calls it. */
  readonly encoding: string;
  readonly notes: readonly string[];
  /** How many places were replaced. */
  readonly places: number;
}

interface EditOptions {
  /** As it is shown. */
  readonly path: string;
  readonly encoding?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** More places are not replaced; without `all`, not counted. */
const most = { replaced: 100_000, counted: 10_000 };

/**
 * Replaces text in the content of a file, one edit after the other, all or none. Every byte outside of what is
 * replaced stays. Throws NOT_FOUND with the nearest text, AMBIGUOUS_EDIT with the lines where `old` occurs, ENCODING
 * for what is no text and for characters its encoding lacks, TOO_LARGE for more than a file may have, CANCELLED, and
 * ARG_INVALID.
 */
export async function applyEdits(
  bytes: Buffer,
  edits: readonly Edit[],
  { path, encoding, signal }: EditOptions,
): Promise<Edited> {
  const shown = shownPath(path);
  const file = await fileText(bytes, shown, encoding);
  const notes = [...file.notes];
  let whole = file.text;
  let places = 0;
  for (const [index, given] of edits.entries()) {
    // Lets other calls go on.
    await setImmediate();
    if (signal?.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
    const isOne = edits.length === 1;
    const what = isOne ? shown : `${shown}: edit ${index + 1} of ${edits.length}`;
    const edit = meantBy(given);
    const text = withLf(whole);
    refuseSenseless(edit, what, text);
    const found = await placesFor(text, edit, what);
    places += found.places.length;
    whole = replaceAt(whole, found.places, found.fresh);
    const ownEndings = given.old.includes('\r\n') && !file.text.includes(given.old);
    for (const note of [found.note, ownEndings ? 'the line endings of the file were kept' : undefined])
      if (note !== undefined) notes.push(isOne ? note : `edit ${index + 1}: ${note}`);
  }
  const after = await fileBytes(whole, file, `${shown}: new_string`);
  return { bytes: after, encoding: file.label, notes, places };
}

/** Line endings are those of the file, and a byte order mark, hardly seen when it is copied, is no part of the text. */
function meantBy(given: Edit): Edit {
  const isMarked = given.old.startsWith('\ufeff');
  const text = (part: string) => withLf(isMarked ? part.replace(/^\ufeff/, '') : part);
  return { ...given, old: text(given.old), new: text(given.new) };
}

function refuseSenseless(edit: Edit, what: string, text: string): void {
  refuseHalves(edit.new, `${what}: new_string`);
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
  refuseOmission(`${what}: new_string`, edit.new, () => edit.old + text);
}

/** What takes whose place; no places where the edit was made already. */
interface Replacing {
  readonly places: readonly Place[];
  readonly fresh: string;
  readonly note?: string;
}

/** Exactly where it is, else where it is in all that matters, else nowhere, when it was made before. */
async function placesFor(text: string, edit: Edit, what: string): Promise<Replacing> {
  const exact = placesMeant(text, edit);
  const alreadyAt = (places: readonly Place[]): Replacing => ({
    places: [],
    fresh: '',
    note: `already so: new_string is there (${linesOf(text, places)})`,
  });
  if (exact.places.length > 0) {
    if (isMadeAlready(text, edit, exact.places)) return alreadyAt(exact.places);
    if (!edit.all && (exact.places.length > 1 || exact.overlaps)) throw ambiguous(text, exact, what);
    refuseTooMuch(text, edit, exact, what);
    return { places: exact.places, fresh: edit.new };
  }
  const lines = await matchLines(text, edit);
  if (lines) {
    const note = `old_string matched line ${lineAt(text, lines.from)}, but not exactly: ${lines.note}`;
    return { places: [lines], fresh: lines.fresh, note };
  }
  const made = edit.new.trim().length < leastTelling ? [] : placesOf(text, edit.new, most.counted).places;
  if (made.length > 0) return alreadyAt(made);
  const { whyNotFound } = await import('./near-miss.ts');
  const { words, wayOut } = await whyNotFound(text, edit.old);
  throw new ToolcribError('NOT_FOUND', `${what}: old_string is not there. ${words}`, wayOut);
}

interface Places {
  /** Where a text is, from the beginning, none in another. */
  readonly places: readonly Place[];
  /** Whether there are more, which were not counted. */
  readonly more: boolean;
  /** Whether it is also where it overlaps itself. */
  readonly overlaps: boolean;
}

function placesOf(text: string, wanted: string, limit: number): Places {
  const places: Place[] = [];
  let at = text.indexOf(wanted);
  // Only where it begins within itself: the rest is searched once, below.
  const overlaps = at !== -1 && text.slice(at + 1, at + 2 * wanted.length - 1).includes(wanted);
  while (at !== -1 && places.length < limit) {
    places.push({ from: at, to: at + wanted.length });
    at = text.indexOf(wanted, at + wanted.length);
  }
  return { places, more: at !== -1, overlaps };
}

/** Of the places of an edit of lines those that are whole lines, and below others the first of them. */
function placesMeant(text: string, { old, all, isLines, below = [] }: Edit): Places {
  const found = placesOf(text, old, all ? most.replaced : most.counted);
  if (!isLines) return found;
  const isBoundary = (at: number) => at === 0 || at === text.length || text[at - 1] === '\n';
  const places = found.places.filter(
    ({ from, to }) => isBoundary(from) && (text[to] === '\n' || isBoundary(to)),
  );
  let start = 0;
  for (const line of below) {
    // The line may be given without its indentation, and without what follows.
    const at = text.indexOf(line, start);
    start = at === -1 ? start : at + line.length;
  }
  const first = below.length > 0 ? places.find(({ from }) => from >= start) : undefined;
  return { places: first ? [first] : places, more: found.more, overlaps: false };
}

/** One word can be there for any reason. */
const leastTelling = 8;

/** An edit that adds to what is there, where that has been added: it would be added once more. */
function isMadeAlready(text: string, { old, new: fresh }: Edit, places: readonly Place[]): boolean {
  const offset = fresh.indexOf(old);
  const [place, ...others] = places;
  if (offset === -1 || !place || others.length > 0) return false;
  const isTelling = fresh.replace(old, () => '').trim().length >= leastTelling;
  return isTelling && text.startsWith(fresh, place.from - offset);
}

/** Before it is made: all places may be more than there is memory. */
function refuseTooMuch(text: string, edit: Edit, { places, more }: Places, what: string): void {
  if (more)
    throw new ToolcribError(
      'ARG_INVALID',
      `${what}: old_string occurs more than ${withCommas(most.replaced)} times, which is the most that is replaced.`,
      'Give longer pieces as old_string, or the whole content to write_file.',
    );
  if (text.length + places.length * (edit.new.length - edit.old.length) > mostChangedBytes)
    throw new ToolcribError(
      'TOO_LARGE',
      `${what}: the file would have more than ${mostChangedBytes / 1024 / 1024} MB.`,
      'Change it with a program of your own.',
    );
}

function ambiguous(text: string, { places, overlaps, more }: Places, what: string): ToolcribError {
  const times = places.length === 1 ? 'once' : `${withCommas(places.length)} times`;
  const shared = overlaps && !more ? ', and where it overlaps itself' : '';
  return new ToolcribError(
    'AMBIGUOUS_EDIT',
    `${what}: old_string occurs ${more ? 'more than ' : ''}${times}${shared} (${linesOf(text, places)}).`,
    'Give more of the text around it, or replace_all for every place.',
  );
}
