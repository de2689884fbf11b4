import { estimateMessage, estimateTokens, estimateTools } from '../context/tokens.ts';
import type { AssistantMessage, Stop, ToolCall, Usage } from '../message.ts';
import type { Model } from '../models/model.ts';
import { tooDeep } from '../text/json.ts';
import { ProviderFailure, type Body, type ModelEvent, type ModelRequest } from './provider.ts';
import type { Refusal } from './refusals.ts';

/** One request, and all that is needed to make it. */
export interface WireCall {
  readonly model: Model;
  readonly request: ModelRequest;
  /** What the endpoint is known not to take. */
  readonly refused: ReadonlySet<Refusal>;
  readonly key: string | undefined;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
}

/** Gathers an answer from the raw events of an SDK. */
export interface AnswerReader {
  read(event: never): Iterable<ModelEvent>;
  /** The whole answer; throws when the model has not said that it is done. */
  end(): Gathered;
}

/** One way to talk to models. Errors are thrown as the SDK makes them; an abort may end the events without a word. */
export interface WireSpeaker {
  /** The SDK's client for one request. */
  client(call: WireCall): Promise<Client>;
  readonly path: string;
  body(call: WireCall): Body;
  reader(call: WireCall): AnswerReader;
  /** An answer that came whole, as the events it would have been. */
  asEvents(whole: never): readonly unknown[];
}

/** What both SDKs' clients have in common. */
interface Client {
  post(
    path: string,
    how: { body: Body; stream: boolean; signal: AbortSignal },
  ): { withResponse(): Promise<{ data: unknown; response: Response }> };
}

/** Sends a body and hands on what comes back. The last event is `end`. */
export async function* speak(wire: WireSpeaker, call: WireCall, body: Body): AsyncGenerator<ModelEvent> {
  const client = await wire.client(call);
  const sent = client.post(wire.path, { body, stream: body['stream'] === true, signal: call.signal });
  const { data, response } = await sent.withResponse();
  const reader = wire.reader(call);
  for await (const event of eventsOf(data, response, wire)) {
    // Parts of an answer are kept, and sent back, as they came: one that cannot be written would spoil the session.
    if (tooDeep(event)) throw new ProviderFailure('MODEL_REFUSED', 'The answer is nested too deeply.');
    yield* reader.read(event as never);
  }
  yield { type: 'end', message: messageOf(call, reader.end()) };
}

/** Servers that make no stream answer a request for one with the whole. */
async function* eventsOf(data: unknown, response: Response, wire: WireSpeaker): AsyncGenerator<unknown> {
  const streams = typeof data === 'object' && data !== null && Symbol.asyncIterator in data;
  const json = /^application\/(\w+\+)?json/.test(response.headers.get('content-type') ?? '');
  if (streams && !json) return yield* data as AsyncIterable<unknown>;
  const whole: unknown = streams ? await response.json() : data;
  if (typeof whole !== 'object' || whole === null) throw new Error('the answer is no JSON object');
  // Routers answer 200 with an error inside.
  if ('error' in whole && whole.error)
    throw Object.assign(new Error('the answer is an error'), { error: whole.error });
  yield* wire.asEvents(whole as never);
}

/** What a wire has gathered of an answer. */
export interface Gathered {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly ToolCall[];
  readonly stop: Stop;
  readonly usage: Omit<Usage, 'estimated'> | undefined;
  readonly native?: unknown;
}

/** The message of an answer; where the provider did not count tokens, they are estimated. */
export function messageOf(
  { model, request }: Pick<WireCall, 'model' | 'request'>,
  { native, usage, ...gathered }: Gathered,
): AssistantMessage {
  const { endpoint, id } = model;
  const message = {
    role: 'assistant' as const,
    ...gathered,
    provider: endpoint.name,
    model: id,
    wire: endpoint.wire,
    ...(native !== undefined && { native }),
  };
  if (usage && usage.input + usage.cacheRead + usage.cacheWrite + usage.output > 0)
    return { ...message, usage: { ...usage, estimated: false } };
  const input = request.messages.reduce((sum, each) => sum + estimateMessage(each), 0);
  const output = [message.text, message.reasoning, ...message.calls.map((call) => call.arguments)];
  return {
    ...message,
    usage: {
      input: input + estimateTokens(request.system) + estimateTools(request.tools),
      output: output.reduce((sum, text) => sum + estimateTokens(text), 0),
      cacheRead: 0,
      cacheWrite: 0,
      estimated: true,
    },
  };
}
