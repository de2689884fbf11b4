const fence = '"""';

/** Enter goes on with the next line: after a backslash at the end, and between `"""` and `"""`. */
export function isUnfinished(text: string): boolean {
  if (text.startsWith(fence)) return !(text.length >= 2 * fence.length && text.trimEnd().endsWith(fence));
  // Two backslashes are one that is meant.
  return (/\\+$/.exec(text)?.[0].length ?? 0) % 2 === 1;
}

/** The text that Enter makes of an unfinished one. */
export const continued = (text: string): string => `${text.startsWith(fence) ? text : text.slice(0, -1)}\n`;

/** What was meant: without the `"""` around it. */
export function meant(text: string): string {
  if (!text.startsWith(fence) || isUnfinished(text)) return text;
  return text
    .trimEnd()
    .slice(fence.length, -fence.length)
    .replace(/^\n|\n$/g, '');
}

/**
 * The cursor one line further up or down in a text of several lines, in the same column; undefined past an end of
 * it.
 */
export function vertically(text: string, cursor: number, step: 1 | -1): number | undefined {
  const start = text.lastIndexOf('\n', cursor - 1) + 1;
  const column = cursor - start;
  if (step === -1) {
    if (start === 0) return undefined;
    const above = text.lastIndexOf('\n', start - 2) + 1;
    return Math.min(above + column, start - 1);
  }
  const below = text.indexOf('\n', cursor) + 1;
  if (below === 0) return undefined;
  const end = text.indexOf('\n', below);
  return Math.min(below + column, end < 0 ? text.length : end);
}
