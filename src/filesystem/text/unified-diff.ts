import type { StructuredPatchHunk } from 'diff';
import { textToShow } from '../text/encoding.ts';
import { around, differenceAt } from '../text/visible-line.ts';

export interface UnifiedDiff {
  readonly text: string;
  /** Lines, also those that are not shown. */
  readonly added: number;
  readonly removed: number;
}

interface DiffOptions {
  /** As it is shown. */
  readonly path: string;
  /** Of both, unless byte order marks say otherwise. */
  readonly encoding?: string | undefined;
  readonly maxCharacters?: number | undefined;
}

const usualCharacters = 8_000;
/** Lines around a change. */
const context = 3;
/**
 * More differing lines than these take long (Myers: their square; so many, 80 ms in any text) and say little.
 * A count and no time limit, so that a busy machine gives the same answer.
 */
const mostChanges = 600;
/** Of a longer line only the part around the difference is shown; such a diff cannot be applied. */
const lineCharacters = 500;

/**
 * The difference of two contents of a file in the unified format of diff(1), cut after some characters; without a
 * content, of a file that is made or deleted. The same contents give an empty text.
 */
export async function unifiedDiff(
  before: Buffer | undefined,
  after: Buffer | undefined,
  { path, encoding, maxCharacters = usualCharacters }: DiffOptions,
): Promise<UnifiedDiff> {
  if (before && after && before.equals(after)) return { text: '', added: 0, removed: 0 };
  const names = [before ? `a/${path}` : '/dev/null', after ? `b/${path}` : '/dev/null'];
  const [old, now] = [before, after].map((bytes) => (bytes ? textToShow(bytes, encoding) : ''));
  if (old === undefined || now === undefined)
    return { text: `Binary files ${names.join(' and ')} differ\n`, added: 0, removed: 0 };
  if (old === now) return { text: 'Only the encoding differs\n', added: 0, removed: 0 };
  const hunks = await hunksOf(old, now);
  const signs = (sign: string) =>
    hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.startsWith(sign)).length, 0);
  return {
    text: `--- ${names[0]}\n+++ ${names[1]}\n${renderedRows(hunks, maxCharacters)}`,
    added: signs('+'),
    removed: signs('-'),
  };
}

/** What differs, found in the part that is not the same at both ends. */
async function hunksOf(old: string, now: string): Promise<StructuredPatchHunk[]> {
  const { structuredPatch } = await import('diff');
  const most = Math.min(old.length, now.length);
  let start = sharedLength(most, (at, count) => old.slice(at, at + count) === now.slice(at, at + count));
  let left = sharedLength(most - start, (at, count) => {
    const part = (text: string) => text.slice(text.length - at - count, text.length - at);
    return part(old) === part(now);
  });
  // From the beginning of a line on, and some lines before it.
  for (let line = 0; line <= context && start > 0; line++)
    start = start === 1 ? 0 : old.lastIndexOf('\n', start - (line === 0 ? 1 : 2)) + 1;
  for (let line = 0; line <= context && left > 0; line++) {
    const next = old.indexOf('\n', old.length - left);
    left = next === -1 ? 0 : old.length - next - 1;
  }
  const [was, is] = [old.slice(start, old.length - left), now.slice(start, now.length - left)];
  const found = structuredPatch('', '', was, is, '', '', { context, maxEditLength: mostChanges });
  const skipped = old.slice(0, start).split('\n').length - 1;
  return (found?.hunks ?? [wholeHunk(was, is)]).map((hunk) => ({
    ...hunk,
    oldStart: hunk.oldStart + skipped,
    newStart: hunk.newStart + skipped,
  }));
}

/** How many characters, of `most`, are the same, found in steps that get smaller. */
function sharedLength(most: number, isSame: (at: number, count: number) => boolean): number {
  let at = 0;
  for (const step of [16_384, 128, 1]) while (at + step <= most && isSame(at, step)) at += step;
  return at;
}

/** All lines as removed and added, without those at both ends that are the same. */
function wholeHunk(old: string, now: string): StructuredPatchHunk {
  const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const [was, is] = [linesOf(old), linesOf(now)];
  let lead = 0;
  for (; was[lead] !== undefined && was[lead] === is[lead]; lead++);
  for (; was.length > lead && is.length > lead && was.at(-1) === is.at(-1); was.pop()) is.pop();
  const rows = (sign: string, lines: string[]) =>
    lines
      .slice(lead)
      .flatMap((line) =>
        line.endsWith('\n') ? [sign + line.slice(0, -1)] : [sign + line, '\\ No newline at end of file'],
      );
  return {
    oldStart: lead + 1,
    oldLines: was.length - lead,
    newStart: lead + 1,
    newLines: is.length - lead,
    lines: [...rows('-', was), ...rows('+', is)],
  };
}

/** As many lines of the hunks as fit. */
function renderedRows(hunks: readonly StructuredPatchHunk[], most: number): string {
  const rows: string[] = [];
  let [characters, left] = [0, 0];
  const add = (row: string) => {
    characters += row.length + 1;
    if (characters > most) left++;
    else rows.push(row);
  };
  for (const { oldStart, oldLines, newStart, newLines, lines } of hunks) {
    add(`@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`);
    for (const [index, line] of lines.entries()) {
      if (line.startsWith('\\')) rows.push(...(left === 0 ? [line] : []));
      else if (left > 0) left++;
      else add(clipped(line, lines[index + (line.startsWith('-') ? 1 : -1)]));
    }
  }
  if (left > 0) rows.push(`… ${left.toLocaleString('en')} more lines`);
  return rows.map((row) => `${row}\n`).join('');
}

/** A range of no lines is given by the line before it. */
const range = (start: number, count: number): string =>
  count === 1 ? `${start}` : `${count === 0 ? start - 1 : start},${count}`;

/** A line as it is shown, when it is long the part that differs from the one that takes its place. */
function clipped(line: string, other = ''): string {
  if (line.length <= lineCharacters) return line;
  const text = line.slice(1);
  return line.charAt(0) + around(text, differenceAt(text, other.slice(1)), lineCharacters);
}
