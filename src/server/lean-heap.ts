import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** As much may pile up between two calls: a call with a file of 1 MB leaves several times that behind. */
const mostGarbage = 4 * 1024 * 1024;

/**
 * Keeps the memory of a server small, which runs all day next to an editor and most of the time waits. To be called after
 * each call.
 *
 * V8 lets up to 32 MB of short-lived objects pile up before it looks, and does not count what buffers hold outside its
 * heap. So young objects get no more room than they have after the start (the flag is read whenever that room might grow,
 * `NewSpace::Grow` in V8's src/heap, so it works in a process that runs already), and after calls with much data the young
 * ones, some hundred microseconds' work, are collected at once.
 */
export function createLeanHeap(): () => void {
  setFlagsFromString('--semi-space-growth-factor=1');
  let collectYoung: ((options: { type: 'minor' }) => void) | undefined;
  let settled = getHeapStatistics().external_memory;
  return () => {
    const now = getHeapStatistics().external_memory;
    if (now - settled < mostGarbage) {
      settled = Math.min(settled, now);
      return;
    }
    if (!collectYoung) {
      // What --expose-gc adds to every new context; this process has been started without.
      setFlagsFromString('--expose-gc');
      collectYoung = runInNewContext('gc') as typeof collectYoung;
    }
    collectYoung?.({ type: 'minor' });
    settled = getHeapStatistics().external_memory;
  };
}
