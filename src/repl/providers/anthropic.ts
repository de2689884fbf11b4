import type { Anthropic } from '@anthropic-ai/sdk';
import type { Stop, ToolCall, Usage } from '../message.ts';
import { anthropicBody, type Block } from './anthropic-body.ts';
import { unfinished } from './failure.ts';
import { requestTimeoutMs } from './openai-client.ts';
import { argumentsObject } from './outgoing.ts';
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

/** Pauses of a long turn that are gone on with before it counts as done. */
const mostPauses = 3;

async function* speak(call: WireCall, body: Body): AsyncGenerator<ModelEvent> {
  const client = await anthropicClient(call);
  const gathered: Content = { text: '', reasoning: '', blocks: [] };
  let usage: Omit<Usage, 'estimated'> | undefined;
  let reason: string | undefined = 'pause_turn';
  for (let pauses = 0; reason === 'pause_turn' && pauses <= mostPauses; pauses++) {
    // The same conversation with what has been said so far is how it is asked to go on.
    const content = contentOf(gathered);
    const messages = [...(body['messages'] as object[]), { role: 'assistant', content }];
    // Not messages.create(): it writes warnings about older models to the terminal.
    const sent = client.post('/v1/messages', {
      body: content.length > 0 ? { ...body, messages } : body,
      stream: body['stream'] === true,
      signal: call.signal,
    });
    const counts: Record<string, unknown> = {};
    reason = yield* gather(eventsOf<WireEvent>(sent, asEvents), gathered, counts);
    if (reason === undefined) throw unfinished();
    usage = sum(usage, counts);
  }
  if (reason === 'model_context_window_exceeded') {
    const message = `${call.model.endpoint.name}: the answer has reached the end of the model's context window.`;
    throw new ProviderFailure('MODEL_OVERFLOW', message);
  }
  const { text, reasoning } = gathered;
  const calls = gathered.blocks.flatMap(callsOf);
  const native = contentOf(gathered);
  const stop = stopOf(reason, calls.length > 0);
  yield { type: 'end', message: messageOf(call, { text, reasoning, calls, stop, usage, native }) };
}

interface Content {
  text: string;
  reasoning: string;
  /** `json`: the input of a tool as it streamed. */
  readonly blocks: Open[];
}

interface Open {
  readonly block: Record<string, unknown>;
  json: string;
}

/** Takes one stream in, and gives why it stopped; undefined when it did not say. */
async function* gather(
  events: AsyncIterable<WireEvent>,
  gathered: Content,
  counts: Record<string, unknown>,
): AsyncGenerator<ModelEvent, string | undefined> {
  // By the server's own numbers, which may be any: a list with a hole of that size would stop the program.
  const opened = new Map<number, Open>();
  let reason: string | undefined;
  for await (const event of events) {
    const open = opened.get(event.index ?? 0);
    for (const [name, value] of Object.entries(event.message?.usage ?? event.usage ?? {})) {
      // What a later event does not count it sends as null.
      if (value !== null) counts[name] = value;
    }
    switch (event.type) {
      case 'content_block_start': {
        const block = { ...event.content_block };
        const begun = { block, json: '' };
        opened.set(event.index ?? 0, begun);
        gathered.blocks.push(begun);
        if (block['type'] === 'tool_use') yield { type: 'call_begun', name: String(block['name']) };
        yield* spoken(gathered, block['text'], block['thinking']);
        break;
      }
      case 'content_block_delta': {
        const delta = event.delta ?? {};
        if (!open) break;
        if (typeof delta['partial_json'] === 'string') open.json += delta['partial_json'];
        for (const name of ['text', 'thinking', 'signature']) {
          if (typeof delta[name] === 'string')
            open.block[name] = `${String(open.block[name] ?? '')}${delta[name]}`;
        }
        yield* spoken(gathered, delta['text'], delta['thinking']);
        break;
      }
      case 'message_delta':
        if (typeof event.delta?.['stop_reason'] === 'string') reason = event.delta['stop_reason'];
        break;
    }
  }
  return reason;
}

function* spoken(gathered: Content, text: unknown, thinking: unknown): Generator<ModelEvent> {
  if (typeof text === 'string' && text !== '') {
    gathered.text += text;
    yield { type: 'text', text };
  }
  if (typeof thinking === 'string' && thinking !== '') {
    gathered.reasoning += thinking;
    yield { type: 'reasoning', text: thinking };
  }
}

/** The blocks as they can be sent back: word for word, but for empty texts and thoughts that were cut before their signature. */
const contentOf = ({ blocks }: Content): Block[] =>
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

function stopOf(reason: string | undefined, calling: boolean): Stop {
  if (reason === 'max_tokens') return 'length';
  if (reason === 'refusal') return 'filtered';
  return calling ? 'calls' : 'done';
}

function sum(before: Omit<Usage, 'estimated'> | undefined, counts: WireUsage): Omit<Usage, 'estimated'> {
  const count = (name: string) => (typeof counts[name] === 'number' ? counts[name] : 0);
  return {
    input: (before?.input ?? 0) + count('input_tokens'),
    output: (before?.output ?? 0) + count('output_tokens'),
    cacheRead: (before?.cacheRead ?? 0) + count('cache_read_input_tokens'),
    cacheWrite: (before?.cacheWrite ?? 0) + count('cache_creation_input_tokens'),
  };
}

async function anthropicClient({ model, key, fetch }: WireCall): Promise<Anthropic> {
  const { default: Client } = await import('@anthropic-ai/sdk');
  const { baseUrl, headers, oldAnthropicHeaders } = model.endpoint;
  const withoutKey = key === undefined || oldAnthropicHeaders ? { authorization: null } : {};
  const older = { ...(key === undefined ? {} : { 'x-api-key': key }), 'anthropic-version': '2023-06-01' };
  return new Client({
    // The SDK adds it.
    baseURL: baseUrl.replace(/\/v1\/?$/, ''),
    // Without any, the SDK would look for one in places of its own.
    apiKey: key ?? 'none',
    defaultHeaders: { ...withoutKey, ...(oldAnthropicHeaders ? older : {}), ...headers },
    fetch,
    // Retries and timeouts are ours, and so is the terminal.
    maxRetries: 0,
    timeout: requestTimeoutMs,
    logLevel: 'off',
  });
}
