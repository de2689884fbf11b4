import type { AssistantMessage, Message, Part, ToolCall } from '../message.ts';
import type { Model } from '../models/model.ts';
import { listOf, objectOf, textOf, type JsonObject } from '../text/json.ts';
import { unfinished } from './failure.ts';
import { ProviderFailure, type Body, type ModelEvent, type ModelRequest } from './provider.ts';
import * as parts from './request-parts.ts';
import { countOf, stopOf, type AnswerReader, type WireFormat } from './wire.ts';

/** Anthropic's messages. */
export const anthropicWire: WireFormat = {
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

function body(request: ModelRequest, model: Model): Body {
  const { capabilities } = model;
  const { thinking } = request;
  return {
    model: model.id,
    max_tokens: Math.min(request.maxTokens ?? Infinity, capabilities.maxOutput),
    // What comes before the last block is read from the cache next time.
    cache_control: { type: 'ephemeral' },
    system: parts.systemOf(request) || undefined,
    messages: turnsOf(request.messages, model),
    tools: parts.toolList(request.tools, ({ name, description, inputSchema }) => ({
      name,
      description,
      input_schema: inputSchema,
    })),
    stream: true,
    ...parts.samplingOf(model),
    ...(thinking !== undefined &&
      capabilities.thinking && {
        thinking: thinking ? { type: 'adaptive', display: 'summarized' } : { type: 'disabled' },
      }),
  };
}

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: Block[];
}

/** Turns that alternate; all results of an answer stand in one message, first in it. */
function turnsOf(messages: readonly Message[], model: Model): Turn[] {
  const turns: Turn[] = [];
  for (const message of parts.messagesToSend(messages, model, true)) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = blocksOf(message, model);
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else if (content.length > 0) turns.push({ role, content });
  }
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

function reader(): AnswerReader {
  // By the server's own numbers, which may be any: a list with a hole of that size would stop the program.
  const opened = new Map<number, Open>();
  const counts: Record<string, unknown> = {};
  let reason: string | undefined;
  return {
    *read({ type, index = 0, ...event }: WireEvent): Generator<ModelEvent> {
      for (const [name, value] of Object.entries(objectOf(event.message?.['usage'] ?? event.usage)))
        // What a later event does not count it sends as null.
        if (value !== null) counts[name] = value;
      reason = textOf(event.delta?.['stop_reason']) ?? reason;
      const delta = event.content_block ?? event.delta ?? {};
      const open = opened.get(index);
      if (type === 'content_block_start') opened.set(index, { block: { ...delta }, json: '' });
      else if (open) addTo(open, delta);
      const [said, thought] = [textOf(delta['text']), textOf(delta['thinking'])];
      if (said) yield { type: 'text', text: said };
      if (thought) yield { type: 'reasoning', text: thought };
      if (delta['type'] === 'tool_use') yield { type: 'call_begun', name: String(delta['name']) };
    },
    end() {
      if (reason === undefined) throw unfinished();
      if (reason === 'model_context_window_exceeded')
        throw new ProviderFailure(
          'MODEL_OVERFLOW',
          "The answer has reached the end of the model's context window.",
        );
      const blocks = [...opened.values()];
      const calls = blocks.flatMap(callsOf);
      return {
        calls,
        stop: stopOf(reason, calls.length > 0),
        usage: usageOf(counts),
        native: contentOf(blocks),
      };
    },
  };
}

function addTo(open: Open, delta: JsonObject): void {
  open.json += textOf(delta['partial_json']) ?? '';
  for (const name of ['text', 'thinking', 'signature']) {
    const more = textOf(delta[name]);
    if (more !== undefined) open.block[name] = `${textOf(open.block[name]) ?? ''}${more}`;
  }
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
  const text = json || JSON.stringify(block['input'] ?? {});
  return [{ id: String(block['id']), name: String(block['name']), arguments: text }];
}

const usageOf = (counts: JsonObject) => ({
  input: countOf(counts['input_tokens']),
  output: countOf(counts['output_tokens']),
  cacheRead: countOf(counts['cache_read_input_tokens']),
  cacheWrite: countOf(counts['cache_creation_input_tokens']),
});
