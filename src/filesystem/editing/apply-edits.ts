import { ToolcribError } from '../../core/errors.ts';
import { mostChangedBytes } from '../../machine/history/write.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { pauseFor, type Pause } from './edit-pace.ts';
import { findEdit, type Found, type Place } from './find-edit.ts';
import { countLines } from '../text/line-count.ts';
import { isLineStart } from '../text/line-endings.ts';
import { withoutLineNumbers } from '../text/line-numbers.ts';
import { replacer } from './replacement.ts';
import { mostlyUtf8, wholeEncoding, type Encoding, type WholeEncoding } from '../text/text-file.ts';
import { withCommas } from '../with-commas.ts';

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
interface Task {
  readonly edit: Edit;
  /** "a.ts: edit 2 of 3", or only the file when there is one edit. */
  readonly what: string;
  readonly bytes: Buffer;
  /** The text before the first edit. */
  readonly first: Buffer;
  readonly encoding: Encoding;
  readonly pause: Pause;
  readonly room: Room | undefined;
}

/** Memory of at least so many bytes, for what is returned. */
type Room = (bytes: number) => Buffer;

interface How {
  /** As it is shown. */
  readonly path: string;
  readonly encoding?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly room?: Room;
}

/** More places are not replaced one by one. */
const mostPlaces = 100_000;
/** Each edit goes through all of the text: so many bytes take some seconds. */
const mostEditedBytes = 8 * 1024 ** 3;

/**
 * Replaces text in the content of a file, one edit after the other, all or none. Every byte outside of what is
 * replaced stays. Throws NOT_FOUND with the nearest text, AMBIGUOUS_EDIT with the lines where `old` occurs, ENCODING
 * for what is no text and for characters its encoding lacks, TOO_LARGE for more than a call can do, CANCELLED, and
 * ARG_INVALID.
 */
export async function applyEdits(
  bytes: Buffer,
  edits: readonly Edit[],
  { path, encoding: name, signal, room }: How,
): Promise<Edited> {
  const shown = shownPath(path);
  refuseTooMany(bytes, edits, shown);
  const pause = pauseFor(shown, signal);
  const whole = wholeEncoding(bytes, shown, name);
  const { encoding, broken } = whole;
  const notes = broken ? ['not all of it is UTF-8; edited as bytes'] : [];
  if (encoding.label !== 'utf-8') notes.push(`encoding ${encoding.label}`);
  let now = bytes;
  for (const [index, given] of edits.entries()) {
    const edit = encoding.mark > 0 ? withoutMark(given) : given;
    const what = edits.length === 1 ? shown : `${shown}: edit ${index + 1} of ${edits.length}`;
    // Of several edits each makes a new text, and only the last of them is what is asked for.
    const task = {
      edit,
      what,
      bytes: now,
      first: bytes,
      encoding,
      pause,
      room: edits.length === 1 ? room : undefined,
    };
    refuseSenseless(task, whole);
    await pause(1);
    const step = await applyEdit(task);
    now = step.bytes;
    notes.push(...step.notes.map((note) => (edits.length === 1 ? note : `edit ${index + 1}: ${note}`)));
  }
  return { bytes: now, encoding: encoding.label, notes };
}

/** The byte order mark is no part of the text, and hardly seen when it is copied with it. */
const withoutMark = (edit: Edit): Edit =>
  edit.old.startsWith('\ufeff')
    ? { ...edit, old: edit.old.slice(1), new: edit.new.replace(/^\ufeff/, '') }
    : edit;

function refuseTooMany(bytes: Buffer, edits: readonly Edit[], shown: string): void {
  if (edits.length === 1 || edits.length * bytes.length <= mostEditedBytes) return;
  const most = Math.max(1, Math.floor(mostEditedBytes / bytes.length));
  throw new ToolcribError(
    'TOO_LARGE',
    `${shown}: ${withCommas(edits.length)} edits of ${withCommas(bytes.length)} bytes are more than a call can do. ` +
      'Nothing was changed.',
    `Make up to ${withCommas(most)} in one call.`,
  );
}

function refuseSenseless({ edit, what, first }: Task, { encoding, broken }: WholeEncoding): void {
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
  if (broken && encoding.label === 'utf-8' && /[^\x00-\x7f]/.test(edit.new) && !mostlyUtf8(first))
    throw new ToolcribError(
      'ENCODING',
      `${what}: new has characters that are not ASCII, and the file is not UTF-8.`,
      'Name its encoding, so that they are written as the rest is.',
    );
}

async function applyEdit(task: Task): Promise<{ bytes: Buffer; notes: readonly string[] }> {
  const { edit, what, bytes, encoding, pause, room } = task;
  const found = await wantedPlaces(task);
  const replace = await replacer(bytes, found.match, encoding, `${what}: new`);
  const places = edit.all === undefined ? found.places.slice(0, 1) : found.places;
  const pieces: Buffer[] = [];
  /** How much longer the text has become. */
  let grown = 0;
  for (const { from, to } of places) {
    const replaced = replace(from, to);
    const piece = replaced instanceof Promise ? await replaced : replaced;
    pieces.push(piece);
    grown += piece.length - (to - from);
    // Asked at each place: all of them may be more than there is memory.
    if (bytes.length + grown > mostChangedBytes) throw tooLong(what);
    const resting = pause(1 + piece.length / bytesPerUnit);
    if (resting) await resting;
  }
  const length = bytes.length + grown;
  const now = room?.(length).subarray(0, length) ?? Buffer.allocUnsafe(length);
  putPieces(now, bytes, places, pieces);
  return { bytes: now, notes: found.notes };
}

/** Bytes that are made or copied in a microsecond. */
const bytesPerUnit = 1000;

function putPieces(now: Buffer, bytes: Buffer, places: readonly Place[], pieces: readonly Buffer[]): void {
  let [copied, length] = [0, 0];
  for (const [index, { from, to }] of places.entries()) {
    length += bytes.copy(now, length, copied, from);
    length += pieces[index]?.copy(now, length) ?? 0;
    copied = to;
  }
  bytes.copy(now, length, copied);
}

const tooLong = (what: string): ToolcribError =>
  new ToolcribError(
    'TOO_LARGE',
    `${what}: the file would have more than ${mostChangedBytes / 1024 / 1024} MB. Nothing was changed.`,
    'Change it with a program of your own.',
  );

async function wantedPlaces(task: Task): Promise<Found> {
  const { edit, what } = task;
  const found = await findEdit(edit, { ...task, what: `${what}: old` });
  const usual = found.places.length > 0 ? found : await findNumbered(task);
  if (!usual) throw await notFound(task);
  const { places, overlapping, more } = usual;
  if (more || (edit.all === undefined ? overlapping !== 1 : places.length !== edit.all))
    throw ambiguous(task, usual);
  return usual;
}

/** With the line numbers of a listing taken off: only where the lines begin where such lines would. */
async function findNumbered(task: Task): Promise<Found | undefined> {
  const { edit, what, bytes, encoding } = task;
  for (const numbered of withoutLineNumbers(edit)) {
    if (numbered.old === '' || numbered.old === numbered.new) continue;
    const found = await findEdit({ ...numbered, all: edit.all }, { ...task, what: `${what}: old` });
    const [place] = found.places;
    if (!place || !found.places.every(({ from }) => beginsLine(bytes, from, encoding))) continue;
    // "8080: web" can be text itself; then its number says nothing of a line.
    const sure =
      numbered.plain || numbered.lines > 1 || lineOf(bytes, place.from, encoding) === numbered.first;
    if (!sure) continue;
    return { ...found, notes: [...found.notes, 'line numbers at the beginning of the lines were left out'] };
  }
  return undefined;
}

const beginsLine = (bytes: Buffer, at: number, encoding: Encoding): boolean =>
  at === encoding.mark || isLineStart(bytes, at, encoding);

const lineOf = (bytes: Buffer, at: number, encoding: Encoding): number =>
  1 + countLines(bytes, encoding.mark, at, encoding);

function ambiguous(
  { edit, what, bytes, encoding }: Task,
  { places, overlapping, more }: Found,
): ToolcribError {
  const count = places.length;
  const often = more ? `more than ${times(count)}` : times(count);
  const shared = overlapping > count && !more ? `, ${overlapping} times with overlaps` : '';
  const stated = edit.all === undefined ? 'must be there once' : `all says ${edit.all}`;
  return new ToolcribError(
    'AMBIGUOUS_EDIT',
    `${what}: old occurs ${often}${shared} (${linesOf(bytes, places, encoding)}); ${stated}. Nothing was changed.`,
    count === 1 && edit.all !== undefined
      ? 'Leave all out.'
      : more
        ? 'Give more of the text around it.'
        : `Give more of the text around it, or all: ${count} to replace every one.`,
  );
}

const times = (count: number): string => (count === 1 ? 'once' : `${count.toLocaleString('en')} times`);

const mostLines = 10;

function linesOf(bytes: Buffer, places: readonly Place[], encoding: Encoding): string {
  const lines = new Set<number>();
  let [at, line] = [encoding.mark as number, 1];
  for (const { from } of places) {
    line += countLines(bytes, at, from, encoding);
    at = from;
    lines.add(line);
    if (lines.size > mostLines) break;
  }
  const shown = [...lines].slice(0, mostLines).join(', ');
  return `line${lines.size === 1 ? '' : 's'} ${shown}${lines.size > mostLines ? ', …' : ''}`;
}

/** Says what is nearest to `old`, so that the next try can be the last. */
async function notFound({ edit, what, ...where }: Task): Promise<ToolcribError> {
  const { whyNotFound } = await import('./near-miss.ts');
  const { words, wayOut } = await whyNotFound(edit, where);
  return new ToolcribError('NOT_FOUND', `${what}: old is not there. Nothing was changed. ${words}`, wayOut);
}
