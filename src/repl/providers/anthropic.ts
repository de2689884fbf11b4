import type { Anthropic } from '@anthropic-ai/sdk';
import type { Stop, ToolCall, Usage } from '../message.ts';
import { textOf } from '../text/json.ts';
import { anthropicBody, type Block } from './anthropic-body.ts';
import { unfinished } from './failure.ts';
import { requestTimeoutMs } from './openai-client.ts';
import { argumentsObject } from './request-parts.ts';
import { ProviderFailure, type ModelEvent } from './provider.ts';
import { eventsOf, messageOf, type Body, type WireCall, type WireSpeaker } from './wire.ts';

/** Anthropic's messages. */
export const anthropicWire: WireSpeaker = {
  warm: () => import('@anthropic-ai/sdk'),
  body: anthropicBody,
  speak,
};

interface WireEvent {
  readonly type: string;
  readonly index?: number;
  readonly message?: WireMessage;
  readonly content_block?: Block;
  readonly delta?: Readonly<Record<string, unknown>>;
  readonly usage?: WireUsage | null;
}

interface WireMessage {
  readonly content?: readonly Block[];
  readonly stop_reason?: string | null;
  readonly usage?: WireUsage | null;
}

type WireUsage = Readonly<Record<string, unknown>>;

/** A block of the answer; `json` is the input of a call as it streamed. */
interface Open {
  readonly block: Record<string, unknown>;
  json: string;
}

async function* speak(call: WireCall, body: Body): AsyncGenerator<ModelEvent> {
  const client = await anthropicClient(call);
  // Not messages.create(): it writes warnings about older models to the terminal.
  const sent = client.post('/v1/messages', { body, stream: body['stream'] === true, signal: call.signal });
  // By the server's own numbers, which may be any: a list with a hole of that size would stop the program.
  const opened = new Map<number, Open>();
  const all: Open[] = [];
  const counts: Record<string, unknown> = {};
  let text = '';
  let reasoning = '';
  let reason: string | undefined;
  for await (const event of eventsOf<WireEvent>(sent, asEvents)) {
    for (const [name, value] of Object.entries(event.message?.usage ?? event.usage ?? {})) {
      // What a later event does not count it sends as null.
      if (value !== null) counts[name] = value;
    }
    reason = textOf(event.delta?.['stop_reason']) ?? reason;
    if (event.type === 'content_block_start') {
      const begun = { block: { ...event.content_block }, json: '' };
      opened.set(event.index ?? 0, begun);
      all.push(begun);
      if (begun.block['type'] === 'tool_use') yield { type: 'call_begun', name: String(begun.block['name']) };
    }
    const open = opened.get(event.index ?? 0);
    const delta = event.content_block ?? event.delta ?? {};
    if (open && event.type === 'content_block_delta') {
      open.json += textOf(delta['partial_json']) ?? '';
      for (const name of ['text', 'thinking', 'signature']) {
        const more = textOf(delta[name]);
        if (more !== undefined) open.block[name] = `${String(open.block[name] ?? '')}${more}`;
      }
    }
    const said = textOf(delta['text']) ?? '';
    const thought = textOf(delta['thinking']) ?? '';
    text += said;
    reasoning += thought;
    if (said !== '') yield { type: 'text', text: said };
    if (thought !== '') yield { type: 'reasoning', text: thought };
  }
  if (reason === undefined) throw unfinished();
  if (reason === 'model_context_window_exceeded') {
    const message = `${call.model.endpoint.name}: the answer has reached the end of the model's context window.`;
    throw new ProviderFailure('MODEL_OVERFLOW', message);
  }
  const calls = all.flatMap(callsOf);
  const stop = stopOf(reason, calls.length > 0);
  const gathered = { text, reasoning, calls, stop, usage: counted(counts), native: contentOf(all) };
  yield { type: 'end', message: messageOf(call, gathered) };
}

/**
 * The blocks as they can be sent back: word for word, but for empty texts and thoughts that were cut before their
 * signature.
 */
const contentOf = (blocks: readonly Open[]): Block[] =>
  blocks
    .map(({ block, json }) => (json === '' ? block : { ...block, input: argumentsObject(json) }))
    .filter(({ type, text, signature }) =>
      type === 'text' ? String(text).trim() !== '' : type !== 'thinking' || Boolean(signature),
    );

/** A call keeps its arguments as they came; those that came whole are made text again. */
function callsOf({ block, json }: Open): ToolCall[] {
  if (block['type'] !== 'tool_use') return [];
  const input = Object.keys(block['input'] ?? {}).length > 0 ? JSON.stringify(block['input']) : '';
  return [{ id: String(block['id']), name: String(block['name']), arguments: json || input }];
}

/** An answer that came whole, as the events it would have been. */
const asEvents = (whole: WireMessage): WireEvent[] => [
  { type: 'message_start', message: whole },
  ...(whole.content ?? []).map((content_block, index) => ({
    type: 'content_block_start',
    index,
    content_block,
  })),
  { type: 'message_delta', delta: { stop_reason: whole.stop_reason } },
];

function stopOf(reason: string, calling: boolean): Stop {
  if (reason === 'max_tokens') return 'length';
  if (reason === 'refusal') return 'filtered';
  return calling ? 'calls' : 'done';
}

function counted(counts: WireUsage): Omit<Usage, 'estimated'> {
  const count = (name: string) => (typeof counts[name] === 'number' ? counts[name] : 0);
  return {
    input: count('input_tokens'),
    output: count('output_tokens'),
    cacheRead: count('cache_read_input_tokens'),
    cacheWrite: count('cache_creation_input_tokens'),
  };
}

async function anthropicClient({ model, key, fetch }: WireCall): Promise<Anthropic> {
  const { default: Client } = await import('@anthropic-ai/sdk');
  const { baseUrl, headers, oldAnthropicHeaders } = model.endpoint;
  const withoutKey = (key === undefined || oldAnthropicHeaders) && { authorization: null };
  const older = oldAnthropicHeaders && {
    ...(key !== undefined && { 'x-api-key': key }),
    'anthropic-version': '2023-06-01',
  };
  return new Client({
    // The SDK adds it.
    baseURL: baseUrl.replace(/\/v1\/?$/, ''),
    // Without any, the SDK would look for one in places of its own.
    apiKey: key ?? 'none',
    defaultHeaders: { ...withoutKey, ...older, ...headers },
    fetch,
    // Retries and timeouts are ours, and so is the terminal.
    maxRetries: 0,
    timeout: requestTimeoutMs,
    logLevel: 'off',
  });
}
