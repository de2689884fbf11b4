import type { AssistantMessage, Message, Part, ToolCall } from '../message.ts';
import type { Model } from '../models/model.ts';
import { isObject, listOf, objectOf, type JsonObject } from '../text/json.ts';
import { unfinished } from './failure.ts';
import type { Body, ModelEvent, ModelRequest } from './provider.ts';
import * as parts from './request-parts.ts';
import { countOf, stopOf, type AnswerReader, type WireFormat } from './wire.ts';

/** OpenAI's newer wire, the only one over which its newer models both think and call tools. */
export const responsesWire: WireFormat = { path: '/responses', body, reader, asEvents };

/** An item, as it came. */
type Item = JsonObject;

/** Nothing is stored there, so the thoughts travel with the request, encrypted. */
function body(request: ModelRequest, model: Model): Body {
  const { capabilities } = model;
  const messages = parts.messagesToSend(request.messages, model, false);
  return {
    model: model.id,
    instructions: parts.systemOf(request) || undefined,
    input: messages.flatMap((message) => itemsFor(message, model)),
    tools: parts.toolList(request.tools, ({ name, description, inputSchema }) => ({
      type: 'function',
      name,
      description,
      parameters: inputSchema,
      strict: false,
    })),
    stream: true,
    store: false,
    max_output_tokens: request.maxTokens,
    ...parts.samplingOf(model),
    ...(capabilities.thinking && {
      include: ['reasoning.encrypted_content'],
      reasoning: request.thinking === false ? { effort: 'none' } : { summary: 'auto' },
    }),
  };
}

function itemsFor(message: Message, model: Model): object[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: message.content.map(inputOf) }];
    case 'tool':
      return [{ type: 'function_call_output', call_id: parts.safeId(message.callId), output: message.text }];
    case 'assistant':
      return answerItems(message, parts.nativeOf(message, model) as readonly Item[] | undefined);
  }
}

const inputOf = (part: Part): object =>
  part.type === 'text'
    ? { type: 'input_text', text: part.text }
    : { type: 'input_image', detail: 'auto', image_url: `data:${part.mimeType};base64,${part.data}` };

function answerItems({ text, calls }: AssistantMessage, native: readonly Item[] | undefined): object[] {
  if (native) return replayed(native);
  return [
    ...(text === '' ? [] : [{ role: 'assistant', content: text }]),
    ...calls.map(({ id, name, arguments: args }) => ({
      type: 'function_call',
      call_id: parts.safeId(id),
      name: parts.safeName(name),
      arguments: parts.argumentsText(args),
    })),
  ];
}

/**
 * The items in order, word for word. Thoughts without their encrypted text are known to nobody when nothing is
 * stored; the items around them must then not be known by their ids either, or the thoughts would be missed.
 */
function replayed(items: readonly Item[]): object[] {
  const isLost = (item: Item) => item['type'] === 'reasoning' && !item['encrypted_content'];
  const safe = items.map((item) =>
    item['type'] === 'function_call' ? { ...item, call_id: parts.safeId(String(item['call_id'])) } : item,
  );
  if (!safe.some(isLost)) return safe;
  return safe.filter((item) => !isLost(item)).map((item) => ({ ...item, id: undefined }));
}

interface WireEvent {
  readonly type: string;
  readonly item?: Item;
  readonly delta?: unknown;
  readonly response?: JsonObject;
  readonly code?: unknown;
  readonly message?: unknown;
}

const failed = (error: unknown) => Object.assign(new Error('the answer failed'), { error });

function reader(): AnswerReader {
  const items: Item[] = [];
  let thought = false;
  let ended: JsonObject | undefined;
  return {
    *read(event: WireEvent): Generator<ModelEvent> {
      const delta = typeof event.delta === 'string' ? event.delta : '';
      switch (event.type) {
        case 'response.output_text.delta':
        case 'response.refusal.delta':
          if (delta !== '') yield { type: 'text', text: delta };
          break;
        case 'response.reasoning_summary_part.added':
          if (thought) yield { type: 'reasoning', text: '\n\n' };
          break;
        case 'response.reasoning_summary_text.delta':
        case 'response.reasoning_text.delta':
          thought = true;
          if (delta !== '') yield { type: 'reasoning', text: delta };
          break;
        case 'response.output_item.added':
          if (event.item?.['type'] === 'function_call')
            yield { type: 'call_begun', name: String(event.item['name']) };
          break;
        case 'response.output_item.done':
          if (event.item) items.push(event.item);
          break;
        case 'response.completed':
        case 'response.incomplete':
          ended = event.response ?? {};
          break;
        case 'response.failed':
          throw failed(event.response?.['error'] ?? {});
        case 'error':
          throw failed({ code: event.code, message: event.message });
      }
    },
    end() {
      if (!ended) throw unfinished();
      const { usage } = ended;
      const output = listOf(ended['output']).map(objectOf);
      // An answer that was cut in a call never says that the call is done.
      const all = output.length > items.length ? output : items;
      const calls = all.filter((item) => item['type'] === 'function_call').map(callOf);
      const { reason } = objectOf(ended['incomplete_details']);
      const stop = stopOf(all.some(isRefusal) ? 'refusal' : String(reason), calls.length > 0);
      // Thoughts without what followed them are refused; so an answer that was cut goes back as plain text.
      const native = stop === 'length' ? undefined : all;
      return { calls, stop, usage: isObject(usage) ? usageOf(usage) : undefined, native };
    },
  };
}

function asEvents(response: JsonObject): WireEvent[] {
  const deltas = (type: string, pieces: unknown): WireEvent[] =>
    listOf(pieces).map((part) => ({ type, delta: objectOf(part)['text'] ?? objectOf(part)['refusal'] }));
  const events = listOf(response['output'])
    .map(objectOf)
    .flatMap((item): WireEvent[] => [
      ...(item['type'] === 'reasoning' ? deltas('response.reasoning_text.delta', item['summary']) : []),
      ...(item['type'] === 'message' ? deltas('response.output_text.delta', item['content']) : []),
      { type: 'response.output_item.done', item },
    ]);
  return [...events, { type: `response.${String(response['status'] ?? 'completed')}`, response }];
}

const callOf = ({ call_id, id, name, arguments: args }: Item): ToolCall => ({
  id: String(call_id ?? id),
  name: String(name),
  arguments: typeof args === 'string' ? args : JSON.stringify(args ?? {}),
});

const isRefusal = ({ content }: Item): boolean =>
  listOf(content).some((part) => objectOf(part)['type'] === 'refusal');

function usageOf(usage: JsonObject) {
  const cacheRead = countOf(objectOf(usage['input_tokens_details'])['cached_tokens']);
  const input = Math.max(0, countOf(usage['input_tokens']) - cacheRead);
  return { input, output: countOf(usage['output_tokens']), cacheRead, cacheWrite: 0 };
}
