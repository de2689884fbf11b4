import { ToolcribError } from '../core/errors.ts';

interface Patience {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number;
}

export interface Turns {
  /** Waits for a turn; what it returns ends it. Undefined when it was cancelled, or took too long, before it came. */
  take(patience?: Patience): Promise<(() => void) | undefined>;
}

/** Lets at most so many go on at a time, in the order they come. */
export function createTurns(most: number): Turns {
  let taken = 0;
  const waiting = new Set<() => void>();
  const end = () => {
    const [next] = waiting;
    // The next takes this one's place, so the count stays.
    if (next) next();
    else taken--;
  };
  return {
    take({ signal, timeoutMs } = {}) {
      if (signal?.aborted) return Promise.resolve(undefined);
      if (taken < most) {
        taken++;
        return Promise.resolve(end);
      }
      return new Promise((resolve) => {
        const leave = (result: (() => void) | undefined) => {
          waiting.delete(come);
          clearTimeout(timer);
          signal?.removeEventListener('abort', give);
          resolve(result);
        };
        const come = () => leave(end);
        const give = () => leave(undefined);
        const timer = timeoutMs === undefined ? undefined : setTimeout(give, timeoutMs);
        signal?.addEventListener('abort', give, { once: true });
        waiting.add(come);
      });
    },
  };
}

/** Runs tasks in the order they come, at most so many at once. */
export function limited(most: number): <T>(task: () => Promise<T>) => Promise<T> {
  const turns = createTurns(most);
  return async (task) => {
    const end = await turns.take();
    try {
      return await task();
    } finally {
      end?.();
    }
  };
}

/** A call that waits is a closure and a request of some kilobytes at most. */
const mostWaiting = 5000;

/** Lets a call go on; what it returns ends it. Throws BUSY when too many wait, CANCELLED with the signal. */
export type Admit = (signal: AbortSignal) => Promise<() => void>;

/** Lets at most so many calls go on at a time. */
export function createCallLimit(most: number): Admit {
  const turns = createTurns(most);
  let waiting = 0;
  return async (signal) => {
    if (waiting >= mostWaiting)
      throw new ToolcribError(
        'BUSY',
        `${mostWaiting} calls are waiting already.`,
        'Wait for some of them to end, and make this one again; budgets.calls is how many go on at once.',
      );
    waiting++;
    const end = await turns.take({ signal }).finally(() => waiting--);
    if (!end) throw new ToolcribError('CANCELLED', 'The call was cancelled while it was waiting.');
    return end;
  };
}
