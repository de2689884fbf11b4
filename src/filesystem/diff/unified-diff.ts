import type { StructuredPatchHunk } from 'diff';
import { countLines, encodingIn, encodingToShow, shownText, type Encoding } from '../text/encoding.ts';
import { around, differenceAt } from '../text/visible-line.ts';

import { diffPath } from './diff-path.ts';

export interface UnifiedDiff {
  readonly text: string;
  /** Lines, also those that are not shown. */
  readonly added: number;
  readonly removed: number;
  readonly truncated: boolean;
}

interface DiffOptions {
  /** As it is shown. */
  readonly path: string;
  /** Of both, unless byte order marks say otherwise. */
  readonly encoding?: string | undefined;
  readonly maxCharacters?: number | undefined;
}

const usualCharacters = 8_000;
const lineFeed = 0x0a;
/** Lines around a change. */
const context = 3;
/** By which the encoding is told. */
const headBytes = 64 * 1024;
/**
 * More differing lines than these take long (Myers: their square; so many, 80 ms in any text) and say little.
 * A count and no time limit, so that a busy machine gives the same answer.
 */
const mostChanges = 600;
/** Of a longer line only the part around the difference is shown; such a diff cannot be applied. */
const lineCharacters = 500;

/**
 * The difference of two contents of a file in the unified format of diff(1), so that `patch` and `git apply` can apply
 * it unless it is cut; without a content, of a file that is made or deleted. The same contents give an empty text.
 */
export async function unifiedDiff(
  before: Buffer | undefined,
  after: Buffer | undefined,
  { path, encoding: label, maxCharacters = usualCharacters }: DiffOptions,
): Promise<UnifiedDiff> {
  const [old, now] = [before ?? Buffer.alloc(0), after ?? Buffer.alloc(0)];
  if (before && after && before.equals(after)) return nothing;
  const names = [before ? diffPath('a', path) : '/dev/null', after ? diffPath('b', path) : '/dev/null'];
  const [was, is] = [encodingFor(old, label), encodingFor(now, label)];
  if (!was || !is) return { ...nothing, text: `Binary files ${names.join(' and ')} differ\n` };
  const isSame = was.label === is.label || old.length === 0 || now.length === 0;
  const shared = old.length === 0 ? is : was;
  // As bytes where they can be compared, so that only the lines that are shown have to be decoded; else as UTF-8.
  const asBytes = isSame && shared.unit === 1;
  const comparable = (bytes: Buffer, { mark, label }: Encoding) =>
    asBytes ? bytes : Buffer.from(shownText(bytes.subarray(mark), label));
  const [one, other] = [comparable(old, was), comparable(now, is)];
  if (one.equals(other))
    return { ...nothing, text: `Only the encoding differs: ${was.label} before, ${is.label} now\n` };
  const hunks = await hunksOf(one, other);
  const show = (line: string) => shownText(Buffer.from(line, 'latin1'), asBytes ? shared.label : 'utf-8');
  const rows = renderedRows(hunks, show, maxCharacters);
  const signs = (sign: string) =>
    hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.startsWith(sign)).length, 0);
  return {
    text: `--- ${names[0]}\n+++ ${names[1]}\n${rows.text}`,
    added: signs('+'),
    removed: signs('-'),
    truncated: rows.truncated,
  };
}

/** The difference of what has been changed already: that it cannot be shown must not make it look undone. */
export const diffAfterwards = (...given: Parameters<typeof unifiedDiff>): Promise<UnifiedDiff> =>
  unifiedDiff(...given).catch(() => ({
    ...nothing,
    text: 'The difference cannot be shown.\n',
    truncated: true,
  }));

const nothing: UnifiedDiff = { text: '', added: 0, removed: 0, truncated: false };

function encodingFor(bytes: Buffer, label: string | undefined): Encoding | undefined {
  const found = encodingToShow(bytes.subarray(0, headBytes));
  return label === undefined || (found && found.mark > 0) ? found : encodingIn(bytes, label);
}

/** What differs, a character for each byte, found in the part that is not the same at both ends. */
async function hunksOf(old: Buffer, now: Buffer): Promise<StructuredPatchHunk[]> {
  const { structuredPatch } = await import('diff');
  const most = Math.min(old.length, now.length);
  let start = sharedLength(most, (at, count) =>
    old.subarray(at, at + count).equals(now.subarray(at, at + count)),
  );
  let left = sharedLength(most - start, (at, count) => {
    const part = (bytes: Buffer) => bytes.subarray(bytes.length - at - count, bytes.length - at);
    return part(old).equals(part(now));
  });
  // From the beginning of a line on, and some lines before it.
  for (let line = 0; line <= context && start > 0; line++)
    start = start === 1 ? 0 : old.lastIndexOf(lineFeed, start - (line === 0 ? 1 : 2)) + 1;
  for (let line = 0; line <= context && left > 0; line++) {
    const next = old.indexOf(lineFeed, old.length - left);
    left = next === -1 ? 0 : old.length - next - 1;
  }
  const oldPart = old.toString('latin1', start, old.length - left);
  const part = now.toString('latin1', start, now.length - left);
  const found = structuredPatch('', '', oldPart, part, '', '', { context, maxEditLength: mostChanges });
  const skipped = countLines(old.subarray(0, start), { unit: 1, label: 'utf-8' });
  return (found?.hunks ?? [wholeHunk(oldPart, part)]).map((hunk) => ({
    ...hunk,
    oldStart: hunk.oldStart + skipped,
    newStart: hunk.newStart + skipped,
  }));
}

/** How many bytes, of `most`, are the same, found in steps that get smaller. */
function sharedLength(most: number, isSame: (at: number, count: number) => boolean): number {
  let at = 0;
  for (const step of [16_384, 128, 1]) while (at + step <= most && isSame(at, step)) at += step;
  return at;
}

/** All lines as removed and added, without those around that are the same. */
function wholeHunk(old: string, now: string): StructuredPatchHunk {
  const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const [was, is] = [linesOf(old), linesOf(now)];
  let [lead, trail] = [0, 0];
  while (lead < context && lead < was.length && was[lead] === is[lead]) lead++;
  const most = Math.min(was.length, is.length) - lead;
  while (trail < Math.min(context, most) && was.at(-1 - trail) === is.at(-1 - trail)) trail++;
  const rows = (sign: string, lines: string[]) =>
    lines.flatMap((line) =>
      line.endsWith('\n') ? [sign + line.slice(0, -1)] : [sign + line, '\\ No newline at end of file'],
    );
  return {
    oldStart: 1,
    oldLines: was.length,
    newStart: 1,
    newLines: is.length,
    lines: [
      ...rows(' ', was.slice(0, lead)),
      ...rows('-', was.slice(lead, was.length - trail)),
      ...rows('+', is.slice(lead, is.length - trail)),
      ...rows(' ', was.slice(was.length - trail)),
    ],
  };
}

/** As many lines of the hunks as fit. */
function renderedRows(hunks: readonly StructuredPatchHunk[], show: (line: string) => string, most: number) {
  const rows: string[] = [];
  let [characters, left] = [0, 0];
  const add = (row: () => string) => {
    // The others are only counted.
    const shown = left === 0 ? row() : '';
    characters += shown.length + 1;
    if (characters > most) left++;
    else rows.push(shown);
  };
  for (const { oldStart, oldLines, newStart, newLines, lines } of hunks) {
    add(() => `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`);
    for (const [index, line] of lines.entries()) {
      if (line.startsWith('\\')) rows.push(...(left === 0 ? [line] : []));
      else add(() => line.slice(0, 1) + clipped(line, lines[index + (line.startsWith('-') ? 1 : -1)], show));
    }
  }
  if (left > 0) rows.push(`… ${left.toLocaleString('en')} more lines`);
  return { text: rows.map((row) => `${row}\n`).join(''), truncated: left > 0 };
}

/** A range of no lines is given by the line before it. */
const range = (start: number, count: number): string =>
  count === 1 ? `${start}` : `${count === 0 ? start - 1 : start},${count}`;

/** A line as it is shown, when it is long the part that differs from the one that takes its place. */
function clipped(line: string, other: string | undefined, show: (line: string) => string): string {
  const shown = show(line.slice(1));
  if (shown.length <= lineCharacters || line.startsWith(' ')) return around(shown, 0, lineCharacters);
  return around(shown, other === undefined ? 0 : differenceAt(shown, show(other.slice(1))), lineCharacters);
}
