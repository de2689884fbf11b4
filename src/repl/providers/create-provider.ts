import type { Model } from '../models/model.ts';
import { anthropicWire } from './anthropic.ts';
import { chatWire } from './chat.ts';
import { failureOf } from './failure.ts';
import { withIdleTimeout } from './idle.ts';
import { wellFormed } from './outgoing.ts';
import { ProviderFailure, type ModelEvent, type ModelRequest, type Provider } from './provider.ts';
import { readText } from './read-text.ts';
import { refusalIn, without, type Refusal } from './refusals.ts';
import { responsesWire } from './responses.ts';
import { aborted, retrying, type RetryOptions } from './retry.ts';
import type { Body, WireCall, WireSpeaker } from './wire.ts';
import { xmlHistory, xmlInstructions } from './xml-calls.ts';

/** What endpoints are known not to take, by model. Kept between runs by whoever passes it. */
export interface RememberedRefusals {
  get(model: string): readonly Refusal[];
  set(model: string, refused: readonly Refusal[]): void;
}

export interface ProviderOptions extends RetryOptions {
  /** The key, asked for before each request; undefined when there is none. */
  key(): Promise<string | undefined>;
  readonly remembered?: RememberedRefusals;
  readonly fetch?: typeof fetch;
  /** How long a server may be silent; default 300,000. */
  readonly idleMs?: number;
}

export interface WarmProvider extends Provider {
  /** Loads the SDK ahead of the first request; never throws. */
  warm(): void;
}

const wires = { chat: chatWire, responses: responsesWire, anthropic: anthropicWire };

/** What is remembered for as long as the process lives. */
export function rememberHere(): RememberedRefusals {
  const known = new Map<string, readonly Refusal[]>();
  return { get: (model) => known.get(model) ?? [], set: (model, refused) => void known.set(model, refused) };
}

/**
 * A model behind its wire. Requests that fail are made again where that may help; what an endpoint refuses of a request is
 * left out of it from then on. The SDK is loaded with the first request.
 */
export function createProvider(model: Model, options: ProviderOptions): WarmProvider {
  const wire = wires[model.endpoint.wire];
  const remembered = options.remembered ?? rememberHere();
  const name = `${model.endpoint.baseUrl} ${model.id}`;
  const fetched = withIdleTimeout(options.fetch ?? globalThis.fetch, options.idleMs ?? 300_000);

  async function* stream(given: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const request = model.capabilities.tools ? given : asXml(given);
    const tools = model.capabilities.tools ? undefined : given.tools;
    // Kept here, too: whoever is to remember may fail to.
    let refused = new Set(remembered.get(name));
    for (;;) {
      const key = await keyOf(model, options);
      const call: WireCall = { model, request, refused, key, fetch: fetched, signal };
      const body = wellFormed(without(wire.body(call), refused));
      const refusal = yield* attempt({ wire, call, body }, tools);
      if (refusal === undefined) return;
      refused = new Set([...refused, refusal]);
      remembered.set(name, [...refused]);
    }
  }

  return {
    ...retrying({ stream }, model, options),
    warm: () => void wire.warm().catch(() => {}), // The first request says what is wrong.
  };
}

/** One request. Ends with an answer, or gives what was refused of it and has not been left out yet. */
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
    const failure = failureOf(error, model.endpoint);
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

async function keyOf({ endpoint }: Model, { key }: ProviderOptions): Promise<string | undefined> {
  const found = await key();
  const { name, keyVariables, keyCommand } = endpoint;
  if (found !== undefined || endpoint.local || (keyVariables.length === 0 && !keyCommand)) return found;
  const where = keyVariables.length > 0 ? `Set ${keyVariables.join(' or ')}.` : 'Its key command gave none.';
  throw new ProviderFailure('NO_KEY', `${name} wants a key, and there is none. ${where}`);
}
