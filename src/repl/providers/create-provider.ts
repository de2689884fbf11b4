import { setTimeout as pause } from 'node:timers/promises';
import { before } from '../turn/channel.ts';
import type { Model } from '../models/model.ts';
import { wellFormed } from '../text/json.ts';
import { anthropicWire } from './anthropic.ts';
import { chatWire } from './chat.ts';
import { failureOf } from './failure.ts';
import { guardedFetch } from './guarded-fetch.ts';
import { ProviderFailure, type ModelEvent, type ModelRequest, type Provider } from './provider.ts';
import { refusalIn, without, type KnownRefusals, type Refusal } from './refusals.ts';
import { responsesWire } from './responses.ts';
import { filteredText } from './text-filter.ts';
import { messageOf, speak, type WireCall } from './wire.ts';
import { asXml } from './xml-prompt.ts';

export interface ProviderOptions {
  /** The key, asked for before each request; undefined when none is needed. */
  key(): Promise<string | undefined>;
  readonly refusals: KnownRefusals;
  readonly fetch: typeof fetch;
  /** Is told of each try that failed. */
  failed(failure: ProviderFailure): void;
  /** Waits before another try; ends early when aborted. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

const wires = { chat: chatWire, responses: responsesWire, anthropic: anthropicWire };
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
  const fetched = guardedFetch(options.fetch, idleMs);
  const ask = (request: ModelRequest, signal: AbortSignal) =>
    once(request, { model, options, fetched, signal });
  return {
    async *stream(request, signal) {
      for (let tries = 1; ; tries++) {
        let streamed = false;
        let failure: ProviderFailure;
        try {
          for await (const event of ask(request, signal)) {
            yield event;
            streamed = true;
          }
          return;
        } catch (error) {
          if (!(error instanceof ProviderFailure)) throw error;
          options.failed(error);
          if (!error.facts.retryable || tries >= mostTries) throw error;
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
    },
    warm() {
      const sdk = model.endpoint.wire === 'anthropic' ? import('@anthropic-ai/sdk') : import('openai');
      // The first request says what is wrong.
      sdk.catch(() => {});
    },
  };
}

interface Asking {
  readonly model: Model;
  readonly options: ProviderOptions;
  readonly fetched: typeof fetch;
  readonly signal: AbortSignal;
}

/** One answer; the request is made again without what the endpoint refuses of it. */
async function* once(given: ModelRequest, asking: Asking): AsyncGenerator<ModelEvent> {
  const { model, options, fetched: fetch } = asking;
  const { refusals } = options;
  const { tools: native } = model.capabilities;
  const request = native ? given : asXml(given);
  for (;;) {
    // SDKs leave their listeners behind: on the signal of a long turn, Node would warn of them on the screen.
    const signal = AbortSignal.any([asking.signal]);
    // Whoever prints it may wait for the person, who may not want to.
    const key = await before(options.key(), signal);
    if (signal.aborted) return yield aborted(model, request);
    const refused = refusals.of(model);
    const call: WireCall = { model, request, refused, key, fetch, signal };
    const wire = wires[model.endpoint.wire];
    const body = wellFormed(without(wire.body(call), refused));
    let [text, reasoning] = ['', ''];
    try {
      // The other wires have a place of their own for thoughts.
      const filter = { thoughts: model.endpoint.wire === 'chat', tools: given.tools, native };
      for await (const event of filteredText(speak(wire, call, body), filter)) {
        // What is still on its way to us then is not part of the answer.
        if (signal.aborted) throw signal.reason;
        if (event.type === 'text') text += event.text;
        if (event.type === 'reasoning') reasoning += event.text;
        yield event;
      }
      return;
    } catch (error) {
      if (signal.aborted) return yield aborted(model, request, text, reasoning);
      const failure = failureOf(error, model.endpoint, key);
      const refusal: Refusal | undefined = refusalIn(failure, body, model.endpoint.wire);
      if (refusal === undefined || refused.has(refusal) || text !== '') throw failure;
      refusals.add(model, refusal);
    }
  }
}

/** The end of a request that was interrupted, with what had been said until then. */
function aborted(model: Model, request: ModelRequest, text = '', reasoning = ''): ModelEvent {
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
