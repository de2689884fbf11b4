/**
 * The known word that differs least from `word`, if it is near enough to be a slip: at most a third of it, or
 * 2. Of several, one that begins with it. Otherwise the only one that begins with it, when it has at least 3
 * letters.
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  // The distance takes time in the product of the lengths.
  if (word.length > 100) return undefined;
  const ranked = known
    .map((candidate) => ({
      candidate,
      distance: editDistance(fold(word), fold(candidate)),
      begins: fold(candidate).startsWith(fold(word)),
    }))
    .sort((a, b) => a.distance - b.distance || Number(b.begins) - Number(a.begins));
  const best = ranked[0];
  if (best && best.distance <= Math.max(2, Math.floor(word.length / 3))) return best.candidate;
  const begun =
    fold(word).length < 3 ? [] : known.filter((candidate) => fold(candidate).startsWith(fold(word)));
  return begun.length === 1 ? begun[0] : undefined;
}

const fold = (word: string): string => word.toLowerCase().replaceAll(/[_-]/g, '');

/**
 * Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours (Damerau,
 * 1964).
 */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min((previous[j - 1] ?? 0) + same, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, (before[j - 2] ?? Infinity) + 1);
      row.push(best);
    }
    [before, previous] = [previous, row];
  }
  return previous[b.length] ?? 0;
}
