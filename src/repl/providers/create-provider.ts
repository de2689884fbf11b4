import { setTimeout as pause } from 'node:timers/promises';
import type { Model } from '../models/model.ts';
import { before } from '../turn/told.ts';
import { Attempt } from './attempt.ts';
import { failureOf } from './failure.ts';
import { guardedFetch } from './guarded-fetch.ts';
import { ProviderFailure, type Provider } from './provider.ts';
import { refusalIn } from './refusals.ts';

export interface ProviderOptions {
  /** The key, asked for before each request; undefined when none is needed. */
  key(): Promise<string | undefined>;
  readonly fetch: typeof fetch;
  /** Is told of each try that failed. */
  failed(failure: ProviderFailure): void;
  /** Waits before another try; ends early when aborted. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

const mostTries = 5;
const firstWaitMs = 1000;
const longestWaitMs = 60_000;
/** Longer than this nobody is kept waiting without being asked. */
const longestRetryAfterMs = 120_000;
/** How long a server may be silent. */
const idleMs = 300_000;

/**
 * A model behind its wire. Requests that fail are made again where that may help: after 1, 2, 4 … seconds, and never
 * sooner than the provider wants; what an endpoint refuses of a request is left out of it from then on. Throws the
 * last failure, or the one that asks for more than two minutes of patience. The SDK is loaded with the first request.
 */
export function createProvider(model: Model, options: ProviderOptions): Provider {
  const { sleep = (ms, signal) => pause(ms, undefined, { signal }) } = options;
  const fetch = guardedFetch(options.fetch, idleMs);
  const refused = new Set<string>();
  return {
    async *stream(request, outer) {
      // SDKs leave their listeners behind: on the signal of a long turn, Node would warn of them on the screen.
      const signal = AbortSignal.any([outer]);
      for (let tries = 1; ; tries++) {
        // Whoever prints it may wait for the person, who may not want to.
        const key = await before(options.key(), signal);
        const attempt = new Attempt(request, { model, refused, key, fetch, signal });
        try {
          return yield* attempt.answer();
        } catch (error) {
          if (signal.aborted) return yield attempt.interrupted();
          const failure = failureOf(error, model.endpoint, key);
          if (!(failure instanceof ProviderFailure)) throw failure;
          const refusal = attempt.streamed ? undefined : refusalIn(failure, attempt.body, model);
          if (refusal !== undefined && !refused.has(refusal)) {
            refused.add(refusal);
            tries--;
            continue;
          }
          options.failed(failure);
          if (!failure.facts.retryable || tries >= mostTries) throw failure;
          const inMs = waitFor(failure, tries);
          yield { type: 'retry', reason: failure.message, inMs, discard: attempt.streamed };
          // When it is aborted, the next try ends at once.
          await sleep(inMs, signal).catch(() => undefined);
        }
      }
    },
    warm() {
      const sdk = model.endpoint.wire === 'anthropic' ? import('@anthropic-ai/sdk') : import('openai');
      // The first request says what is wrong.
      sdk.catch(() => {});
    },
  };
}

/** Both are floors: with a retry-after of a moment alone, all tries are used up in a moment. */
function waitFor({ code, message, facts }: ProviderFailure, tries: number): number {
  const { retryAfterMs = 0 } = facts;
  const ownMs = Math.min(longestWaitMs, firstWaitMs * 2 ** (tries - 1));
  if (retryAfterMs <= longestRetryAfterMs) return Math.max(retryAfterMs, ownMs);
  const minutes = Math.ceil(retryAfterMs / 60_000);
  const wait = minutes < 60 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
  const until = new Date(Date.now() + retryAfterMs).toISOString();
  const advice = `It asks to wait ${wait}, until ${until}: ask again then, or choose another model with /model.`;
  throw new ProviderFailure(code, `${message} ${advice}`, { ...facts, retryable: false });
}
