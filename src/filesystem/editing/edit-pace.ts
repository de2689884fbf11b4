import { setImmediate } from 'node:timers/promises';
import { ToolcribError } from '../../core/errors.ts';

/**
 * Told what was done, in microseconds or so: lets others work when it was much. Throws CANCELLED, and TOO_LARGE when
 * the edits take longer than a call should.
 */
export type Pause = (units: number) => Promise<void> | undefined;

/** Clients give up after a minute, and the file is still to be written. */
const mostMs = 30_000;
/** How long others wait at most, and after how many units it is looked how late it is. */
const sliceMs = 10;
const unitsPerLook = 200;

/** `what` names the file in the error. */
export function pauseFor(what: string, signal = new AbortController().signal): Pause {
  const startedAt = performance.now();
  let restedAt = startedAt;
  let units = 0;
  const rest = async () => {
    await setImmediate();
    if (signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
    restedAt = performance.now();
    if (restedAt - startedAt <= mostMs) return;
    throw new ToolcribError(
      'TOO_LARGE',
      `${what}: the edits take longer than ${mostMs / 1000} s. Nothing was changed.`,
      'Make fewer at once.',
    );
  };
  return (more) => {
    units += more;
    if (units < unitsPerLook) return undefined;
    units = 0;
    return performance.now() - restedAt > sliceMs ? rest() : undefined;
  };
}
