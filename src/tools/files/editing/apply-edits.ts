import { setImmediate } from 'node:timers/promises';
import { ToolcribError } from '../../../core/errors.ts';
import { mostChangedBytes } from '../../../machine/history/failures.ts';
import { displayPath } from '../../../machine/paths/display-path.ts';
import { formatNumber } from '../wording.ts';
import { encodeFile, decodeFile, refuseHalves, type NewContent } from '../text/file-text.ts';
import {
  formatLineNumbers,
  replaceRanges,
  normalizeLineEnds,
  type Edit,
  type TextRange,
} from './edited-text.ts';
import { matchLines } from './lenient-match.ts';
import { refuseOmission } from './refusals.ts';

/** The file whose content is edited. */
interface EditOptions {
  /** The path, for messages. */
  readonly path: string;
  readonly encoding?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Limits of places: those replaced by one edit, and those counted when there should be only one. */
const most = { replaced: 100_000, counted: 100 };
/** Characters that a text must have to show that an edit was made before; shorter ones occur by chance. */
const leastTelling = 8;

/**
 * Replaces text in the content of a file by one edit after the other: all of them, or none. All other bytes
 * stay as they are. Throws NOT_FOUND with the nearest text, AMBIGUOUS_EDIT with the lines where `old` occurs,
 * ENCODING for bytes that are not text and for characters that the encoding lacks, TOO_LARGE, CANCELLED, and
 * ARG_INVALID.
 */
export async function applyEdits(
  bytes: Buffer,
  edits: readonly Edit[],
  { path, encoding, signal }: EditOptions,
): Promise<Required<NewContent>> {
  const shown = displayPath(path);
  const file = await decodeFile(bytes, shown, encoding);
  const notes = [...file.notes];
  let { body } = file;
  let places = 0;
  for (const [index, original] of edits.entries()) {
    // Between two edits, other calls may go on.
    await setImmediate();
    if (signal?.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
    const isOnly = edits.length === 1;
    const what = isOnly ? shown : `${shown}: edit ${index + 1} of ${edits.length} (none was made)`;
    const edit = normalizeEdit(original);
    const plain = normalizeLineEnds(body);
    refuseSenseless(original, edit, what, plain);
    const match = await locateEdit(plain, edit, what);
    places += match.places.length;
    body = replaceRanges(body, match.places, match.replacement);
    const ownEndings = original.old.includes('\r\n') && !file.body.includes(original.old);
    for (const note of [match.note, ownEndings ? 'the line endings of the file were kept' : undefined])
      if (note !== undefined) notes.push(isOnly ? note : `edit ${index + 1}: ${note}`);
  }
  const after = await encodeFile(body, file, `${shown}: new_string`);
  return { bytes: after, encoding: file.label, notes, places };
}

/**
 * An edit whose lines end with LF, as line ends are taken from the file; and without a byte order mark, which
 * is copied unseen.
 */
function normalizeEdit(original: Edit): Edit {
  const isMarked = original.old.startsWith('\ufeff');
  const text = (part: string) => (isMarked ? part.replace(/^\ufeff/, '') : part).replaceAll('\r\n', '\n');
  return { ...original, old: text(original.old), new: text(original.new) };
}

/** Throws ARG_INVALID for an edit that is empty, changes nothing, or would lose code. */
function refuseSenseless(original: Edit, edit: Edit, what: string, text: Buffer): void {
  refuseHalves(original.new, `${what}: new_string`);
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

/** The places of an edit and the text for them; no places when the edit was made before. */
interface EditMatch {
  readonly places: readonly TextRange[];
  readonly replacement: string;
  readonly note?: string;
}

/**
 * Locates an edit: by its exact text, else by lines that are equal in all that matters; nowhere when it was
 * made before. Throws NOT_FOUND, AMBIGUOUS_EDIT and TOO_LARGE.
 */
async function locateEdit(text: Buffer, edit: Edit, what: string): Promise<EditMatch> {
  const places = findEditPlaces(text, edit);
  const madeAt = isMadeAlready(text, edit, places) ? places : [];
  if (places.length > 0 && madeAt.length === 0) {
    if (!edit.all && places.length > 1) throw ambiguousEdit(text, places, what);
    refuseTooMuch(text, edit, places.length, what);
    return { places, replacement: edit.new };
  }
  const lines = places.length > 0 ? undefined : matchLines(text, edit);
  if (lines) return { ...lines, places: [lines] };
  if (madeAt.length === 0 && edit.new.trim().length >= leastTelling)
    madeAt.push(...findText(text, edit.new, false));
  if (madeAt.length > 0)
    return {
      places: [],
      replacement: '',
      note: `already so: new_string is there (${formatLineNumbers(text, madeAt)})`,
    };
  const { explainNotFound } = await import('./near-miss.ts');
  const { problem, wayOut } = await explainNotFound(text.toString(), edit.old);
  throw new ToolcribError('NOT_FOUND', `${what}: old_string is not there. ${problem}`, wayOut);
}

/**
 * Finds the places of a text, up to one more than the limit. Places that overlap count when only one is to be
 * replaced.
 */
function findText(text: Buffer, searched: string, all: boolean): TextRange[] {
  const places: TextRange[] = [];
  const bytes = Buffer.from(searched);
  const limit = all ? most.replaced : most.counted;
  const step = all ? bytes.length : 1;
  for (let at = text.indexOf(bytes); at !== -1 && places.length <= limit; at = text.indexOf(bytes, at + step))
    places.push({ from: at, to: at + bytes.length });
  return places;
}

/**
 * Finds the places of an edit; for an edit of lines, only whole lines, and the first below the lines in
 * `below`.
 */
function findEditPlaces(text: Buffer, { old, all, isLines, below = [] }: Edit): TextRange[] {
  const matches = findText(text, old, all === true || isLines === true);
  if (!isLines) return matches;
  const isBoundary = (at: number) => at === 0 || at === text.length || text[at - 1] === 10;
  const places = matches.filter(({ from, to }) => isBoundary(from) && (text[to] === 10 || isBoundary(to)));
  let start = 0;
  for (const line of below) {
    // A line may be given without its indentation, and without its end.
    const at = text.indexOf(line, start);
    start = at === -1 ? start : at + Buffer.byteLength(line);
  }
  const first = below.length > 0 ? places.find(({ from }) => from >= start) : undefined;
  return first ? [first] : places;
}

/** Says whether an edit that adds text around `old` was made before: it would add the text once more. */
function isMadeAlready(
  text: Buffer,
  { old, new: replacement }: Edit,
  [place, ...others]: readonly TextRange[],
): boolean {
  const offset = replacement.indexOf(old);
  if (offset === -1 || !place || others.length > 0) return false;
  const isTelling = replacement.replace(old, () => '').trim().length >= leastTelling;
  const whole = Buffer.from(replacement);
  const from = place.from - Buffer.byteLength(replacement.slice(0, offset));
  return isTelling && from >= 0 && text.subarray(from, from + whole.length).equals(whole);
}

/** Throws TOO_LARGE for an edit of too many places, before the new text is made: it could take all memory. */
function refuseTooMuch(text: Buffer, edit: Edit, count: number, what: string): void {
  const growth = count * (Buffer.byteLength(edit.new) - Buffer.byteLength(edit.old));
  if (count <= most.replaced && text.length + growth <= mostChangedBytes) return;
  const megabytes = mostChangedBytes / 1024 / 1024;
  const limits = `${formatNumber(most.replaced)} places, or make more than ${megabytes} MB`;
  throw new ToolcribError(
    'TOO_LARGE',
    `${what}: it would change more than ${limits} of the file.`,
    'Give longer pieces as old_string, or the whole content to write_file.',
  );
}

function ambiguousEdit(text: Buffer, places: readonly TextRange[], what: string): ToolcribError {
  const isMore = places.length > most.counted;
  const times = `${isMore ? `more than ${most.counted}` : places.length} times`;
  return new ToolcribError(
    'AMBIGUOUS_EDIT',
    `${what}: old_string occurs ${times} (${formatLineNumbers(text, places)}).`,
    'Give more of the text around it, or replace_all for every place.',
  );
}
