/** Lines `from` to `to` of one text stand where lines `nowFrom` to `nowTo` of the other do, and differ. */
export interface ChangedLines {
  readonly from: number;
  readonly to: number;
  readonly nowFrom: number;
  readonly nowTo: number;
}

/**
 * More differing lines than these take long (Myers: their square; so many, 80 ms in any text) and say little.
 * A count and no time limit, so that a busy machine gives the same answer.
 */
export const mostChanges = 600;

/** What has to be changed to make `now` of `before`: few lines where they are few, else all. */
export async function changedLines(
  before: readonly string[],
  now: readonly string[],
): Promise<ChangedLines[]> {
  const { diffArrays } = await import('diff');
  const pieces = diffArrays([...before], [...now], { maxEditLength: mostChanges });
  if (!pieces) return [{ from: 0, to: before.length, nowFrom: 0, nowTo: now.length }];
  const changes: ChangedLines[] = [];
  let [at, nowAt] = [0, 0];
  for (const { added, removed, count } of pieces) {
    const [from, nowFrom] = [at, nowAt];
    if (!added) at += count;
    if (!removed) nowAt += count;
    if (!added && !removed) continue;
    const last = changes.at(-1);
    const joins = last?.to === from && last.nowTo === nowFrom;
    if (joins) changes.pop();
    changes.push(joins ? { ...last, to: at, nowTo: nowAt } : { from, to: at, nowFrom, nowTo: nowAt });
  }
  return changes;
}
