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
const mostChanges = 600;

/** What has to be changed to make `now` of `before`: few lines where they are few, else all that differ. */
export async function changedLines(
  before: readonly string[],
  now: readonly string[],
): Promise<ChangedLines[]> {
  let start = 0;
  while (start < before.length && start < now.length && before[start] === now[start]) start++;
  let end = 0;
  const most = Math.min(before.length, now.length) - start;
  while (end < most && before.at(-1 - end) === now.at(-1 - end)) end++;
  const [to, nowTo] = [before.length - end, now.length - end];
  if (start === to && start === nowTo) return [];
  const whole = [{ from: start, to, nowFrom: start, nowTo }];
  const old = new Set(before.slice(start, to));
  if (start === to || start === nowTo || !now.slice(start, nowTo).some((line) => old.has(line))) return whole;

  const { diffArrays } = await import('diff');
  const options = { maxEditLength: mostChanges };
  const changes = diffArrays(before.slice(start, to), now.slice(start, nowTo), options);
  if (!changes) return whole;
  const script: ChangedLines[] = [];
  let [at, nowAt] = [start, start];
  for (const { added, removed, count } of changes) {
    const [from, nowFrom] = [at, nowAt];
    if (!added) at += count;
    if (!removed) nowAt += count;
    if (!added && !removed) continue;
    const last = script.at(-1);
    const joined = last?.to === from && last.nowTo === nowFrom;
    if (joined) script.pop();
    script.push(joined ? { ...last, to: at, nowTo: nowAt } : { from, to: at, nowFrom, nowTo: nowAt });
  }
  return script;
}
