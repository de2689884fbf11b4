import type { StructuredPatchHunk } from 'diff';
import { asUtf8 } from './encoding.ts';
import { lineAt } from './line-at.ts';
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
 * The difference of two contents of a file in the unified format of diff(1), cut after some characters;
 * without a content, of a file that is made or deleted. The same contents give an empty text.
 */
export async function unifiedDiff(
  before: Buffer | undefined,
  after: Buffer | undefined,
  { path, encoding, maxCharacters = usualCharacters }: DiffOptions,
): Promise<UnifiedDiff> {
  if (before && after && before.equals(after)) return { text: '', added: 0, removed: 0 };
  const names = [before ? `a/${path}` : '/dev/null', after ? `b/${path}` : '/dev/null'] as const;
  const [old, now] = [before, after].map((bytes = Buffer.alloc(0)) => asUtf8(bytes, encoding));
  if (!old || !now) return { text: `Binary files ${names.join(' and ')} differ\n`, added: 0, removed: 0 };
  if (old.equals(now)) return { text: 'Only the encoding differs\n', added: 0, removed: 0 };
  const header = `--- ${names[0]}\n+++ ${names[1]}\n`;
  const { structuredPatch } = await import('diff');
  const near = differingParts(old, now, margin);
  const options = { context, maxEditLength: mostChanges };
  const hunks = structuredPatch('', '', near.from, near.to, '', '', options)?.hunks;
  const whole = hunks ? near : differingParts(old, now, 0);
  const skipped = lineAt(old, whole.begin) - 1;
  // A part without lines is named by the line before it.
  const range = (start: number, count: number) => `${start + skipped - (count === 0 ? 1 : 0)},${count}`;
  const rows = (hunks ?? [wholeHunk(whole)]).flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`,
    ...lines,
  ]);
  const signs = (sign: string) => rows.filter((row) => row.startsWith(sign)).length;
  const text = `${header}${shownRows(rows, maxCharacters).join('\n')}\n`;
  return { text, added: signs('+'), removed: signs('-') };
}

/** All of two texts as one change. */
function wholeHunk({ from, to }: { readonly from: string; readonly to: string }): StructuredPatchHunk {
  const [removed = [], added = []] = [from, to].map((text) => text.match(/[^\n]*\n|[^\n]+$/g) ?? []);
  const lines = [...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)].flatMap((row) =>
    row.endsWith('\n') ? [row.slice(0, -1)] : [row, '\\ No newline at end of file'],
  );
  return { oldStart: 1, oldLines: removed.length, newStart: 1, newLines: added.length, lines };
}

/**
 * The lines that hold all that differs, with so many bytes around them, and where they begin: most is the
 * same.
 */
function differingParts(old: Buffer, now: Buffer, around: number) {
  const least = Math.min(old.length, now.length);
  const isSame = (one: number, other: number, count: number) =>
    old.compare(now, other, other + count, one, one + count) === 0;
  const same = sharedLength(least, (at, count) => isSame(at, at, count));
  const after = sharedLength(least - same, (at, count) =>
    isSame(old.length - at - count, now.length - at - count, count),
  );
  const begin = same > around ? old.lastIndexOf(10, same - around - 1) + 1 : 0;
  const feed = after > around ? old.indexOf(10, old.length - after + around - 1) : -1;
  const left = feed === -1 ? 0 : old.length - feed - 1;
  const part = (bytes: Buffer) => bytes.toString('utf8', begin, bytes.length - left);
  return { from: part(old), to: part(now), begin };
}

/** How many bytes, of `most`, are the same, found in steps that get smaller. */
function sharedLength(most: number, isSame: (at: number, count: number) => boolean): number {
  let at = 0;
  for (const step of [16_384, 128, 1]) while (at + step <= most && isSame(at, step)) at += step;
  return at;
}

/** As many rows as fit; long ones around what differs from the one that takes their place. */
function shownRows(rows: readonly string[], most: number): string[] {
  const shown: string[] = [];
  let characters = 0;
  for (const [index, row] of rows.entries()) {
    const other = rows[index + (row.startsWith('-') ? 1 : -1)] ?? '';
    const line = row.slice(1);
    const isLong = row.length > lineCharacters;
    const part = around(line, differenceAt(line, other.slice(1)), lineCharacters);
    const text = isLong ? row.charAt(0) + part : row;
    characters += text.length + 1;
    if (characters > most) return [...shown, `… ${(rows.length - index).toLocaleString('en')} more lines`];
    shown.push(text);
  }
  return shown;
}
