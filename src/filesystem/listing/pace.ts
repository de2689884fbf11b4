import { setImmediate } from 'node:timers/promises';
import { ToolcribError } from '../../core/errors.ts';

/** Keeps long work from keeping other calls waiting, and within its time. */
export interface Pace {
  /** Counts work that was done; whether it is time for `rest`. One unit is about a microsecond. */
  spend(units: number): boolean;
  /** Lets others work. Throws CANCELLED. */
  rest(): Promise<void>;
  /** Waits for work, but no longer than there is time: a disk may never answer. Throws CANCELLED. */
  within(work: Promise<void>): Promise<void>;
  /** Whether the time is up. */
  readonly over: boolean;
}

/** How long others may wait, in milliseconds. */
const slice = 5;
/** Asking for the time costs as much as looking at an entry or two. */
const unitsPerLook = 200;

export function createPace({ signal, mostMs }: { signal: AbortSignal; mostMs: number }): Pace {
  const startedAt = performance.now();
  let restedAt = startedAt;
  let units = 0;
  let over = false;
  // One for all that work at this pace: else each would begin a time of its own when it goes on.
  let resting: Promise<void> | undefined;

  const rest = async () => {
    await setImmediate();
    resting = undefined;
    if (signal.aborted) throw cancelled();
    restedAt = performance.now();
    over ||= restedAt - startedAt > mostMs;
  };
  return {
    spend(more) {
      if (resting) return true;
      units += more;
      if (units < unitsPerLook) return false;
      units = 0;
      return performance.now() - restedAt > slice;
    },
    rest: () => (resting ??= rest()),
    async within(work) {
      let end = () => {};
      const ended = new Promise<void>((resolve, reject) => {
        const giveUp = () => reject(cancelled());
        const timer = setTimeout(() => {
          over = true;
          resolve();
        }, mostMs);
        if (signal.aborted) giveUp();
        signal.addEventListener('abort', giveUp);
        end = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', giveUp);
        };
      });
      await Promise.race([work, ended]).finally(end);
    },
    get over() {
      return over;
    },
  };
}

const cancelled = (): ToolcribError => new ToolcribError('CANCELLED', 'The call was cancelled.');
