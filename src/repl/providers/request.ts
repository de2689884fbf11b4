import type { Wire } from '../message.ts';
import type { Model } from '../models/model.ts';
import { isObject, tooDeep, type JsonObject } from '../text/json.ts';
import { ProviderFailure } from './provider.ts';
import { failedWith } from './wire.ts';

/** Longer than any time limit of ours, which ends a request sooner: an SDK without a number would take its own. */
const requestTimeoutMs = 60 * 60 * 1000;

/** What both SDKs' clients have in common. Their methods for messages write warnings to the terminal. */
interface Client {
  post(
    path: string,
    how: { body: JsonObject; stream: boolean; signal: AbortSignal },
  ): { withResponse(): Promise<{ data: unknown; response: Response }> };
}

interface Connection {
  readonly model: Model;
  readonly key: string | undefined;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
}

/**
 * The raw events of an answer; one that comes whole, as from a server that makes no stream, is one event. Errors are
 * thrown as the SDK makes them; an abort may end the events without a word.
 */
export async function* eventsOf(
  path: string,
  body: JsonObject,
  connection: Connection,
): AsyncGenerator<JsonObject> {
  const client = await clientOf(connection);
  const how = { body, stream: body['stream'] === true, signal: connection.signal };
  const { data, response } = await client.post(path, how).withResponse();
  const streams = typeof data === 'object' && data !== null && Symbol.asyncIterator in data;
  const json = /^application\/(\w+\+)?json/.test(response.headers.get('content-type') ?? '');
  for await (const event of streams && !json ? (data as AsyncIterable<unknown>) : wholeAnswer()) {
    if (!isObject(event)) continue;
    // Parts of an answer are kept, and sent back, as they came: one that cannot be written would spoil the session.
    if (tooDeep(event)) throw new ProviderFailure('MODEL_REFUSED', 'The answer is nested too deeply.');
    yield event;
  }
  async function* wholeAnswer() {
    const whole: unknown = streams ? await response.json() : data;
    if (!isObject(whole)) throw new Error('the answer is no JSON object');
    // Routers answer 200 with an error inside.
    if (whole['error']) throw failedWith(whole['error']);
    yield whole;
  }
}

/** Loads the SDK and makes its client for one request. Retries and time limits are ours, and so is the terminal. */
async function clientOf({ model, key, fetch }: Connection): Promise<Client> {
  const { wire, baseUrl: baseURL, headers } = model.endpoint;
  // Compatible endpoints of others know only these.
  const older = wire === 'anthropic' &&
    new URL(baseURL).hostname !== 'api.anthropic.com' && {
      authorization: null,
      ...(key !== undefined && { 'x-api-key': key }),
      'anthropic-version': '2023-06-01',
    };
  const { default: Sdk } = await loadSdk(wire);
  return new Sdk({
    baseURL,
    // The SDKs insist on a key, or look for one in places of their own; without one, its header is taken off again.
    apiKey: key ?? 'none',
    defaultHeaders: { ...(key === undefined && { authorization: null }), ...older, ...headers },
    fetch,
    maxRetries: 0,
    timeout: requestTimeoutMs,
    logLevel: 'off',
    // No account is taken from the environment: it is not meant for every endpoint.
    ...(wire !== 'anthropic' && { organization: null, project: null, webhookSecret: null }),
  });
}

type Sdk = { readonly default: new (options: object) => Client };

/** What the first request needs. */
export const loadSdk = (wire: Wire): Promise<Sdk> =>
  wire === 'anthropic' ? import('@anthropic-ai/sdk') : import('openai');
