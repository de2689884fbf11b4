import { setImmediate } from 'node:timers/promises';
import { ToolcribError } from '../../core/errors.ts';
import { mostChangedBytes } from '../../machine/history/failures.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { lineAt } from '../text/line-numbers.ts';
import { withCommas } from '../with-commas.ts';
import { editableText, type EditableText } from './editable-text.ts';
import { findText, type Edit, type Match, type Place } from './find-text.ts';
import { matchLines } from './lenient-match.ts';
import { omittedLine, standsForCode } from './omitted-line.ts';
import { replacer } from './replacement.ts';

/** A file after edits. */
export interface Edited {
  readonly bytes: Buffer;
  /** As TextDecoder calls it. */
  readonly encoding: string;
  readonly notes: readonly string[];
  /** How many places were replaced. */
  readonly places: number;
}

/** One edit of several, and the text it is applied to. */
interface EditTask {
  readonly edit: Edit;
  /** "a.ts: edit 2 of 3", or only the file when there is one edit. */
  readonly what: string;
  readonly file: EditableText;
  /** The form of the text as the edits before have left it. */
  readonly text: string;
  /** Lets other calls go on. Throws CANCELLED. */
  pause(): Promise<void>;
}

interface EditOptions {
  /** As it is shown. */
  readonly path: string;
  readonly encoding?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** More places are not replaced one by one. */
const mostPlaces = 100_000;

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
  const file = await editableText(bytes, shown, encoding);
  const notes = [...file.notes];
  const pause = async () => {
    await setImmediate();
    if (signal?.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
  };
  let [text, places] = [file.form, 0];
  for (const [index, given] of edits.entries()) {
    const isOne = edits.length === 1;
    const what = isOne ? shown : `${shown}: edit ${index + 1} of ${edits.length}`;
    const edit = withoutMark(given, bytes.length > 0 && file.form.length < bytes.length);
    const task = { edit, what, file, text, pause };
    refuseSenseless(task);
    if (!isOne) await pause();
    const done = await madeIn(task);
    text = done.text;
    places += done.places;
    if (done.note !== undefined) notes.push(isOne ? done.note : `edit ${index + 1}: ${done.note}`);
  }
  return { bytes: await file.bytesOf(text), encoding: file.label, notes, places };
}

/** A text after one edit. */
interface Made {
  readonly text: string;
  readonly places: number;
  readonly note?: string | undefined;
}

/** Exactly where it is, else where it is in all that matters, else not at all, when it was made before. */
async function madeIn(task: EditTask): Promise<Made> {
  const { edit, what, text, file } = task;
  const exact = await find(task);
  if (exact.places.length > 0) {
    if (isMadeAlready(text, exact)) return { text, places: 0, note: alreadyThere(text, exact.places) };
    if (!edit.all && (exact.places.length > 1 || exact.overlaps)) throw ambiguous(text, exact, what);
    if (exact.more) throw tooMany(what);
    return { text: replaced(text, exact, what), places: exact.places.length, note: exact.note };
  }
  await task.pause();
  const lines = await matchLines(file, text, edit);
  if (lines) {
    const { from, to, fresh, note } = lines;
    const changed = text.slice(0, from) + fresh + text.slice(to);
    const line = lineAt(text, from);
    return { text: changed, places: 1, note: `old_string matched line ${line}, but not exactly: ${note}` };
  }
  const made = await placesOfNew(task);
  if (made.length > 0) return { text, places: 0, note: alreadyThere(text, made) };
  const { whyNotFound } = await import('./near-miss.ts');
  const { words, wayOut } = await whyNotFound(task);
  throw new ToolcribError('NOT_FOUND', `${what}: old_string is not there. ${words}`, wayOut);
}

const alreadyThere = (text: string, places: readonly Place[]): string =>
  `already so: new_string is there (${linesOf(text, places)})`;

/** One word can be there for any reason. */
const leastTelling = 8;

/** An edit that adds to what is there, where that has been added: it would be added once more. */
function isMadeAlready(text: string, { old, new: fresh, places }: Match): boolean {
  const offset = fresh.indexOf(old);
  const [place, ...others] = places;
  if (offset === -1 || !place || others.length > 0) return false;
  const isTelling = fresh.replace(old, () => '').trim().length >= leastTelling;
  return isTelling && text.startsWith(fresh, place.from - offset);
}

async function placesOfNew({ file, text, edit }: EditTask): Promise<readonly Place[]> {
  if (edit.new.trim().length < leastTelling) return [];
  // What the encoding lacks cannot be there.
  const fresh = await file.encode(edit.new, 'new_string').catch(() => undefined);
  return fresh === undefined ? [] : findText(text, fresh, '').places;
}

/** A byte order mark is no part of the text, and hardly seen when it is copied with it. */
const withoutMark = (edit: Edit, isMarked: boolean): Edit =>
  isMarked && edit.old.startsWith('\ufeff')
    ? { ...edit, old: edit.old.slice(1), new: edit.new.replace(/^\ufeff/, '') }
    : edit;

function refuseSenseless({ edit, what, file, text }: EditTask): void {
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
  const omitted = omittedLine(edit.new, () => edit.old + text);
  if (omitted !== undefined) throw standsForCode(`${what}: new_string`, omitted);
  if (file.asciiOnly && /[^\x00-\x7f]/.test(edit.new))
    throw new ToolcribError(
      'ENCODING',
      `${what}: new_string has characters that are not ASCII, and the file is not UTF-8.`,
      'Name its encoding, so that they are written as the rest is.',
    );
}

async function find({ file, text, edit, what }: EditTask): Promise<Match> {
  const old = await file.encode(edit.old, `${what}: old_string`);
  let match = findText(text, old, edit.new, edit.all ? mostPlaces : 0);
  if (edit.isLines) match = { ...match, ...linesMeant(text, match.places, edit.below ?? []) };
  if (match.places.length === 0) return match;
  return { ...match, new: await file.encode(match.new, `${what}: new_string`) };
}

/** Of places those that are whole lines, and below others the first of them. */
function linesMeant(text: string, all: readonly Place[], below: readonly string[]) {
  const isBoundary = (at: number) => at === 0 || text[at - 1] === '\n';
  const isEnd = (at: number) => at === text.length || /[\r\n]/.test(text[at] ?? '') || isBoundary(at);
  const places = all.filter(({ from, to }) => isBoundary(from) && isEnd(to));
  let start = 0;
  for (const line of below) {
    // The line may be given without its indentation, and without what follows.
    const at = text.indexOf(line, start);
    start = at === -1 ? start : at + line.length;
  }
  const first = below.length > 0 ? places.find(({ from }) => from >= start) : undefined;
  return { places: first ? [first] : places, overlaps: false };
}

function replaced(text: string, match: Match, what: string): string {
  const pieceAt = replacer(text, match);
  const pieces: string[] = [];
  let [copied, length] = [0, text.length];
  for (const place of match.places) {
    const piece = pieceAt(place);
    length += piece.length - (place.to - place.from);
    // Asked at each place: all of them may be more than there is memory.
    if (length > mostChangedBytes) throw tooLong(what);
    pieces.push(text.slice(copied, place.from), piece);
    copied = place.to;
  }
  pieces.push(text.slice(copied));
  return pieces.join('');
}

const tooLong = (what: string): ToolcribError =>
  new ToolcribError(
    'TOO_LARGE',
    `${what}: the file would have more than ${mostChangedBytes / 1024 / 1024} MB.`,
    'Change it with a program of your own.',
  );

const tooMany = (what: string): ToolcribError =>
  new ToolcribError(
    'ARG_INVALID',
    `${what}: old_string occurs more than ${withCommas(mostPlaces)} times, which is the most that is replaced.`,
    'Give longer pieces as old_string, or the whole content to write_file.',
  );

const mostLines = 10;

function ambiguous(text: string, { places, overlaps, more }: Match, what: string): ToolcribError {
  const count = places.length;
  const times = count === 1 ? 'once' : `${withCommas(count)} times`;
  const shared = overlaps && !more ? ', and where it overlaps itself' : '';
  return new ToolcribError(
    'AMBIGUOUS_EDIT',
    `${what}: old_string occurs ${more ? 'more than ' : ''}${times}${shared} (${linesOf(text, places)}).`,
    'Give more of the text around it, or replace_all for every place.',
  );
}

function linesOf(text: string, places: readonly Place[]): string {
  const lines = new Set<number>();
  let [at, line] = [0, 1];
  for (const { from } of places) {
    line += lineAt(text.slice(at, from), from - at) - 1;
    at = from;
    lines.add(line);
    if (lines.size > mostLines) break;
  }
  const shown = [...lines].slice(0, mostLines).join(', ');
  return `line${lines.size === 1 ? '' : 's'} ${shown}${lines.size > mostLines ? ', …' : ''}`;
}
