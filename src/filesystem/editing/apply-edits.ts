import { setImmediate } from 'node:timers/promises';
import { ToolcribError } from '../../core/errors.ts';
import { mostChangedBytes } from '../../machine/history/failures.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { lineAt, withoutLineNumbers } from '../text/line-numbers.ts';
import { withCommas } from '../with-commas.ts';
import { editableText, type EditableText } from './editable-text.ts';
import { findText, type Match, type Place } from './find-text.ts';
import { replacer } from './replacement.ts';

/** Some text to replace. */
export interface Edit {
  readonly old: string;
  readonly new: string;
  /** How often `old` occurs, when all occurrences are to be replaced. */
  readonly all?: number | undefined;
}

/** A file after edits. */
export interface Edited {
  readonly bytes: Buffer;
  /** As TextDecoder calls it. */
  readonly encoding: string;
  readonly notes: readonly string[];
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
  let text = file.form;
  for (const [index, given] of edits.entries()) {
    const isOne = edits.length === 1;
    const what = isOne ? shown : `${shown}: edit ${index + 1} of ${edits.length}`;
    const edit = withoutMark(given, bytes.length > 0 && file.form.length < bytes.length);
    const task = { edit, what, file, text, pause };
    refuseSenseless(task);
    if (!isOne) await pause();
    const match = await findPlaces(task);
    text = replaced(text, match, what);
    if (match.note !== undefined) notes.push(isOne ? match.note : `edit ${index + 1}: ${match.note}`);
  }
  return { bytes: await file.bytesOf(text), encoding: file.label, notes };
}

/** A byte order mark is no part of the text, and hardly seen when it is copied with it. */
const withoutMark = (edit: Edit, isMarked: boolean): Edit =>
  isMarked && edit.old.startsWith('\ufeff')
    ? { ...edit, old: edit.old.slice(1), new: edit.new.replace(/^\ufeff/, '') }
    : edit;

function refuseSenseless({ edit, what, file }: EditTask): void {
  if (edit.old === '')
    throw new ToolcribError(
      'ARG_INVALID',
      `${what}: old is empty.`,
      'To insert, give a line as old, and the same line with the addition as new; write_file makes a new file.',
    );
  if (edit.old === edit.new)
    throw new ToolcribError(
      'ARG_INVALID',
      `${what}: old and new are the same.`,
      'Leave it out, or correct new.',
    );
  if (edit.all !== undefined && edit.all > mostPlaces)
    throw new ToolcribError(
      'ARG_INVALID',
      `${what}: all says ${withCommas(edit.all)}, and one edit replaces up to ${withCommas(mostPlaces)}.`,
      'Give longer pieces as old, or the whole content to write_file.',
    );
  if (file.asciiOnly && /[^\x00-\x7f]/.test(edit.new))
    throw new ToolcribError(
      'ENCODING',
      `${what}: new has characters that are not ASCII, and the file is not UTF-8.`,
      'Name its encoding, so that they are written as the rest is.',
    );
}

/** Where the edit is to be made: once, or as often as it says. */
async function findPlaces(task: EditTask): Promise<Match> {
  const { edit, what, text } = task;
  const exact = await find(task, edit);
  const match = exact.places.length > 0 ? exact : await findNumbered(task);
  if (!match) {
    const { whyNotFound } = await import('./near-miss.ts');
    const { words, wayOut } = await whyNotFound(task);
    throw new ToolcribError('NOT_FOUND', `${what}: old is not there. Nothing was changed. ${words}`, wayOut);
  }
  const count = match.places.length;
  const isWanted = edit.all === undefined ? count === 1 && !match.overlaps : count === edit.all;
  if (match.more || !isWanted) throw ambiguous(text, edit, match, what);
  return match;
}

async function find({ file, text, edit, what }: EditTask, { old, new: fresh }: Edit): Promise<Match> {
  const match = findText(text, await file.encode(old, `${what}: old`), fresh, edit.all);
  return match.places.length > 0 ? { ...match, new: await file.encode(match.new, `${what}: new`) } : match;
}

/** With the line numbers of a listing taken off: only where the lines begin where such lines would. */
async function findNumbered(task: EditTask): Promise<Match | undefined> {
  const { edit, text } = task;
  const plain = withoutLineNumbers(edit);
  if (!plain || plain.old === '' || plain.old === plain.new) return undefined;
  const match = await find(task, plain);
  const isAtStart = match.places.every(({ from }) => from === 0 || text[from - 1] === '\n');
  if (match.places.length === 0 || !isAtStart) return undefined;
  return { ...match, note: 'line numbers at the beginning of the lines were left out' };
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
    `${what}: the file would have more than ${mostChangedBytes / 1024 / 1024} MB. Nothing was changed.`,
    'Change it with a program of your own.',
  );

const mostLines = 10;

function ambiguous(text: string, { all }: Edit, match: Match, what: string): ToolcribError {
  const { places, overlaps, more } = match;
  const count = places.length;
  const times = count === 1 ? 'once' : `${withCommas(count)} times`;
  const shared = overlaps && !more ? ', and where it overlaps itself' : '';
  const stated = all === undefined ? 'must be there once' : `all says ${all}`;
  const lines = linesOf(text, places);
  return new ToolcribError(
    'AMBIGUOUS_EDIT',
    `${what}: old occurs ${more ? 'more than ' : ''}${times}${shared} (${lines}); ${stated}. Nothing was changed.`,
    count === 1 && all !== undefined
      ? 'Leave all out.'
      : more
        ? 'Give more of the text around it.'
        : `Give more of the text around it, or all: ${count} to replace every one.`,
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
