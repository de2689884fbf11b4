import { ProviderFailure } from './provider.ts';

/** As a browser: more redirects are a circle. */
const mostRedirects = 20;

/**
 * A fetch that follows redirects only as long as they stay with the same server: fetch itself would hand keys and
 * the whole conversation on to whomever it names. `refused` makes the error of any other.
 */
export function withinOrigin(fetched: typeof fetch, refused: (to: string) => Error): typeof fetch {
  return async function follow(input, init, hops = 0) {
    const url = new URL(input instanceof Request ? input.url : input);
    const response = await fetched(input, { ...init, redirect: 'manual' });
    const location = /^30[12378]$/.test(String(response.status)) ? response.headers.get('location') : null;
    if (location === null) return response;
    await response.body?.cancel();
    const to = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
    if (to?.origin !== url.origin || hops === mostRedirects) throw refused(to?.origin ?? 'nowhere');
    return follow(to, init, hops + 1);
  };
}

const elsewhere = (to: string): Error =>
  new ProviderFailure(
    'MODEL_REFUSED',
    `The endpoint sends requests on to ${to}, which is not asked: it would get the key and all that was said. ` +
      "If that is right, make it the endpoint's baseUrl.",
  );

/**
 * A fetch that stays with its server, and whose responses fail when nothing at all has come for so long, whether
 * before the first byte or after it. Every byte counts, a ping too: how long a model thinks is its own affair.
 */
export function guardedFetch(given: typeof fetch, idleMs: number): typeof fetch {
  const fetched = withinOrigin(given, elsewhere);
  return async (input, init) => {
    const silence = new AbortController();
    const message = `Nothing came for ${idleMs / 1000} seconds.`;
    const failure = new ProviderFailure('MODEL_UNREACHABLE', message, { retryable: true });
    // Whoever stops reading says nothing: the clock must not keep the program from ending.
    const clock = setTimeout(() => silence.abort(failure), idleMs).unref();
    const signal = init?.signal ? AbortSignal.any([init.signal, silence.signal]) : silence.signal;
    const response = await fetched(input, { ...init, signal });
    const watched = new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        clock.refresh();
        controller.enqueue(bytes);
      },
      flush: () => clearTimeout(clock),
    });
    return new Response(response.body?.pipeThrough(watched), response);
  };
}
