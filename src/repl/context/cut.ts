import type { Budget } from './budget.ts';
import { estimateMessage } from './tokens.ts';
import type { Item } from './item.ts';

/** Kept even when they are long, so that the work at hand is not interrupted. */
const leastMessages = 10;

/**
 * The position of the first item that a compaction keeps, always a message of the person or an answer of the model:
 * never between a call and its results. Undefined when everything would be kept, or nothing is left to summarise.
 */
export function cutOf(items: readonly Item[], { keep }: Budget): number | undefined {
  // What is before it is what was said since the last summary; there must be something.
  const first = items.findIndex((item) => !item.isSummary);
  const points = items.flatMap(({ message }, at) => (at > first && message.role !== 'tool' ? [at] : []));
  if (points.length === 0) return undefined;
  const isUser = (at: number) => items[at]?.message.role === 'user';
  const from = tokensFrom(items);
  const tokens = (at: number) => from[at] ?? 0;

  const natural = items.findLastIndex(
    (_, at) => (tokens(at) >= keep && items.length - at >= leastMessages) || tokens(at) > 2 * keep,
  );
  const turn = points.findLast((at) => at <= natural && isUser(at));
  const end = items.findIndex((_, at) => at > natural && isUser(at));
  const isLong = turn === undefined || tokens(turn) - (end < 0 ? 0 : tokens(end)) > keep;
  // A conversation that is short, but has to be cut: the newest turn stays, or the newest answer.
  const cut =
    (isLong ? points.findLast((at) => at <= natural) : turn) ?? points.findLast(isUser) ?? points.at(-1);
  // Ten messages, or the rest of a turn, may be more than a window holds.
  const fitting = points.filter((at) => at >= (cut ?? 0) && tokens(at) <= 2 * keep);
  if (cut === fitting[0]) return cut;
  return fitting.find((at) => isUser(at) && tokens(at) >= keep) ?? fitting[0] ?? points.at(-1);
}

/** For each position the tokens from there to the end. */
function tokensFrom(items: readonly Item[]): number[] {
  const from = Array<number>(items.length + 1).fill(0);
  for (let at = items.length - 1; at >= 0; at--) {
    const item = items[at];
    from[at] = (from[at + 1] ?? 0) + (item ? estimateMessage(item.message) : 0);
  }
  return from;
}
