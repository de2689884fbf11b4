import { ToolcribError } from '../core/errors.ts';

/** Waits for a turn; what it returns ends it. Undefined when it was cancelled before it came. */
type TakeTurn = (signal?: AbortSignal) => Promise<(() => void) | undefined>;

/** Lets at most so many go on at a time, in the order they come. */
function createTurns(most: number): TakeTurn {
  let taken = 0;
  const waiting = new Set<() => void>();
  const end = () => {
    const [next] = waiting;
    // The next takes this one's place, so the count stays.
    if (next) next();
    else taken--;
  };
  return async (signal) => {
    if (signal?.aborted) return undefined;
    if (taken < most) {
      taken++;
      return end;
    }
    return new Promise((resolve) => {
      const leave = (result: (() => void) | undefined) => {
        waiting.delete(come);
        signal?.removeEventListener('abort', giveUp);
        resolve(result);
      };
      const come = () => leave(end);
      const giveUp = () => leave(undefined);
      signal?.addEventListener('abort', giveUp, { once: true });
      waiting.add(come);
    });
  };
}

/** Runs tasks in the order they come, at most so many at once. */
export function limited(most: number): <T>(task: () => Promise<T>) => Promise<T> {
  const take = createTurns(most);
  return async (task) => {
    const end = await take();
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
  const take = createTurns(most);
  let waiting = 0;
  return async (signal) => {
    if (waiting >= mostWaiting)
      throw new ToolcribError(
        'BUSY',
        `${mostWaiting} calls are waiting already.`,
        'Wait for some of them to end, and make this one again; budgets.calls is how many go on at once.',
      );
    waiting++;
    const end = await take(signal).finally(() => waiting--);
    if (!end) throw new ToolcribError('CANCELLED', 'The call was cancelled while it was waiting.');
    return end;
  };
}
