import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until something is so; fails after 15 seconds: a busy machine may take five to start a program. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 15_000;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`not within 15 seconds: ${isSo.toString()}`);
    await sleep(10);
  }
}
