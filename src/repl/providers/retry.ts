import { setTimeout as pause } from 'node:timers/promises';
import type { Model } from '../models/model.ts';
import { ProviderFailure, type ModelEvent, type ModelRequest, type Provider } from './provider.ts';
import { messageOf } from './wire.ts';

export interface RetryOptions {
  /** Is told of each try that failed. */
  readonly failed?: (failure: ProviderFailure) => void;
  /** Tries in all; default 5. */
  readonly most?: number;
  /** Waits; rejects or resolves early when aborted. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

const firstWaitMs = 1000;
const longestWaitMs = 60_000;
/** Longer than this nobody is kept waiting without being asked. */
const longestRetryAfterMs = 120_000;

/**
 * The provider, asked again after failures that are worth it: after 1, 2, 4 … seconds, and never sooner than it
 * wants. Throws the last failure, or the one that asks for more than two minutes of patience.
 */
export function retrying(provider: Provider, model: Model, options: RetryOptions = {}): Provider {
  const { most = 5, sleep = (ms, signal) => pause(ms, undefined, { signal }) } = options;

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    for (let tries = 1; ; tries++) {
      let streamed = false;
      let failure: ProviderFailure;
      try {
        for await (const event of provider.stream(request, signal)) {
          yield event;
          streamed = true;
        }
        return;
      } catch (error) {
        if (!(error instanceof ProviderFailure)) throw error;
        options.failed?.(error);
        if (!error.facts.retryable || tries >= most) throw error;
        failure = error;
      }
      const { retryAfterMs = 0 } = failure.facts;
      if (retryAfterMs > longestRetryAfterMs) throw tooLong(failure, retryAfterMs);
      // Both are floors: with a retry-after of a moment alone, all tries are used up in a moment.
      const inMs = Math.max(retryAfterMs, Math.min(longestWaitMs, firstWaitMs * 2 ** (tries - 1)));
      yield { type: 'retry', reason: failure.message, inMs, discard: streamed };
      await sleep(inMs, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      if (signal.aborted) return yield aborted(model, request);
    }
  }
  return { stream };
}

/** The end of a request that was interrupted, with what had been said until then. */
export function aborted(model: Model, request: ModelRequest, text = '', reasoning = ''): ModelEvent {
  const gathered = { text, reasoning, calls: [], stop: 'aborted' as const, usage: undefined };
  return { type: 'end', message: messageOf({ model, request }, gathered) };
}

function tooLong({ code, message, facts }: ProviderFailure, waitMs: number): ProviderFailure {
  const wait =
    waitMs < 3_600_000 ? `${Math.ceil(waitMs / 60_000)} minutes` : `${Math.ceil(waitMs / 3_600_000)} hours`;
  const until = new Date(Date.now() + waitMs).toISOString();
  const advice = `It asks to wait ${wait}, until ${until}: ask again then, or choose another model with /model.`;
  return new ProviderFailure(code, `${message} ${advice}`, { ...facts, retryable: false });
}
