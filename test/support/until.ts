import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until something is so; fails after five seconds. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 5000;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`not within five seconds: ${isSo.toString()}`);
    await sleep(10);
  }
}
