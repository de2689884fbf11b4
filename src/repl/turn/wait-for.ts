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
