import type { Paint } from './paint.ts';

const hunk = /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/m;

/** Whether a text holds hunks of a unified diff. */
export const looksLikeDiff = (text: string): boolean => hunk.test(text);

/** The line that stands above the diff a text holds, as in `Edited a.ts: +1 -1`. */
export const aboveDiff = (text: string): string | undefined =>
  looksLikeDiff(text) ? /^(?!---|\+\+\+|diff |index |@@|```).+(?=\n)/.exec(text)?.[0] : undefined;

/** The lines of a text, those of the unified diffs in it coloured. */
export function diffLines(text: string, paint: Paint): string[] {
  let inside = false;
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => {
      if (/^(?:---|\+\+\+) \S/.test(line) || /^(?:diff|index) /.test(line)) return paint.strong(line);
      inside = hunk.test(line) || (inside && /^[-+ \\]/.test(line));
      if (!inside) return line;
      if (line.startsWith('@@')) return paint.dim(line);
      return line.startsWith('+') ? paint.added(line) : line.startsWith('-') ? paint.removed(line) : line;
    });
}
