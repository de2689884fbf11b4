/** No call takes longer, however often its server reports progress. */
const longestMs = 60 * 60 * 1000;

/** How long a call may take. Time during which a person is being asked does not count. */
export interface Patience {
  /** Aborted when the time is over. */
  readonly signal: AbortSignal;
  /** Begins anew, after a sign of progress. */
  reset(): void;
  pause(): void;
  resume(): void;
  /** Stops the clock for good. */
  end(): void;
}

export function createPatience(ms: number, ended: () => void): Patience {
  const over = new AbortController();
  const latest = performance.now() + longestMs;
  let stops = 0;
  let timer: NodeJS.Timeout | undefined;
  const reset = () => {
    clearTimeout(timer);
    if (stops === 0) timer = setTimeout(() => over.abort(), ms);
  };
  const pause = () => {
    stops++;
    reset();
  };
  reset();
  return {
    signal: over.signal,
    reset() {
      if (performance.now() < latest) reset();
    },
    pause,
    resume() {
      stops--;
      reset();
    },
    end() {
      pause();
      ended();
    },
  };
}
