import { ToolcribError } from '../../core/errors.ts';
import { createPace } from '../listing/pace.ts';

/**
 * Told what was done, in microseconds or so: lets others work when it was much. Throws CANCELLED, and TOO_LARGE when the
 * edits take longer than a call should.
 */
export type Pause = (units: number) => Promise<void> | undefined;

/** Clients give up after a minute, and the file is still to be written. */
const mostMs = 30_000;

/** `what` names the file in the error. */
export function pauseFor(what: string, signal = new AbortController().signal): Pause {
  const pace = createPace({ signal, mostMs });
  const rest = async () => {
    await pace.rest();
    if (!pace.over) return;
    throw new ToolcribError(
      'TOO_LARGE',
      `${what}: the edits take longer than ${mostMs / 1000} s. Nothing was changed.`,
      'Make fewer at once.',
    );
  };
  return (units) => (pace.spend(units) ? rest() : undefined);
}
