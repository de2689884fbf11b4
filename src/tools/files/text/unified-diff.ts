import type { StructuredPatchHunk } from 'diff';
import { toUtf8 } from './encoding.ts';
import { lineAt } from './line-at.ts';
import { excerptAround, differenceAt } from './visible-line.ts';

/** A diff in the unified format, and the numbers of its lines. */
export interface UnifiedDiff {
  readonly text: string;
  /** The number of lines added, shown or not. */
  readonly added: number;
  /** The number of lines removed, shown or not. */
  readonly removed: number;
}

/** The path, encoding and length of a diff. */
interface DiffOptions {
  /** The path in the header. */
  readonly path: string;
  /** The encoding of both contents, unless they have byte order marks. */
  readonly encoding?: string | undefined;
  readonly maxCharacters?: number | undefined;
}

const usualCharacters = 8_000;
/** Bytes around a change that are compared, which have the lines around it unless these are very long. */
const margin = 1000;
/** Lines shown around a change. */
const context = 3;
/**
 * Differing lines that are compared one by one; more take long, as Myers' algorithm takes their square. A
 * count rather than a time limit gives the same diff on a busy machine.
 */
const mostChanges = 600;
/** Characters of a line; of a longer one, only the part around the difference is shown. */
const lineCharacters = 500;

/**
 * Compares two contents of a file and formats the differences as diff -u does, up to a number of characters.
 * A missing content is that of a file that is made or deleted. Equal contents give an empty text.
 */
export async function unifiedDiff(
  before: Buffer | undefined,
  after: Buffer | undefined,
  { path, encoding, maxCharacters = usualCharacters }: DiffOptions,
): Promise<UnifiedDiff> {
  if (before && after && before.equals(after)) return { text: '', added: 0, removed: 0 };
  const names = [before ? `a/${path}` : '/dev/null', after ? `b/${path}` : '/dev/null'] as const;
  const [old, now] = [before, after].map((bytes = Buffer.alloc(0)) => toUtf8(bytes, encoding));
  if (!old || !now) return { text: `Binary files ${names.join(' and ')} differ\n`, added: 0, removed: 0 };
  if (old.equals(now)) return { text: 'Only the encoding differs\n', added: 0, removed: 0 };
  const header = `--- ${names[0]}\n+++ ${names[1]}\n`;
  const { structuredPatch } = await import('diff');
  const near = differingParts(old, now, margin);
  const options = { context, maxEditLength: mostChanges };
  const hunks = structuredPatch('', '', near.from, near.to, '', '', options)?.hunks;
  const whole = hunks ? near : differingParts(old, now, 0);
  const skipped = lineAt(old, whole.begin) - 1;
  // A range without lines is named by the line before it.
  const range = (start: number, count: number) => `${start + skipped - (count === 0 ? 1 : 0)},${count}`;
  const rows = (hunks ?? [wholeHunk(whole)]).flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`,
    ...lines,
  ]);
  const signs = (sign: string) => rows.filter((row) => row.startsWith(sign)).length;
  const text = `${header}${shownRows(rows, maxCharacters).join('\n')}\n`;
  return { text, added: signs('+'), removed: signs('-') };
}

/** A hunk that replaces all of a text by another. */
function wholeHunk({ from, to }: { readonly from: string; readonly to: string }): StructuredPatchHunk {
  const [removed = [], added = []] = [from, to].map((text) => text.match(/[^\n]*\n|[^\n]+$/g) ?? []);
  const lines = [...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)].flatMap((row) =>
    row.endsWith('\n') ? [row.slice(0, -1)] : [row, '\\ No newline at end of file'],
  );
  return { oldStart: 1, oldLines: removed.length, newStart: 1, newLines: added.length, lines };
}

/** The parts of two texts that differ, and the byte at which they begin. */
interface DifferingParts {
  readonly from: string;
  readonly to: string;
  readonly begin: number;
}

/** Finds the lines that have all differences, with so many bytes around them; most of two texts is equal. */
function differingParts(old: Buffer, now: Buffer, around: number): DifferingParts {
  const least = Math.min(old.length, now.length);
  const isSame = (inOld: number, inNow: number, count: number) =>
    old.compare(now, inNow, inNow + count, inOld, inOld + count) === 0;
  const same = sharedLength(least, (at, count) => isSame(at, at, count));
  const after = sharedLength(least - same, (at, count) =>
    isSame(old.length - at - count, now.length - at - count, count),
  );
  const begin = same > around ? old.lastIndexOf(10, same - around - 1) + 1 : 0;
  const feed = after > around ? old.indexOf(10, old.length - after + around - 1) : -1;
  const trailing = feed === -1 ? 0 : old.length - feed - 1;
  const part = (bytes: Buffer) => bytes.toString('utf8', begin, bytes.length - trailing);
  return { from: part(old), to: part(now), begin };
}

/** Counts the bytes that are equal, up to `most`, in steps that get smaller. */
function sharedLength(most: number, isSame: (at: number, count: number) => boolean): number {
  let at = 0;
  for (const step of [16_384, 128, 1]) while (at + step <= most && isSame(at, step)) at += step;
  return at;
}

/** The rows that fit; of long ones, the part around the difference from the row that replaces them. */
function shownRows(rows: readonly string[], most: number): string[] {
  const shown: string[] = [];
  let characters = 0;
  for (const [index, row] of rows.entries()) {
    const other = rows[index + (row.startsWith('-') ? 1 : -1)] ?? '';
    const line = row.slice(1);
    const isLong = row.length > lineCharacters;
    const part = excerptAround(line, differenceAt(line, other.slice(1)), lineCharacters);
    const text = isLong ? row.charAt(0) + part : row;
    characters += text.length + 1;
    if (characters > most) return [...shown, `… ${(rows.length - index).toLocaleString('en')} more lines`];
    shown.push(text);
  }
  return shown;
}
