import { before } from '../turn/wait-for.ts';
import type { Model } from '../models/model.ts';
import { anthropicWire } from './anthropic.ts';
import { chatWire } from './chat.ts';
import { failureOf } from './failure.ts';
import { guardedFetch } from './guarded-fetch.ts';
import { wellFormed } from './request-parts.ts';
import type { ModelEvent, ModelRequest, Provider } from './provider.ts';
import { readText } from './read-text.ts';
import { refusalIn, without, type Refusal } from './refusals.ts';
import { responsesWire } from './responses.ts';
import { aborted, retrying, type RetryOptions } from './retry.ts';
import type { Body, WireCall, WireSpeaker } from './wire.ts';
import { xmlHistory, xmlInstructions } from './xml-prompt.ts';

/** What endpoints are known not to take, by model. Kept between runs by whoever passes it. */
export interface RememberedRefusals {
  get(model: string): readonly Refusal[];
  set(model: string, refused: readonly Refusal[]): void;
}

export interface ProviderOptions extends RetryOptions {
  /** The key, asked for before each request; undefined when none is needed. */
  key(): Promise<string | undefined>;
  /** Without it, what is refused is known for as long as the provider lives. */
  readonly remembered?: RememberedRefusals | undefined;
  readonly fetch?: typeof fetch;
  /** How long a server may be silent; default 300,000. */
  readonly idleMs?: number;
}

const wires = { chat: chatWire, responses: responsesWire, anthropic: anthropicWire };

/**
 * A model behind its wire. Requests that fail are made again where that may help; what an endpoint refuses of a
 * request is left out of it from then on. The SDK is loaded with the first request.
 */
export function createProvider(model: Model, options: ProviderOptions): Provider {
  const wire = wires[model.endpoint.wire];
  const { remembered } = options;
  const name = `${model.endpoint.baseUrl} ${model.id}`;
  const fetched = guardedFetch(options.fetch ?? globalThis.fetch, options.idleMs ?? 300_000);
  let refused: ReadonlySet<Refusal> = new Set();

  async function* stream(given: ModelRequest, outer: AbortSignal): AsyncGenerator<ModelEvent> {
    // SDKs leave their listeners behind: on the signal of a long turn, Node would warn of them in the middle of the
    // screen.
    const signal = AbortSignal.any([outer]);
    const request = model.capabilities.tools ? given : asXml(given);
    const tools = model.capabilities.tools ? undefined : given.tools;
    refused = new Set([...refused, ...(remembered?.get(name) ?? [])]);
    for (;;) {
      // Whoever prints it may wait for the person, who may not want to.
      const key = await before(options.key(), signal);
      if (signal.aborted) return yield aborted(model, request);
      // Its own for each request: the SDKs never take their listeners off, and a turn may make many requests.
      const own = AbortSignal.any([signal]);
      const call: WireCall = { model, request, refused, key, fetch: fetched, signal: own };
      const body = wellFormed(without(wire.body(call), refused));
      const refusal = yield* attempt({ wire, call, body }, tools);
      if (refusal === undefined) return;
      refused = new Set([...refused, refusal]);
      remembered?.set(name, [...refused]);
    }
  }

  return {
    ...retrying({ stream }, model, options),
    warm: () => void wire.warm().catch(() => {}), // The first request says what is wrong.
  };
}

/** One request: yields its answer, or returns the field to leave out of the next one. */
async function* attempt(
  { wire, call, body }: { wire: WireSpeaker; call: WireCall; body: Body },
  xmlTools: ModelRequest['tools'] | undefined,
): AsyncGenerator<ModelEvent, Refusal | undefined> {
  const { model, request, refused, signal } = call;
  let text = '';
  let reasoning = '';
  try {
    // The other wires have a place of their own for thoughts.
    const thinkTags = model.endpoint.wire === 'chat';
    for await (const event of readText(wire.speak(call, body), { thinkTags, xmlTools })) {
      // What is still on its way to us then is not part of the answer.
      if (signal.aborted) throw signal.reason;
      if (event.type === 'text') text += event.text;
      if (event.type === 'reasoning') reasoning += event.text;
      yield event;
    }
    return undefined;
  } catch (error) {
    if (signal.aborted) {
      yield aborted(model, request, text, reasoning);
      return undefined;
    }
    const failure = failureOf(error, model.endpoint, call.key);
    const refusal = refusalIn(failure, body, model.endpoint.wire);
    if (refusal === undefined || refused.has(refusal) || text !== '') throw failure;
    return refusal;
  }
}

/** The request for a model that has no other way to call tools than in its text. */
function asXml(request: ModelRequest): ModelRequest {
  const system = [request.system, xmlInstructions(request.tools)].filter((text) => text !== '').join('\n\n');
  return { ...request, system, messages: xmlHistory(request.messages), tools: [] };
}
