import { setTimeout as pause } from 'node:timers/promises';
import { ChatError } from '../errors.ts';
import type { AssistantMessage, Usage, Wire } from '../message.ts';
import type { Model } from '../models/model.ts';
import { isObject, tooDeep, wellFormed, type JsonObject } from '../text/json.ts';
import { unlessAborted } from '../turn/event-stream.ts';
import { ModelAnswer } from './model-answer.ts';
import { anthropicWire } from './anthropic.ts';
import { chatWire } from './chat.ts';
import { sendable } from './conversation.ts';
import { failureOf, refusedField } from './failure.ts';
import type { Fetch } from './fetch.ts';
import { failedWith, type ModelEvent, type ModelRequest, type WireFormat } from './provider.ts';
import { responsesWire } from './responses.ts';

interface ProviderOptions {
  /** The key, asked for before each request; undefined when none is needed. */
  key(): Promise<string | undefined>;
  readonly fetch: Fetch;
  /** Is told what each answer took. */
  onUsage(usage: Usage): void;
  /** Is told of each try that failed. */
  onFailure(failure: ChatError): void;
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
/** The longest wait that nobody is asked about. */
const longestRetryAfterMs = 120_000;

/** The model and its options, for all requests to it. */
interface ModelConnection {
  readonly model: Model;
  readonly options: ProviderOptions;
  /** Fields that its endpoint does not take. */
  readonly refused: Set<string>;
}

/** A model behind its wire. */
export interface ModelProvider {
  /** Makes a request; the last event is `end`. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent>;
  /** Loads what the first request will need, which says what goes wrong with it. */
  warm(): void;
}

/**
 * Requests that fail are made again where that may help: after 1, 2, 4 … seconds, and never sooner than the
 * provider wants; what an endpoint refuses of a request is left out of it from then on. Throws the last
 * failure, or the one that asks for more than two minutes of patience; an abort never throws: it ends with a
 * message whose `stop` is `aborted` and which holds no calls. The SDK is loaded with the first request.
 */
export function createProvider(model: Model, options: ProviderOptions): ModelProvider {
  const connection = { model, options, refused: new Set<string>() };
  return {
    // SDKs leave their listeners behind: on the signal of a long turn, Node would warn of them on the screen.
    stream: (request: ModelRequest, signal: AbortSignal) =>
      answered(connection, request, AbortSignal.any([signal])),
    warm() {
      loadSdk(model.endpoint.wire).catch(() => undefined);
    },
  };
}

async function* answered(
  connection: ModelConnection,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const { model, options, refused } = connection;
  const { sleep = (ms, signal) => pause(ms, undefined, { signal }) } = options;
  const end = (message: AssistantMessage): ModelEvent => {
    options.onUsage(message.usage);
    return { type: 'end', message };
  };
  for (let tries = 1; ; tries++) {
    const answer = new ModelAnswer(request, model);
    const body = bodyOf(request, model, refused);
    // Whoever prints it may wait for the person, who may not want to.
    const key = await unlessAborted(options.key(), signal);
    let streamed = false;
    try {
      for await (const event of eventsOf(connection, { body, key }, signal)) {
        for (const delta of wires[model.endpoint.wire].read(event))
          for (const shown of answer.add(delta)) {
            streamed = true;
            yield shown;
          }
      }
      const cut = 'The answer ended before it was complete.';
      if (!answer.isComplete) throw new ChatError('MODEL_UNREACHABLE', cut, { retryable: true });
      yield* answer.rest();
      return yield end(answer.message());
    } catch (error) {
      if (signal.aborted) return yield end(answer.message('aborted'));
      const failure = failureOf(error, model.endpoint, key);
      const field = streamed ? undefined : refusedField(failure, body);
      if (field !== undefined) {
        refused.add(field);
        // It is refused by itself where there is no stream.
        if (field === 'stream') refused.add('stream_options');
        tries--;
        continue;
      }
      options.onFailure(failure);
      if (!failure.details.retryable || tries >= mostTries) throw failure;
      const inMs = waitFor(failure, tries);
      yield { type: 'retry', reason: failure.message, inMs, discard: streamed };
      // When it is aborted, the next try ends at once.
      await sleep(inMs, signal).catch(() => undefined);
    }
  }
}

/**
 * The raw events of an answer; one that comes whole, as from a server that makes no stream, is one event.
 * Errors are thrown as the SDK makes them, and an abort as what it is: the SDKs may end without a word then.
 */
async function* eventsOf(
  { model, options: { fetch } }: ModelConnection,
  { body, key }: { readonly body: JsonObject; readonly key: string | undefined },
  signal: AbortSignal,
): AsyncGenerator<JsonObject> {
  signal.throwIfAborted();
  const client = await clientOf(model, key, fetch);
  const { path } = wires[model.endpoint.wire];
  const post = client.post(path, { body, stream: body['stream'] === true, signal });
  const { data, response } = await post.withResponse();
  const streams = typeof data === 'object' && data !== null && Symbol.asyncIterator in data;
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/html')) throw new ChatError('MODEL_REFUSED', webPage(model.endpoint.baseUrl));
  const json = /^application\/(\w+\+)?json/.test(type);
  const isWhole = !streams || json;
  for await (const event of isWhole ? [streams ? response.json() : data] : (data as AsyncIterable<unknown>)) {
    // What is still on its way to us then is not part of the answer.
    signal.throwIfAborted();
    if (isWhole && !isObject(event)) throw new Error('the answer is no JSON object');
    if (!isObject(event)) continue;
    // Routers answer 200 with an error inside.
    if (isWhole && event['error']) throw failedWith(event['error']);
    // Parts of an answer are kept, and sent back, as they came: one that cannot be written would spoil the
    // session.
    if (tooDeep(event)) throw new ChatError('MODEL_REFUSED', 'The answer is nested too deeply.');
    yield event;
  }
  signal.throwIfAborted();
}

const webPage = (baseUrl: string): string =>
  `${baseUrl} answers with a web page: is baseUrl right? It often ends in /v1.`;

/** Builds the body of a request, without the fields that are refused, or not set. */
function bodyOf(request: ModelRequest, model: Model, refused: ReadonlySet<string>): JsonObject {
  const { temperature, topP } = model.capabilities;
  const body = wires[model.endpoint.wire].body(sendable(request, model), model);
  const whole = { model: model.id, stream: true, temperature, top_p: topP, ...body };
  const isSet = (value: unknown) =>
    value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0);
  const sent = Object.entries(whole).filter(([name, value]) => isSet(value) && !refused.has(name));
  return wellFormed(Object.fromEntries(sent));
}

/**
 * Computes the wait before another try. Both times are floors: with a retry-after of a moment alone, all
 * tries are used up in a moment.
 */
function waitFor({ code, message, details }: ChatError, tries: number): number {
  const { retryAfterMs = 0 } = details;
  const ownMs = Math.min(longestWaitMs, firstWaitMs * 2 ** (tries - 1));
  if (retryAfterMs <= longestRetryAfterMs) return Math.max(retryAfterMs, ownMs);
  const until = new Date(Date.now() + retryAfterMs).toISOString();
  const advice = `It asks to wait until ${until}: ask again then, or choose another model with /model.`;
  throw new ChatError(code, `${message} ${advice}`, { ...details, retryable: false });
}

/** The methods that both SDKs' clients have. Their methods for messages write warnings to the terminal. */
interface SdkClient {
  post(
    path: string,
    how: { body: JsonObject; stream: boolean; signal: AbortSignal },
  ): { withResponse(): Promise<{ data: unknown; response: Response }> };
}

/** Loads the SDK and makes its client for one request. Retries are ours, and so is the terminal. */
async function clientOf(model: Model, key: string | undefined, fetch: Fetch): Promise<SdkClient> {
  const { wire, baseUrl: baseURL, headers } = model.endpoint;
  // Compatible endpoints of others know only these.
  const older = wire === 'anthropic' &&
    new URL(baseURL).hostname !== 'api.anthropic.com' && {
      authorization: null,
      ...(key !== undefined && { 'x-api-key': key }),
      'anthropic-version': '2023-06-01',
    };
  const { default: SdkModule } = await loadSdk(wire);
  return new SdkModule({
    baseURL,
    // The SDKs insist on a key, or look for one in places of their own; without one, its header is taken off
    // again.
    apiKey: key ?? 'none',
    defaultHeaders: { ...(key === undefined && { authorization: null }), ...older, ...headers },
    fetch,
    maxRetries: 0,
    logLevel: 'off',
    // No account is taken from the environment: it is not meant for every endpoint.
    ...(wire !== 'anthropic' && { organization: null, project: null, webhookSecret: null }),
  });
}

type Sdk = { readonly default: new (options: object) => SdkClient };

/** Loads what the first request needs. */
const loadSdk = (wire: Wire): Promise<Sdk> =>
  wire === 'anthropic' ? import('@anthropic-ai/sdk') : import('openai');
