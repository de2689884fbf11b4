/** Enter goes on with the next line after a backslash at the end; two of them are one that is meant. */
export const isUnfinished = (text: string): boolean => (/\\+$/.exec(text)?.[0].length ?? 0) % 2 === 1;

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
