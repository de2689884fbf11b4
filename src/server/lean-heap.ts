import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * So much may pile up in buffers between two calls: one with a file of 1 MB leaves several times that behind.
 */
const mostGarbage = 2 * 1024 * 1024;

/**
 * Keeps the memory of a server small, which runs all day next to an editor and most of the time waits. To be
 * made when it has nothing to do; what is returned is to be called after each call.
 *
 * Left alone, V8 looks at old objects when there are three times as many as the last time, and hardly counts
 * what buffers hold outside its heap. So old ones are looked at when they have become half as many more (read
 * in a process that runs already, `MemoryController::GrowingFactor` in V8's src/heap), and after calls with
 * much data the young ones are collected at once, which takes some hundred microseconds. cli/toolcrib.ts says
 * how much room the young ones have.
 */
export function createLeanHeap(): () => void {
  setFlagsFromString('--heap-growing-percent=50');
  // What this adds to every new context is the only way to ask for a collection.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void;
  collect();
  let settled = getHeapStatistics().external_memory;
  return () => {
    const now = getHeapStatistics().external_memory;
    if (now - settled >= mostGarbage) collect({ type: 'minor' });
    settled = Math.min(settled, getHeapStatistics().external_memory);
  };
}
