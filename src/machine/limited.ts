import { ToolcribError } from '../core/errors.ts';

/** A call that waits is a closure and a request of some kilobytes at most. */
const mostWaiting = 5000;

/** Lets a task go on; what it returns ends its turn. Throws BUSY when too many wait, CANCELLED with the signal. */
export type Admit = (signal?: AbortSignal) => Promise<() => void>;

/** Lets at most so many tasks go on at a time, in the order they come. */
export function createLimit(most: number): Admit {
  let taken = 0;
  const waiting = new Set<() => void>();
  const end = () => {
    const [next] = waiting;
    if (!next) return void taken--;
    // It takes this one's place, so the count stays.
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
    if (taken < most) taken++;
    else
      await new Promise<void>((resolve, reject) => {
        waiting.add(resolve);
        const giveUp = () => waiting.delete(resolve) && reject(cancelled());
        signal?.addEventListener('abort', giveUp, { once: true });
      });
    return end;
  };
}

/** Runs tasks in the order they come, at most so many at once. Throws BUSY, and what a task throws. */
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
