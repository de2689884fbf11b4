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
/** Characters beside a change that have the lines around it, but for very long ones. */
const margin = 1000;
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

const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** What differs, found in the lines that are not the same at both ends. */
async function hunksOf(old: string, now: string): Promise<StructuredPatchHunk[]> {
  const { structuredPatch } = await import('diff');
  // Most of a large text is the same, and need not be taken apart into lines.
  const least = Math.min(old.length, now.length);
  const same = sharedLength(least, (at, count) => old.startsWith(now.slice(at, at + count), at));
  const after = sharedLength(least - same, (at, count) =>
    old.startsWith(now.slice(now.length - at - count, now.length - at), old.length - at - count),
  );
  const begin = same > margin ? old.lastIndexOf('\n', same - margin) + 1 : 0;
  const feed = after > margin ? old.indexOf('\n', old.length - after + margin) : -1;
  const left = feed === -1 ? 0 : old.length - feed - 1;
  const skipped = old.slice(0, begin).split('\n').length - 1;
  const was = linesOf(old.slice(begin, old.length - left));
  const is = linesOf(now.slice(begin, now.length - left));
  const most = Math.min(was.length, is.length);
  let [lead, trail] = [0, 0];
  while (lead < most && was[lead] === is[lead]) lead++;
  while (trail < most - lead && was.at(-1 - trail) === is.at(-1 - trail)) trail++;
  const start = Math.max(0, lead - context);
  const part = (lines: string[]) => lines.slice(start, lines.length - Math.max(0, trail - context)).join('');
  const options = { context, maxEditLength: mostChanges };
  const found = structuredPatch('', '', part(was), part(is), '', '', options);
  if (!found)
    return [
      wholeHunk(was.slice(lead, was.length - trail), is.slice(lead, is.length - trail), skipped + lead),
    ];
  return found.hunks.map((hunk) => ({
    ...hunk,
    oldStart: hunk.oldStart + skipped + start,
    newStart: hunk.newStart + skipped + start,
  }));
}

/** How many characters, of `most`, are the same, found in steps that get smaller. */
function sharedLength(most: number, isSame: (at: number, count: number) => boolean): number {
  let at = 0;
  for (const step of [16_384, 128, 1]) while (at + step <= most && isSame(at, step)) at += step;
  return at;
}

/** Lines as removed and added. */
function wholeHunk(was: readonly string[], is: readonly string[], lead: number): StructuredPatchHunk {
  const rows = (sign: string, lines: readonly string[]) =>
    lines.flatMap((line) =>
      line.endsWith('\n') ? [sign + line.slice(0, -1)] : [sign + line, '\\ No newline at end of file'],
    );
  return {
    oldStart: lead + 1,
    oldLines: was.length,
    newStart: lead + 1,
    newLines: is.length,
    lines: [...rows('-', was), ...rows('+', is)],
  };
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
