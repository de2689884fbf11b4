import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/*
 * The flags of V8 that this program sets while it runs. V8 promises nothing about any of them: one may be
 * gone in the next version, or come too late. So each only saves memory, and everything works as well where
 * it is refused.
 */

/** Collects garbage; `minor`: of the young objects alone, which takes some hundred microseconds. */
export type CollectGarbage = (options?: { readonly type: 'minor' }) => void;

/**
 * Keeps the young objects in the room that they have now. Left alone, V8 gives them up to 32 MB. It reads the
 * flag whenever that might grow (`NewSpace::Grow` in V8's src/heap).
 */
export function keepYoungSpaceSmall(): void {
  setFlag('--semi-space-growth-factor=1');
}

/**
 * Has old objects looked at when they have become half as many more. Left alone, V8 waits until there are
 * three times as many. It reads the flag also in a process that runs already
 * (`MemoryController::GrowingFactor`).
 */
export function keepOldSpaceSmall(): void {
  setFlag('--heap-growing-percent=50');
}

/** Finds the function that collects garbage; one that does nothing where V8 does not give it out. */
export function garbageCollector(): CollectGarbage {
  // What this adds to every new context is the only way to ask for a collection.
  setFlag('--expose-gc');
  try {
    const collect: unknown = runInNewContext("typeof gc === 'function' ? gc : undefined");
    if (typeof collect === 'function') return collect as CollectGarbage;
  } catch {
    // Without a collection asked for, V8 makes its own, later.
  }
  return () => undefined;
}

function setFlag(flag: string): void {
  try {
    // One that V8 does not know it reports on the standard error, and goes on.
    setFlagsFromString(flag);
  } catch {
    // Refused: more memory is used.
  }
}
