import { ProviderFailure } from './provider.ts';

/**
 * A fetch whose responses fail when nothing at all has come for so long, whether before the first byte or after it. Every
 * byte counts, a ping too: how long a model thinks is its own affair.
 */
export function withIdleTimeout(fetched: typeof fetch, idleMs: number): typeof fetch {
  return async (input, init) => {
    const silent = () =>
      new ProviderFailure('MODEL_UNREACHABLE', `Nothing came for ${idleMs / 1000} seconds.`, {
        retryable: true,
      });
    const within = async <T>(work: Promise<T>): Promise<T> => {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(silent()), idleMs);
      });
      try {
        return await Promise.race([work, late]);
      } finally {
        clearTimeout(timer);
      }
    };
    const cut = new AbortController();
    const signal = init?.signal ? AbortSignal.any([init.signal, cut.signal]) : cut.signal;
    const response = await within(fetched(input, { ...init, signal })).catch((error: unknown) => {
      cut.abort();
      throw error;
    });
    const reader = response.body?.getReader();
    if (!reader) return response;
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const { done, value } = await within(reader.read());
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          controller.error(error);
          cut.abort();
        }
      },
      cancel: (reason) => reader.cancel(reason),
    });
    return new Response(body, response);
  };
}
