/** Emits an event; resolves when it was consumed. */
export type Emit<E> = (event: E) => Promise<void>;

/** Streams the events that work emits while it goes on, then returns its result. */
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
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}

/** Waits for a promise until it is aborted: then there is no result. */
export async function unlessAborted<T>(ready: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const done = new AbortController();
  const tired = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { signal: done.signal });
  });
  // A listener left behind at each of many waits, and Node would warn of them in the middle of the screen.
  return Promise.race([tired, ready]).finally(() => done.abort());
}

/** Tells whether a promise settled in time; a failure counts as settled. */
export async function settledWithin(ms: number, done: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const isDone = () => true;
  return Promise.race([done.then(isDone, isDone), late]).finally(() => clearTimeout(timer));
}
