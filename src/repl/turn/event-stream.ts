/** Tells of something; resolves when it was heard. */
export type Emit<E> = (event: E) => Promise<void>;

/** What work tells while it goes on, then what it returns. */
export async function* eventStream<E, T>(work: (emit: Emit<E>) => Promise<T>): AsyncGenerator<E, T> {
  const waiting: { event: E; consumed: () => void }[] = [];
  let over = false;
  let wake = () => {};
  const done = work((event) => {
    return new Promise((consumed) => {
      waiting.push({ event, consumed });
      wake();
    });
  }).finally(() => {
    over = true;
    wake();
  });
  // It is awaited below, when all was heard.
  done.catch(() => undefined);
  for (;;) {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      yield next.event;
      next.consumed();
    }
    if (over) return done;
    await new Promise<void>((resolve) => (wake = resolve));
  }
}

/** Waits for something, until the person is tired of it: then there is no result. */
export async function unlessAborted<T>(ready: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const done = new AbortController();
  const tired = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { signal: done.signal });
  });
  // A listener left behind at each of many waits, and Node would warn of them in the middle of the screen.
  return Promise.race([tired, ready]).finally(() => done.abort());
}

/** Whether it was done in time; a failure counts as done. */
export async function settledWithin(ms: number, done: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => (timer = setTimeout(resolve, ms, false)));
  const isDone = () => true;
  return Promise.race([done.then(isDone, isDone), late]).finally(() => clearTimeout(timer));
}
