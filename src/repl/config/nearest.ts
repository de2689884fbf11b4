/** The word that was probably meant: at most a third of its letters away. Undefined when none is near. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  let found: string | undefined;
  let least = Math.max(2, Math.ceil(word.length / 3)) + 1;
  for (const each of words) {
    const distance = distanceOf(word.toLowerCase(), each.toLowerCase());
    if (distance >= least) continue;
    least = distance;
    found = each;
  }
  return found;
}

/** ` Did you mean "…"?`, or nothing. */
export const hint = (word: string, words: readonly string[]): string => {
  const meant = nearest(word, words);
  return meant === undefined ? '' : ` Did you mean "${meant}"?`;
};

/** Letters to be added, left out, changed, or swapped with the next one. */
function distanceOf(from: string, to: string): number {
  // Names are short; what is not is no misspelling of one.
  if (from.length > 64 || to.length > 64) return Infinity;
  const lines = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => lines[row]?.[column] ?? Infinity;
  for (let row = 1; row <= from.length; row++) {
    const line = [row];
    lines.push(line);
    for (let column = 1; column <= to.length; column++) {
      const changed = at(row - 1, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const all = [changed, at(row - 1, column) + 1, at(row, column - 1) + 1];
      line.push(Math.min(...all, swapped ? at(row - 2, column - 2) + 1 : Infinity));
    }
  }
  return at(from.length, to.length);
}
