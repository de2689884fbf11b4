import type { StructuredPatchHunk } from 'diff';
import { asUtf8 } from './encoding.ts';
import { around, differenceAt } from './visible-line.ts';

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
/** Bytes beside a change that have the lines around it, but for very long ones. */
const margin = 1000;
/** Lines around a change. */
const context = 3;
/** More differing lines than these take long (Myers: their square) and say little; a count, and no time limit, so that
 * a busy machine gives the same answer. */
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
  const [old, now] = [before, after].map((bytes = Buffer.alloc(0)) => asUtf8(bytes, encoding));
  if (!old || !now) return { text: `Binary files ${names.join(' and ')} differ\n`, added: 0, removed: 0 };
  if (old.equals(now)) return { text: 'Only the encoding differs\n', added: 0, removed: 0 };
  const { formatPatch } = await import('diff');
  const hunks = await hunksOf(old, now);
  const headers = { oldHeader: undefined, newHeader: undefined };
  const patch = formatPatch({ oldFileName: names[0], newFileName: names[1], ...headers, hunks });
  // The first line is one of =.
  const [one, other, ...rows] = patch.split('\n').slice(1, -1);
  const signs = (sign: string) => rows.filter((row) => row.startsWith(sign)).length;
  const text = [one, other, ...shownRows(rows, maxCharacters), ''].join('\n');
  return { text, added: signs('+'), removed: signs('-') };
}

/** What differs, found in the lines that are not the same at both ends. */
async function hunksOf(old: Buffer, now: Buffer): Promise<StructuredPatchHunk[]> {
  const { structuredPatch } = await import('diff');
  const { begin, left } = differingPart(old, now);
  const part = (bytes: Buffer) => bytes.toString('utf8', begin, bytes.length - left);
  const skipped = countOf(old, 10, begin);
  const options = { context, maxEditLength: mostChanges };
  const hunks =
    structuredPatch('', '', part(old), part(now), '', '', options)?.hunks ?? wholeHunk(part(old), part(now));
  return hunks.map((hunk) => ({
    ...hunk,
    oldStart: hunk.oldStart + skipped,
    newStart: hunk.newStart + skipped,
  }));
}

/** Where the lines around a difference begin, and how many bytes are behind them: most of a large text is the same. */
function differingPart(old: Buffer, now: Buffer): { begin: number; left: number } {
  const least = Math.min(old.length, now.length);
  const isSame = (one: number, other: number, count: number) =>
    old.compare(now, other, other + count, one, one + count) === 0;
  const same = sharedLength(least, (at, count) => isSame(at, at, count));
  const after = sharedLength(least - same, (at, count) =>
    isSame(old.length - at - count, now.length - at - count, count),
  );
  const begin = same > margin ? old.lastIndexOf(10, same - margin) + 1 : 0;
  const feed = after > margin ? old.indexOf(10, old.length - after + margin) : -1;
  return { begin, left: feed === -1 ? 0 : old.length - feed - 1 };
}

/** How many bytes, of `most`, are the same, found in steps that get smaller. */
function sharedLength(most: number, isSame: (at: number, count: number) => boolean): number {
  let at = 0;
  for (const step of [16_384, 128, 1]) while (at + step <= most && isSame(at, step)) at += step;
  return at;
}

function countOf(bytes: Buffer, wanted: number, end: number): number {
  let count = 0;
  for (let at = 0; at < end; at++) if (bytes[at] === wanted) count++;
  return count;
}

/** All lines that differ as removed and added. */
function wholeHunk(old: string, now: string): StructuredPatchHunk[] {
  const linesIn = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const [was, is] = [linesIn(old), linesIn(now)];
  const most = Math.min(was.length, is.length);
  let [lead, trail] = [0, 0];
  while (lead < most && was[lead] === is[lead]) lead++;
  while (trail < most - lead && was.at(-1 - trail) === is.at(-1 - trail)) trail++;
  const [removed, added] = [was.slice(lead, was.length - trail), is.slice(lead, is.length - trail)];
  const rows = (sign: string, lines: readonly string[]) =>
    lines.flatMap((line) =>
      line.endsWith('\n') ? [sign + line.slice(0, -1)] : [sign + line, '\\ No newline at end of file'],
    );
  const lines = [...rows('-', removed), ...rows('+', added)];
  const start = { oldStart: lead + 1, newStart: lead + 1 };
  return [{ ...start, oldLines: removed.length, newLines: added.length, lines }];
}

/** As many rows as fit, long ones around what differs. */
function shownRows(rows: readonly string[], most: number): string[] {
  const shown: string[] = [];
  let characters = 0;
  for (const [index, row] of rows.entries()) {
    const text = clipped(row, rows[index + (row.startsWith('-') ? 1 : -1)]);
    characters += text.length + 1;
    if (characters > most) return [...shown, `… ${(rows.length - index).toLocaleString('en')} more lines`];
    shown.push(text);
  }
  return shown;
}

/** A line as it is shown, when it is long the part that differs from the one that takes its place. */
function clipped(line: string, other = ''): string {
  if (line.length <= lineCharacters) return line;
  const text = line.slice(1);
  return line.charAt(0) + around(text, differenceAt(text, other.slice(1)), lineCharacters);
}
