import { setImmediate } from 'node:timers/promises';

/** Longer than this nothing else should have to wait: a ping is then answered without delay. */
const mostMs = 10;

/** For long work in short steps: to be awaited between them, it lets others have their turn when it is time. */
export function createBreath(): () => Promise<void> | undefined {
  let last = performance.now();
  async function breathe(): Promise<void> {
    await setImmediate();
    last = performance.now();
  }
  return () => (performance.now() - last < mostMs ? undefined : breathe());
}
