/** How the context window is shared out. All in tokens. */
export interface Budget {
  readonly window: number;
  /** From here on the conversation is compacted before the next request; the rest is for the answer. */
  readonly limit: number;
  /** The newest messages, which a compaction keeps word for word. */
  readonly keep: number;
  /** The most a model may write for a summary. */
  readonly summary: number;
}

/** The shares of a window. */
export function budgetOf(window: number): Budget {
  const share = (most: number, part: number) => Math.floor(Math.min(most, part * window));
  const reserve = share(16_384, 0.2);
  return {
    window,
    limit: Math.floor(Math.min(0.85 * window, window - reserve)),
    keep: share(20_000, 0.25),
    summary: Math.floor(0.8 * reserve),
  };
}

/**
 * The budget to recover with when a provider says that `used` tokens do not fit. When we counted fewer than the
 * window, the window is smaller than we were told (a local server started with less), or we count badly: either way
 * `used` is too much.
 */
export const budgetAfterOverflow = (budget: Budget, used: number): Budget =>
  used >= budget.window ? budget : budgetOf(Math.max(1, used));

export interface Fill {
  /** Of the window, rounded; more than 100 when it does not fit. */
  readonly percent: number;
  /** Tokens until the conversation is compacted. */
  readonly available: number;
  /** `near`: the last tenth before a compaction; `full`: the next request compacts. */
  readonly state: 'free' | 'near' | 'full';
}

/** How full the window is, for the usage line and `/status`. */
export const fillOf = ({ window, limit }: Budget, used: number): Fill => ({
  percent: Math.round((100 * used) / window),
  available: Math.max(0, limit - used),
  state: used >= limit ? 'full' : used >= 0.9 * limit ? 'near' : 'free',
});
