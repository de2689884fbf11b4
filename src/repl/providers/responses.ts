import type { AssistantMessage, Message, Part, Stop, ToolCall, Usage } from '../message.ts';
import type { Model } from '../models/model.ts';
import { isObject, listOf, objectOf, type JsonObject } from '../text/json.ts';
import { unfinished } from './failure.ts';
import { openAiClient } from './openai-client.ts';
import type { Body, ModelEvent } from './provider.ts';
import * as parts from './request-parts.ts';
import type { AnswerReader, WireCall, WireSpeaker } from './wire.ts';

/** OpenAI's newer wire, the only one over which its newer models both think and call tools. */
export const responsesWire: WireSpeaker = {
  client: openAiClient,
  path: '/responses',
  body,
  reader,
  asEvents,
};

/** An item, as it came. */
type Item = JsonObject;

/** Nothing is stored there, so the thoughts travel with the request, encrypted. */
function body({ model, request }: WireCall): Body {
  const { tools, maxTokens, thinking } = request;
  const schema = parts.formatOf(request);
  const { capabilities } = model;
  const messages = parts.messagesToSend(request.messages, model, false);
  return {
    model: model.id,
    instructions: parts.systemOf(request) || undefined,
    input: messages.flatMap((message) => itemsFor(message, model)),
    tools: parts.toolList(tools, ({ name, description, inputSchema }) => ({
      type: 'function',
      name,
      description,
      parameters: inputSchema,
      strict: false,
    })),
    stream: capabilities.streaming || undefined,
    store: false,
    max_output_tokens: maxTokens,
    text: schema && { format: { type: 'json_schema', name: 'answer', schema, strict: false } },
    ...parts.samplingOf(model),
    ...(capabilities.thinking && {
      include: ['reasoning.encrypted_content'],
      reasoning: thinking === false ? { effort: 'none' } : { summary: 'auto' },
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
  const lost = (item: Item) => item['type'] === 'reasoning' && !item['encrypted_content'];
  const known = items.map((item) =>
    item['type'] === 'function_call' ? { ...item, call_id: parts.safeId(String(item['call_id'])) } : item,
  );
  if (!known.some(lost)) return known;
  return known.filter((item) => !lost(item)).map((item) => ({ ...item, id: undefined }));
}

interface WireEvent {
  readonly type: string;
  readonly output_index?: number;
  readonly item?: Item;
  readonly delta?: unknown;
  readonly response?: JsonObject;
  readonly code?: unknown;
  readonly message?: unknown;
}

interface BegunCall {
  readonly item: Item;
  text: string;
}

const failed = (why: string, error: unknown) => Object.assign(new Error(why), { error });

function takeArguments(call: BegunCall | undefined, text: string): void {
  if (call) call.text += text;
}

function reader(): AnswerReader {
  /** By their place, which may be any number. */
  const items = new Map<number, Item>();
  /** Calls whose item is not complete, by the place of the item. */
  const begun = new Map<number, BegunCall>();
  let [text, reasoning] = ['', ''];
  let ended: JsonObject | undefined;
  return {
    *read(event: WireEvent): Generator<ModelEvent> {
      const place = event.output_index ?? items.size;
      const delta = typeof event.delta === 'string' ? event.delta : '';
      switch (event.type) {
        case 'response.output_text.delta':
        case 'response.refusal.delta':
          text += delta;
          if (delta !== '') yield { type: 'text', text: delta };
          break;
        case 'response.reasoning_summary_part.added':
        case 'response.reasoning_summary_text.delta':
        case 'response.reasoning_text.delta': {
          const thought = event.type.endsWith('added') && reasoning !== '' ? '\n\n' : delta;
          reasoning += thought;
          if (thought !== '') yield { type: 'reasoning', text: thought };
          break;
        }
        case 'response.output_item.added':
          if (event.item?.['type'] !== 'function_call') break;
          begun.set(place, { item: event.item, text: '' });
          yield { type: 'call_begun', name: String(event.item['name']) };
          break;
        case 'response.function_call_arguments.delta':
          takeArguments(begun.get(place), delta);
          break;
        case 'response.output_item.done':
          begun.delete(place);
          if (event.item) items.set(place, event.item);
          break;
        case 'response.completed':
        case 'response.incomplete':
          ended = event.response ?? {};
          break;
        case 'response.failed':
          throw failed('the response failed', event.response?.['error'] ?? {});
        case 'error':
          throw failed('the stream failed', { code: event.code, message: event.message });
      }
    },
    end() {
      if (!ended) throw unfinished();
      const whole = [...items].sort(([one], [other]) => one - other).map(([, item]) => item);
      const done = whole.length + begun.size > 0 ? whole : listOf(ended['output']).map(objectOf);
      const cut = [...begun.values()].map(({ item, text: args }): Item => ({ ...item, arguments: args }));
      const calls = [...done, ...cut].filter((item) => item['type'] === 'function_call').map(callOf);
      const stop = stopOf(ended, calls.length > 0, done.some(isRefusal));
      const usage = isObject(ended['usage']) ? counted(ended['usage']) : undefined;
      // Thoughts without what followed them are refused; so an answer that was cut goes back as plain text.
      return { text, reasoning, calls, stop, usage, ...(stop !== 'length' && { native: done }) };
    },
  };
}

function asEvents(response: JsonObject): WireEvent[] {
  const deltas = (type: string, pieces: unknown): WireEvent[] =>
    listOf(pieces).map((part) => ({ type, delta: objectOf(part)['text'] ?? objectOf(part)['refusal'] }));
  const items = listOf(response['output']).map(objectOf);
  const events = items.flatMap((item, output_index): WireEvent[] => [
    ...(item['type'] === 'reasoning' ? deltas('response.reasoning_summary_text.delta', item['summary']) : []),
    ...(item['type'] === 'message' ? deltas('response.output_text.delta', item['content']) : []),
    { type: 'response.output_item.added', output_index, item },
    { type: 'response.output_item.done', output_index, item },
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

function stopOf({ incomplete_details }: JsonObject, calling: boolean, refused: boolean): Stop {
  const { reason } = objectOf(incomplete_details);
  if (reason === 'content_filter' || refused) return 'filtered';
  if (reason) return 'length';
  return calling ? 'calls' : 'done';
}

function counted(usage: JsonObject): Omit<Usage, 'estimated'> {
  const count = (value: unknown) => (typeof value === 'number' ? value : 0);
  const cacheRead = count(objectOf(usage['input_tokens_details'])['cached_tokens']);
  const input = Math.max(0, count(usage['input_tokens']) - cacheRead);
  return { input, output: count(usage['output_tokens']), cacheRead, cacheWrite: 0 };
}
