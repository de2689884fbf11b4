import { withinOrigin } from './redirects.ts';
import { ProviderFailure } from './provider.ts';

/** Far more than any model writes, or says of an error. */
const mostBytes = { answer: 64 * 1024 * 1024, error: 1024 * 1024 };

const elsewhere = (to: string): Error =>
  new ProviderFailure(
    'MODEL_REFUSED',
    `The endpoint sends requests on to ${to}, which is not asked: it would get the key and all that was said. If that is right, make it the endpoint's baseUrl.`,
  );

/**
 * A fetch that stays with its server, and whose responses fail when they do not end, or when nothing at all has
 * come for so long, whether before the first byte or after it. Every byte counts, a ping too: how long a model
 * thinks is its own affair.
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
    let left = response.ok ? mostBytes.answer : mostBytes.error;
    const watched = new TransformStream<Uint8Array, Uint8Array>({
      start: () => void clock.refresh(),
      transform(bytes, controller) {
        clock.refresh();
        left -= bytes.length;
        if (left < 0) throw new ProviderFailure('MODEL_REFUSED', 'The answer has no end: it was cut.');
        controller.enqueue(bytes);
      },
      flush: () => clearTimeout(clock),
    });
    return new Response(response.body?.pipeThrough(watched), response);
  };
}
