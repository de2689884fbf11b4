/** Values from callbacks, read with `for await`. */
export interface Channel<T> extends AsyncIterable<T> {
  push(value: T): void;
  /** No more values; those that were pushed are still read. */
  end(): void;
}

export function createChannel<T>(): Channel<T> {
  const values: T[] = [];
  let over = false;
  let wake: (() => void) | undefined;
  return {
    push(value) {
      values.push(value);
      wake?.();
    },
    end() {
      over = true;
      wake?.();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        while (values.length > 0) yield values.shift() as T;
        if (over) return;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}

/** The values of several generators as they come. One that throws ends all once the others are through. */
export async function* merged<T>(sources: readonly AsyncIterable<T>[]): AsyncGenerator<T> {
  const channel = createChannel<T>();
  const all = Promise.allSettled(
    sources.map(async (source) => {
      for await (const value of source) channel.push(value);
    }),
  );
  void all.then(() => channel.end());
  yield* channel;
  for (const outcome of await all) if (outcome.status === 'rejected') throw outcome.reason;
}

/** Waits for something, until the person is tired of it: then there is no result. */
export async function before<T>(ready: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) {
    // Nobody waits for how it fails, either.
    ready.catch(() => undefined);
    return undefined;
  }
  const done = new AbortController();
  const tired = new Promise<undefined>((resolve) =>
    signal.addEventListener('abort', () => resolve(undefined), { signal: done.signal }),
  );
  // A listener left behind at each of many waits, and Node would warn of them in the middle of the screen.
  return Promise.race([ready, tired]).finally(() => done.abort());
}
