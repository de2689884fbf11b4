import type { Message, ContentPart } from '../message.ts';
import type { Model } from '../models/model.ts';
import { isObject, listOf, objectOf, type JsonObject } from '../text/json.ts';
import { nativeOf, safeId } from './conversation.ts';
import { type ModelRequest, failedWith, type Delta, type WireFormat } from './provider.ts';

/** OpenAI's newer wire, the only one over which its newer models both think and call tools. */
export const responsesWire: WireFormat = { path: '/responses', body, read };

/** Builds the body. Nothing is stored there, so the thoughts travel with the request, encrypted. */
function body({ system, messages, tools, maxTokens, thinking }: ModelRequest, model: Model): JsonObject {
  return {
    instructions: system,
    input: messages.flatMap((message) => itemsFor(message, model)),
    tools: tools.map(({ name, description, inputSchema }) => ({
      type: 'function',
      name,
      description,
      parameters: inputSchema,
      strict: false,
    })),
    store: false,
    max_output_tokens: maxTokens,
    ...(model.capabilities.thinking && {
      include: ['reasoning.encrypted_content'],
      reasoning: thinking === false ? { effort: 'none' } : { summary: 'auto' },
    }),
  };
}

function itemsFor(message: Message, model: Model): object[] {
  if (message.role === 'user') return [{ role: 'user', content: message.content.map(inputOf) }];
  if (message.role === 'tool')
    return [{ type: 'function_call_output', call_id: message.callId, output: message.text }];
  const { text, calls, stop } = message;
  const native = nativeOf(message, model);
  // Thoughts are refused without what followed them, and unknown without their encrypted text: then it is
  // plain text.
  const isLost = native.some((item) => item['type'] === 'reasoning' && !item['encrypted_content']);
  if (native.length > 0 && !isLost && stop !== 'length')
    return native.map((item) => ('call_id' in item ? { ...item, call_id: safeId(item['call_id']) } : item));
  return [
    ...(text === '' ? [] : [{ role: 'assistant', content: text }]),
    ...calls.map(({ id, name, arguments: args }) => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: args,
    })),
  ];
}

const inputOf = (part: ContentPart): object =>
  part.type === 'text'
    ? { type: 'input_text', text: part.text }
    : { type: 'input_image', detail: 'auto', image_url: `data:${part.mimeType};base64,${part.data}` };

function* read(event: JsonObject): Generator<Delta> {
  const { type, delta } = event;
  const item = objectOf(event['item']);
  switch (type) {
    case 'response.output_text.delta':
    case 'response.refusal.delta':
      return yield { text: delta };
    case 'response.reasoning_summary_part.added':
      if (event['summary_index']) yield { reasoning: '\n\n' };
      return;
    case 'response.reasoning_summary_text.delta':
    case 'response.reasoning_text.delta':
      return yield { reasoning: delta };
    case 'response.output_item.added':
      if (item['type'] === 'function_call') yield { call: { id: item['call_id'], name: item['name'] } };
      return;
    case 'response.output_item.done':
      return yield* itemRead(item);
    case 'response.completed':
    case 'response.incomplete':
    case 'response.failed':
      return yield* endRead(objectOf(event['response']));
    case 'error':
      throw failedWith({ code: event['code'], message: event['message'] });
    case undefined:
      // An answer that came whole.
      for (const each of listOf(event['output']).map(objectOf)) {
        for (const { text } of listOf(each['summary']).map(objectOf)) yield { reasoning: text };
        for (const { text, refusal } of listOf(each['content']).map(objectOf))
          yield { text: text ?? refusal };
        yield* itemRead(each);
      }
      yield* endRead(event);
  }
}

function* itemRead(item: JsonObject): Generator<Delta> {
  yield { native: { part: item } };
  if (listOf(item['content']).some((part) => objectOf(part)['type'] === 'refusal')) yield { stop: 'refusal' };
  const { type, call_id: id, name, arguments: args } = item;
  if (type === 'function_call') yield { call: { id, name, arguments: args } };
}

function* endRead({ status, error, usage, incomplete_details }: JsonObject): Generator<Delta> {
  if (status === 'failed') throw failedWith(error ?? {});
  yield { stop: objectOf(incomplete_details)['reason'] ?? 'completed' };
  if (!isObject(usage)) return;
  const cacheRead = Number(objectOf(usage['input_tokens_details'])['cached_tokens'] ?? 0);
  const input = Math.max(0, Number(usage['input_tokens'] ?? 0) - cacheRead);
  yield { usage: { input, output: usage['output_tokens'], cacheRead } };
}
