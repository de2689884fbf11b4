import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until something is so; fails after a minute: slowness is no failure, a hang is. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 60_000;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`not within a minute: ${isSo.toString()}`);
    await sleep(10);
  }
}
