import { getHeapStatistics } from 'node:v8';
import { garbageCollector, keepOldSpaceSmall } from '../store/v8-flags.ts';

/**
 * The bytes that may pile up in buffers between two calls: one with a file of 1 MB leaves several times that.
 */
const mostGarbage = 2 * 1024 * 1024;

/**
 * Keeps the memory of a server small, which runs all day next to an editor and most of the time waits. It is
 * made when there is nothing to do; the function that it returns is called after each call.
 *
 * V8 hardly counts what buffers hold outside its heap, so after calls with much data the young objects are
 * collected at once. store/v8-flags.ts has the rest.
 */
export function createLeanHeap(): () => void {
  keepOldSpaceSmall();
  const collect = garbageCollector();
  collect();
  let settled = getHeapStatistics().external_memory;
  return () => {
    const now = getHeapStatistics().external_memory;
    if (now - settled >= mostGarbage) collect({ type: 'minor' });
    settled = Math.min(settled, getHeapStatistics().external_memory);
  };
}
