import { estimateMessage, estimateTokens, estimateTools } from '../context/tokens.ts';
import type { AssistantMessage, Stop, ToolCall, Usage } from '../message.ts';
import type { Model } from '../models/model.ts';
import { tooDeep } from '../text/nesting.ts';
import { ProviderFailure, type ModelEvent, type ModelRequest } from './provider.ts';
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

export type Body = Readonly<Record<string, unknown>>;

/** One way to talk to models. Errors are thrown as the SDK makes them; an abort may end the events without a word. */
export interface WireSpeaker {
  /** Loads what the wire needs. */
  warm(): Promise<unknown>;
  /** What is sent. */
  body(call: WireCall): Body;
  /** Sends a body, and translates what comes back. The last event is `end`. */
  speak(call: WireCall, body: Body): AsyncGenerator<ModelEvent>;
}

/** What an SDK gives for a request: its stream or its parsed answer, and the response under it. */
interface Sent {
  withResponse(): Promise<{ data: unknown; response: Response }>;
}

/**
 * The events of an answer. One that came whole, because no stream was asked for or because the server makes none,
 * is handed on as the events it would have been.
 */
export async function* eventsOf<T>(sent: Sent, asEvents: (whole: T) => T[]): AsyncGenerator<T> {
  const { data, response } = await sent.withResponse();
  if (!isStream(data)) return yield* asEvents(answered(data) as T);
  const json = /^application\/(\w+\+)?json/.test(response.headers.get('content-type') ?? '');
  if (json) return yield* asEvents(answered(await response.json()) as T);
  for await (const event of data as AsyncIterable<T>) yield shallow(event);
}

const isStream = (data: unknown): boolean =>
  typeof data === 'object' && data !== null && Symbol.asyncIterator in data;

/** Parts of an answer are kept, and sent back, as they came: one that cannot be written would spoil the session. */
function shallow<T>(event: T): T {
  if (tooDeep(event)) throw new ProviderFailure('MODEL_REFUSED', 'The answer is nested too deeply.');
  return event;
}

/** Routers answer 200 with an error inside. */
function answered(whole: unknown): object {
  if (typeof whole !== 'object' || whole === null) throw new Error('the answer is no JSON object');
  if (!('error' in whole) || !whole.error) return shallow(whole);
  throw Object.assign(new Error('the answer is an error'), { error: whole.error });
}

/** What a wire has gathered of an answer. */
interface Gathered {
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
  const counted = usage && usage.input + usage.cacheRead + usage.cacheWrite + usage.output > 0;
  const message = {
    role: 'assistant' as const,
    ...gathered,
    provider: endpoint.name,
    model: id,
    wire: endpoint.wire,
    ...(native !== undefined && { native }),
  };
  if (counted) return { ...message, usage: { ...usage, estimated: false } };
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
