import { setTimeout as pause } from 'node:timers/promises';
import type { AssistantMessage, Usage, Wire } from '../message.ts';
import type { Model } from '../models/model.ts';
import { wellFormed, type JsonObject } from '../text/json.ts';
import { before } from '../turn/told.ts';
import { Answer } from './answer.ts';
import { anthropicWire } from './anthropic.ts';
import { chatWire } from './chat.ts';
import { sendable } from './conversation.ts';
import { failureOf, refusedField } from './failure.ts';
import { guardedFetch } from './guarded-fetch.ts';
import { ProviderFailure, type ModelEvent, type ModelRequest, type Provider } from './provider.ts';
import { eventsOf, loadSdk } from './request.ts';
import { responsesWire } from './responses.ts';
import type { WireFormat } from './wire.ts';

export interface ProviderOptions {
  /** The key, asked for before each request; undefined when none is needed. */
  key(): Promise<string | undefined>;
  readonly fetch: typeof fetch;
  /** Is told what each answer took. */
  spent(usage: Usage): void;
  /** Is told of each try that failed. */
  failed(failure: ProviderFailure): void;
  /** Waits before another try; ends early when aborted. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

const wires: Readonly<Record<Wire, WireFormat>> = {
  chat: chatWire,
  responses: responsesWire,
  anthropic: anthropicWire,
};

const mostTries = 5;
const firstWaitMs = 1000;
const longestWaitMs = 60_000;
/** Longer than this nobody is kept waiting without being asked. */
const longestRetryAfterMs = 120_000;
/** How long a server may be silent. */
const idleMs = 300_000;

/** What the requests to one model have in common. */
interface Connection {
  readonly model: Model;
  readonly options: ProviderOptions;
  /** Fields that its endpoint does not take. */
  readonly refused: Set<string>;
}

/**
 * A model behind its wire. Requests that fail are made again where that may help: after 1, 2, 4 … seconds, and never
 * sooner than the provider wants; what an endpoint refuses of a request is left out of it from then on. Throws the
 * last failure, or the one that asks for more than two minutes of patience. The SDK is loaded with the first request.
 */
export function createProvider(model: Model, options: ProviderOptions): Provider {
  const fetch = guardedFetch(options.fetch, idleMs);
  const connection = { model, options: { ...options, fetch }, refused: new Set<string>() };
  return {
    // SDKs leave their listeners behind: on the signal of a long turn, Node would warn of them on the screen.
    stream: (request, signal) => answered(connection, request, AbortSignal.any([signal])),
    // What goes wrong with it the first request says.
    warm: () => void loadSdk(model.endpoint.wire).catch(() => undefined),
  };
}

async function* answered(
  connection: Connection,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const { model, options, refused } = connection;
  const { sleep = (ms, signal) => pause(ms, undefined, { signal }) } = options;
  const end = (message: AssistantMessage): ModelEvent => {
    options.spent(message.usage);
    return { type: 'end', message };
  };
  for (let tries = 1; ; tries++) {
    const answer = new Answer(request, model);
    const body = bodyOf(request, model, refused);
    // Whoever prints it may wait for the person, who may not want to.
    const key = await before(options.key(), signal);
    let streamed = false;
    try {
      for await (const event of attempt(connection, { answer, body, key }, signal)) {
        streamed = true;
        yield event;
      }
      return yield end(answer.message());
    } catch (error) {
      if (signal.aborted) return yield end(answer.message('aborted'));
      const failure = failureOf(error, model.endpoint, key);
      if (!(failure instanceof ProviderFailure)) throw failure;
      const field = streamed ? undefined : refusedField(failure, body);
      if (field !== undefined) {
        refused.add(field);
        // It is refused by itself where there is no stream.
        if (field === 'stream') refused.add('stream_options');
        tries--;
        continue;
      }
      options.failed(failure);
      if (!failure.facts.retryable || tries >= mostTries) throw failure;
      const inMs = waitFor(failure, tries);
      yield { type: 'retry', reason: failure.message, inMs, discard: streamed };
      // When it is aborted, the next try ends at once.
      await sleep(inMs, signal).catch(() => undefined);
    }
  }
}

/** One try: the events of the answer but for its end. */
async function* attempt(
  { model, options: { fetch } }: Connection,
  { answer, body, key }: { answer: Answer; body: JsonObject; key: string | undefined },
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  signal.throwIfAborted();
  const { path, read } = wires[model.endpoint.wire];
  for await (const event of eventsOf(path, body, { model, key, fetch, signal })) {
    // What is still on its way to us then is not part of the answer.
    signal.throwIfAborted();
    for (const delta of read(event)) yield* answer.add(delta);
  }
  signal.throwIfAborted();
  const cut = 'The answer ended before it was complete.';
  if (!answer.isComplete) throw new ProviderFailure('MODEL_UNREACHABLE', cut, { retryable: true });
  yield* answer.rest();
}

/** What is sent, without the fields that are refused, or not set. */
function bodyOf(request: ModelRequest, model: Model, refused: ReadonlySet<string>): JsonObject {
  const { temperature, topP } = model.capabilities;
  const body = wires[model.endpoint.wire].body(sendable(request, model), model);
  const whole = { model: model.id, stream: true, temperature, top_p: topP, ...body };
  const isSet = (value: unknown) =>
    value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0);
  const sent = Object.entries(whole).filter(([name, value]) => isSet(value) && !refused.has(name));
  return wellFormed(Object.fromEntries(sent));
}

/** Both are floors: with a retry-after of a moment alone, all tries are used up in a moment. */
function waitFor({ code, message, facts }: ProviderFailure, tries: number): number {
  const { retryAfterMs = 0 } = facts;
  const ownMs = Math.min(longestWaitMs, firstWaitMs * 2 ** (tries - 1));
  if (retryAfterMs <= longestRetryAfterMs) return Math.max(retryAfterMs, ownMs);
  const until = new Date(Date.now() + retryAfterMs).toISOString();
  const advice = `It asks to wait until ${until}: ask again then, or choose another model with /model.`;
  throw new ProviderFailure(code, `${message} ${advice}`, { ...facts, retryable: false });
}
