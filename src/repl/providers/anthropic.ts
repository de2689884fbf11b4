import type { Anthropic } from '@anthropic-ai/sdk';
import type { AssistantMessage, Message, Part, Stop, ToolCall, Usage } from '../message.ts';
import type { Model } from '../models/model.ts';
import { listOf, objectOf, textOf, type JsonObject } from '../text/json.ts';
import { unfinished } from './failure.ts';
import { clientOptions } from './openai-client.ts';
import { ProviderFailure, type Body, type ModelEvent } from './provider.ts';
import * as parts from './request-parts.ts';
import type { AnswerReader, WireCall, WireSpeaker } from './wire.ts';

/** Anthropic's messages. */
export const anthropicWire: WireSpeaker = {
  client,
  // Not messages.create(): it writes warnings about older models to the terminal.
  path: '/v1/messages',
  body,
  reader,
  asEvents: (whole: JsonObject): WireEvent[] => [
    { type: 'message_start', message: whole },
    ...listOf(whole['content']).map((block, index) => ({
      type: 'content_block_start',
      index,
      content_block: objectOf(block),
    })),
    { type: 'message_delta', delta: { stop_reason: whole['stop_reason'] } },
  ],
};

/** A block of content, as it came. */
type Block = JsonObject;

/** Below 1,024 the API refuses a budget. */
const leastBudget = 1024;
const usualBudget = 8192;

function body({ model, request, refused }: WireCall): Body {
  const { capabilities } = model;
  const schema = parts.formatOf(request);
  const messages = turnsOf(request.messages, model);
  const max_tokens = Math.min(request.maxTokens ?? Infinity, capabilities.maxOutput);
  const cached = refused.has('cache_control') ? {} : { cache_control: { type: 'ephemeral' } };
  // What comes before the last block is read from the cache next time.
  const last = messages.at(-1);
  if (last?.role === 'user') last.content.push({ ...last.content.pop(), ...cached });
  const system = parts.systemOf(request);
  const thinking = capabilities.thinking && thinkable(request.messages, model) ? request.thinking : undefined;
  return {
    model: model.id,
    max_tokens,
    system: system === '' ? undefined : [{ type: 'text', text: system, ...cached }],
    messages,
    tools: parts.toolList(request.tools, ({ name, description, inputSchema }) => ({
      name,
      description,
      input_schema: inputSchema,
    })),
    stream: capabilities.streaming || undefined,
    output_config: schema && { format: { type: 'json_schema', schema } },
    ...parts.samplingOf(model),
    thinking: thinkingOf(thinking, max_tokens, refused.has('adaptive')),
  };
}

function thinkingOf(thinking: boolean | undefined, maxTokens: number, older: boolean): object | undefined {
  if (thinking === undefined) return undefined;
  if (!thinking) return { type: 'disabled' };
  if (!older) return { type: 'adaptive', display: 'summarized' };
  const budget_tokens = Math.min(usualBudget, Math.floor(maxTokens / 2));
  return budget_tokens < leastBudget ? undefined : { type: 'enabled', budget_tokens };
}

/** While results are being sent, thinking is only allowed if the answer that asked for them began with thoughts. */
function thinkable(messages: readonly Message[], model: Model): boolean {
  if (messages.at(-1)?.role !== 'tool') return true;
  const asking = messages.findLast((message) => message.role === 'assistant');
  const first = asking && (parts.nativeOf(asking, model) as readonly Block[] | undefined)?.[0];
  return first?.['type'] === 'thinking' || first?.['type'] === 'redacted_thinking';
}

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: Block[];
}

/** Turns that alternate, beginning with the person's; all results of an answer stand in one message, first in it. */
function turnsOf(messages: readonly Message[], model: Model): Turn[] {
  const turns: Turn[] = [];
  for (const message of parts.messagesToSend(messages, model, true)) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = blocksOf(message, model);
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else if (content.length > 0) turns.push({ role, content });
  }
  if (turns[0]?.role === 'assistant')
    turns.unshift({ role: 'user', content: [{ type: 'text', text: '(The beginning is left out.)' }] });
  return turns;
}

function blocksOf(message: Message, model: Model): Block[] {
  switch (message.role) {
    case 'user':
      return message.content.map(blockOf);
    case 'assistant':
      return answerBlocks(message, model);
    case 'tool': {
      const { text, images, isError, callId } = message;
      const content = images.length > 0 ? [{ type: 'text' as const, text }, ...images].map(blockOf) : text;
      const error = isError ? { is_error: true } : {};
      return [{ type: 'tool_result', tool_use_id: parts.safeId(callId), content, ...error }];
    }
  }
}

const blockOf = (part: Part): Block =>
  part.type === 'text'
    ? { type: 'text', text: part.text }
    : { type: 'image', source: { type: 'base64', media_type: part.mimeType, data: part.data } };

function answerBlocks(message: AssistantMessage, model: Model): Block[] {
  const native = parts.nativeOf(message, model) as readonly Block[] | undefined;
  if (native)
    return native.map((block) =>
      block['type'] === 'tool_use' ? { ...block, id: parts.safeId(String(block['id'])) } : block,
    );
  return [
    ...(message.text.trim() === '' ? [] : [{ type: 'text', text: message.text }]),
    ...message.calls.map(({ id, name, arguments: text }) => ({
      type: 'tool_use',
      id: parts.safeId(id),
      name: parts.safeName(name),
      input: parts.argumentsObject(text),
    })),
  ];
}

interface WireEvent {
  readonly type: string;
  readonly index?: number;
  readonly message?: JsonObject;
  readonly content_block?: Block;
  readonly delta?: JsonObject;
  readonly usage?: JsonObject | null;
}

/** A block of the answer; `json` is the input of a call as it streamed. */
interface Open {
  readonly block: Record<string, unknown>;
  json: string;
}

function reader({ model }: WireCall): AnswerReader {
  // By the server's own numbers, which may be any: a list with a hole of that size would stop the program.
  const opened = new Map<number, Open>();
  const all: Open[] = [];
  const counts: Record<string, unknown> = {};
  let [text, reasoning] = ['', ''];
  let reason: string | undefined;
  return {
    *read(event: WireEvent): Generator<ModelEvent> {
      for (const [name, value] of Object.entries(objectOf(event.message?.['usage'] ?? event.usage)))
        // What a later event does not count it sends as null.
        if (value !== null) counts[name] = value;
      reason = textOf(event.delta?.['stop_reason']) ?? reason;
      if (event.type === 'content_block_start') {
        const begun = { block: { ...event.content_block }, json: '' };
        opened.set(event.index ?? 0, begun);
        all.push(begun);
        if (begun.block['type'] === 'tool_use')
          yield { type: 'call_begun', name: String(begun.block['name']) };
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
    },
    end() {
      if (reason === undefined) throw unfinished();
      if (reason === 'model_context_window_exceeded') {
        const why = "the answer has reached the end of the model's context window.";
        throw new ProviderFailure('MODEL_OVERFLOW', `${model.endpoint.name}: ${why}`);
      }
      const calls = all.flatMap(callsOf);
      const stop = stopOf(reason, calls.length > 0);
      return { text, reasoning, calls, stop, usage: counted(counts), native: contentOf(all) };
    },
  };
}

/** The blocks as they can be sent back: word for word, but for empty texts and thoughts cut before their signature. */
const contentOf = (blocks: readonly Open[]): Block[] =>
  blocks
    .map(({ block, json }): Block => (json === '' ? block : { ...block, input: parts.argumentsObject(json) }))
    .filter(({ type, text, signature }) =>
      type === 'text' ? String(text).trim() !== '' : type !== 'thinking' || Boolean(signature),
    );

/** A call keeps its arguments as they came; those that came whole are made text again. */
function callsOf({ block, json }: Open): ToolCall[] {
  if (block['type'] !== 'tool_use') return [];
  const input = Object.keys(block['input'] ?? {}).length > 0 ? JSON.stringify(block['input']) : '';
  return [{ id: String(block['id']), name: String(block['name']), arguments: json || input }];
}

function stopOf(reason: string, calling: boolean): Stop {
  if (reason === 'max_tokens') return 'length';
  if (reason === 'refusal') return 'filtered';
  return calling ? 'calls' : 'done';
}

function counted(counts: JsonObject): Omit<Usage, 'estimated'> {
  const count = (name: string) => (typeof counts[name] === 'number' ? counts[name] : 0);
  return {
    input: count('input_tokens'),
    output: count('output_tokens'),
    cacheRead: count('cache_read_input_tokens'),
    cacheWrite: count('cache_creation_input_tokens'),
  };
}

async function client(call: WireCall): Promise<Anthropic> {
  const { default: Client } = await import('@anthropic-ai/sdk');
  const { model, key } = call;
  const { headers, oldAnthropicHeaders } = model.endpoint;
  const older = oldAnthropicHeaders && {
    authorization: null,
    ...(key !== undefined && { 'x-api-key': key }),
    'anthropic-version': '2023-06-01',
  };
  const options = clientOptions(call);
  return new Client({ ...options, defaultHeaders: { ...options.defaultHeaders, ...older, ...headers } });
}
