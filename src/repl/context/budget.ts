import type { ToolDefinition } from '../providers/provider.ts';
import { estimateMessage, estimateTokens, estimateTools, measuredTokens } from './tokens.ts';
import type { Item } from './item.ts';

/** How the context window is shared out. All in tokens. */
export interface Budget {
  readonly window: number;
  /** Left free for the answer. */
  readonly reserve: number;
  /** From here on the conversation is compacted before the next request. */
  readonly limit: number;
  /** The newest messages, kept word for word by a compaction. */
  readonly keep: number;
  /** The newest output of tools, which is not pruned. */
  readonly protectedOutput: number;
  /** Pruning that frees less is not worth losing the provider's cache. */
  readonly leastPruned: number;
  /** The most a model may write for a summary. */
  readonly summary: number;
  /** The most of the person's messages in a summary made without the model. */
  readonly fallback: number;
}

/** The shares of a window. */
export function budgetOf(window: number): Budget {
  const share = (most: number, part: number) => Math.floor(Math.min(most, part * window));
  const reserve = share(16_384, 0.2);
  return {
    window,
    reserve,
    limit: Math.floor(Math.min(0.85 * window, window - reserve)),
    keep: share(20_000, 0.25),
    protectedOutput: share(40_000, 0.25),
    leastPruned: share(20_000, 0.1),
    summary: Math.floor(0.8 * reserve),
    fallback: share(20_000, 0.2),
  };
}

/**
 * The budget to recover with when a provider says that `used` tokens do not fit. When we counted fewer than the
 * window, the window is smaller than we were told (a local server started with less), or we count badly: either way
 * `used` is too much.
 */
export const budgetAfterOverflow = (budget: Budget, used: number): Budget =>
  used >= budget.window ? budget : budgetOf(Math.max(1, used));

export interface Used {
  readonly tokens: number;
  /** No provider has counted any of it. */
  readonly estimated: boolean;
}

/** What the next request holds: what was counted for the last answer, and an estimate of what came after it. */
export function usedTokens(items: readonly Item[], tools: readonly ToolDefinition[], system = ''): Used {
  let after = 0;
  for (const { message } of items.toReversed()) {
    const measured = message.role === 'assistant' ? measuredTokens(message) : undefined;
    if (measured !== undefined) return { tokens: measured + after, estimated: false };
    after += estimateMessage(message);
  }
  return { tokens: estimateAll(items, tools, system), estimated: true };
}

/** An estimate of a whole request. */
export const estimateAll = (items: readonly Item[], tools: readonly ToolDefinition[], system = ''): number =>
  items.reduce(
    (sum, { message }) => sum + estimateMessage(message),
    estimateTokens(system) + estimateTools(tools),
  );

export interface Fill {
  /** Of the window, rounded; more than 100 when it does not fit. */
  readonly percent: number;
  /** Tokens until the conversation is compacted. */
  readonly available: number;
  /** `near`: the last tenth before a compaction; `full`: the next request compacts. */
  readonly state: 'free' | 'near' | 'full';
}

/** How full the window is, for the usage line and `/status`. */
export function fillOf({ window, limit }: Budget, used: number): Fill {
  return {
    percent: Math.round((100 * used) / window),
    available: Math.max(0, limit - used),
    state: used >= limit ? 'full' : used >= 0.9 * limit ? 'near' : 'free',
  };
}
