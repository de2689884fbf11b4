import { argumentsObject, type Message, type ContentPart } from '../message.ts';
import type { Model } from '../models/model.ts';
import { listOf, objectOf, type JsonObject } from '../text/json.ts';
import { nativeOf, safeId } from './conversation.ts';
import { type ModelRequest, failedWith, type Delta, type WireFormat } from './provider.ts';

/** Anthropic's messages. */
export const anthropicWire: WireFormat = { path: '/v1/messages', body, read };

function body({ system, messages, tools, maxTokens, thinking }: ModelRequest, model: Model): JsonObject {
  return {
    max_tokens: Math.min(maxTokens ?? Infinity, model.capabilities.maxOutput),
    // What comes before the last block is read from the cache next time.
    cache_control: { type: 'ephemeral' },
    system,
    messages: turnsOf(messages, model),
    tools: tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      input_schema: inputSchema,
    })),
    ...(thinking !== undefined && {
      thinking: thinking ? { type: 'adaptive', display: 'summarized' } : { type: 'disabled' },
    }),
  };
}

/** Turns that alternate; all results of an answer stand in one message, first in it. */
function turnsOf(messages: readonly Message[], model: Model): object[] {
  const turns: { readonly role: string; readonly content: JsonObject[] }[] = [];
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = blocksOf(message, model);
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else if (content.length > 0) turns.push({ role, content });
  }
  return turns;
}

function blocksOf(message: Message, model: Model): JsonObject[] {
  if (message.role === 'user') return message.content.map(blockOf);
  if (message.role === 'tool') {
    const { callId, text: content, isError } = message;
    return [{ type: 'tool_result', tool_use_id: callId, content, ...(isError && { is_error: true }) }];
  }
  const { text, calls } = message;
  const native = nativeOf(message, model);
  if (native.length > 0) return native.filter(isWhole).map(asSent);
  return [
    ...(text.trim() === '' ? [] : [{ type: 'text', text }]),
    ...calls.map(({ id, name, arguments: args }) => ({
      type: 'tool_use',
      id,
      name,
      input: argumentsObject(args),
    })),
  ];
}

const blockOf = (part: ContentPart): JsonObject =>
  part.type === 'text'
    ? { type: 'text', text: part.text }
    : { type: 'image', source: { type: 'base64', media_type: part.mimeType, data: part.data } };

/**
 * Tells whether a block is whole: neither an empty text nor thoughts that were cut before their signature.
 */
const isWhole = ({ type, text, signature }: JsonObject): boolean =>
  type === 'text' ? String(text).trim() !== '' : type !== 'thinking' || Boolean(signature);

function asSent({ partial_json: json, ...block }: JsonObject): JsonObject {
  if (block['type'] !== 'tool_use') return block;
  const input = typeof json === 'string' ? { input: argumentsObject(json) } : {};
  return { ...block, ...input, id: safeId(block['id']) };
}

function* read(event: JsonObject): Generator<Delta> {
  const key = event['index'] ?? 0;
  switch (event['type']) {
    case 'message_start':
      return yield countsOf(event['message']);
    case 'content_block_start':
      return yield* blockRead(objectOf(event['content_block']), key);
    case 'content_block_delta': {
      const { text, thinking, signature, partial_json } = objectOf(event['delta']);
      yield { text, reasoning: thinking, native: { key, part: { text, thinking, signature, partial_json } } };
      if (partial_json) yield { call: { index: key, arguments: partial_json } };
      return;
    }
    case 'message_delta':
      yield countsOf(event);
      return yield stopRead(objectOf(event['delta']));
    case 'error':
      throw failedWith(event['error']);
    case 'message':
      // An answer that came whole.
      for (const [index, block] of listOf(event['content']).entries())
        yield* blockRead(objectOf(block), index);
      yield countsOf(event);
      yield stopRead(event);
  }
}

function* blockRead(block: JsonObject, key: unknown): Generator<Delta> {
  const { type, text, thinking, id, name, input } = block;
  yield { text, reasoning: thinking, native: { key, part: block } };
  // What streams begins with an empty one.
  const whole = Object.keys(objectOf(input)).length > 0 ? input : undefined;
  if (type === 'tool_use') yield { call: { index: key, id, name, arguments: whole } };
}

function stopRead({ stop_reason: stop }: JsonObject): Delta {
  if (stop === 'model_context_window_exceeded')
    throw failedWith({ message: "The answer has reached the end of the model's context window." });
  return { stop };
}

function countsOf(event: unknown): Delta {
  const usage = objectOf(objectOf(event)['usage']);
  return {
    usage: {
      input: usage['input_tokens'],
      output: usage['output_tokens'],
      cacheRead: usage['cache_read_input_tokens'],
      cacheWrite: usage['cache_creation_input_tokens'],
    },
  };
}
