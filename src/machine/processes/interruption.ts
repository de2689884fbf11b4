import type { Command } from './command.ts';
import type { Excess } from './memory-limit.ts';

/** The time a call may take: clients give up at 60 s. */
const callBudgetMs = 45_000;

/** The end of a run before its programs end by themselves. */
export interface Interruption {
  /** Undefined as long as nothing interrupts. */
  readonly reason: 'timed_out' | 'cancelled' | 'out_of_memory' | undefined;
  /** The memory that a program held, if that is the reason. */
  readonly excess: Excess | undefined;
  /** Resolves when all has been ended; without an interruption, never. */
  readonly over: Promise<void>;
  /** Interrupts a run of which a program holds too much memory. */
  readonly exceed: (excess: Excess) => void;
  /** Stops to wait for the time limit and the caller. */
  stop(): void;
}

/**
 * Interrupts a run at its time limit, when the caller gives up, or for its memory. execa's own `timeout` and
 * `cancelSignal` end a program alone, whose children could then no longer be found.
 */
export function interruptionOf(
  { timeoutMs = callBudgetMs, signal }: Command,
  end: () => Promise<void>,
): Interruption {
  let reason: Interruption['reason'];
  let excess: Excess | undefined;
  let resolveOver: () => void;
  const over = new Promise<void>((resolve) => {
    resolveOver = resolve;
  });
  const interrupt = (why: Interruption['reason']) => {
    if (reason !== undefined) return;
    reason = why;
    void end().then(resolveOver);
  };
  const cancel = () => interrupt('cancelled');
  const timer = setTimeout(interrupt, timeoutMs, 'timed_out');
  signal?.addEventListener('abort', cancel, { once: true });
  // It may have come while the programs were started: then nobody calls.
  if (signal?.aborted) cancel();
  return {
    get reason() {
      return reason;
    },
    get excess() {
      return excess;
    },
    over,
    exceed(found) {
      excess ??= found;
      interrupt('out_of_memory');
    },
    stop() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
    },
  };
}
