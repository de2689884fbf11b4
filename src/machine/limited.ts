import { ToolcribError } from '../core/errors.ts';

/** The most calls that may wait; each holds a closure and a request of some kilobytes. */
const mostWaiting = 5000;

/**
 * Waits for a turn, and returns the function that ends it. Throws BUSY when too many wait, CANCELLED with the
 * signal.
 */
export type Admit = (signal?: AbortSignal) => Promise<() => void>;

/** Admits at most `most` tasks at a time, in the order in which they come. */
export function createLimit(most: number): Admit {
  let running = 0;
  const waiting = new Set<() => void>();
  const end = () => {
    const [next] = waiting;
    if (!next) {
      running--;
      return;
    }
    // The next task takes over this turn, so the count stays.
    waiting.delete(next);
    next();
  };
  return async (signal) => {
    const cancelled = () => new ToolcribError('CANCELLED', 'The call was cancelled while it was waiting.');
    if (signal?.aborted) throw cancelled();
    if (waiting.size >= mostWaiting)
      throw new ToolcribError(
        'BUSY',
        `${mostWaiting} calls are waiting already.`,
        'Wait for some of them to end, and make this one again; budgets.calls is how many go on at once.',
      );
    if (running < most) {
      running++;
      return end;
    }
    await new Promise<void>((resolve, reject) => {
      waiting.add(resolve);
      const giveUp = () => {
        if (waiting.delete(resolve)) reject(cancelled());
      };
      signal?.addEventListener('abort', giveUp, { once: true });
    });
    return end;
  };
}

/**
 * Runs at most `most` tasks at a time, in the order in which they come. Throws BUSY, and whatever a task
 * throws.
 */
export function limited(most: number): <T>(task: () => Promise<T>) => Promise<T> {
  const admit = createLimit(most);
  return async (task) => {
    const end = await admit();
    try {
      return await task();
    } finally {
      end();
    }
  };
}
