import type { Paint } from './paint.ts';

const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/m;

/** Whether a text holds hunks of a unified diff. */
export const looksLikeDiff = (text: string): boolean => hunk.test(text);

/** The line that stands above the diff a text holds, as in `Edited a.ts: +1 -1`. */
export const aboveDiff = (text: string): string | undefined =>
  looksLikeDiff(text) ? /^(?!---|\+\+\+|diff |index |@@|```).+(?=\n)/.exec(text)?.[0] : undefined;

/** The lines of a text, those of the unified diffs in it coloured. */
export function diffLines(text: string, paint: Paint): string[] {
  // What the hunk still has to come, by its own count: `--- a` may be a line of it or the head of the next file.
  let removed = 0;
  let added = 0;
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => {
      const inside = removed > 0 || added > 0;
      const head = inside ? null : hunk.exec(line);
      if (head) {
        removed = Number(head[1] ?? 1);
        added = Number(head[2] ?? 1);
        return paint.dim(line);
      }
      if (!inside) return /^(?:---|\+\+\+|diff|index) /.test(line) ? paint.strong(line) : line;
      if (line.startsWith('\\')) return paint.dim(line);
      if (!line.startsWith('+')) removed--;
      if (!line.startsWith('-')) added--;
      return line.startsWith('+') ? paint.added(line) : line.startsWith('-') ? paint.removed(line) : line;
    });
}
