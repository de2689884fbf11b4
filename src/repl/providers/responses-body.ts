import type { AssistantMessage, Message, Part } from '../message.ts';
import type { Model } from '../models/model.ts';
import {
  argumentsText,
  formatOf,
  toolList,
  nativeOf,
  messagesToSend,
  safeId,
  safeName,
  systemOf,
} from './request-parts.ts';
import type { Body, WireCall } from './wire.ts';

/** An item of the Responses wire, as it came. */
export interface Item extends Readonly<Record<string, unknown>> {
  readonly type?: string;
}

/** A request as the Responses of OpenAI want it; nothing is stored there, so the thoughts travel with it, encrypted. */
export function responsesBody({ model, request }: WireCall): Body {
  const { tools, maxTokens, thinking } = request;
  const schema = formatOf(request);
  const { capabilities } = model;
  const system = systemOf(request);
  return {
    model: model.id,
    instructions: system || undefined,
    input: messagesToSend(request.messages, model, false).flatMap((message) => itemsFor(message, model)),
    tools: toolList(tools, ({ name, description, inputSchema }) => ({
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
    ...(capabilities.thinking && {
      include: ['reasoning.encrypted_content'],
      reasoning: thinking === false ? { effort: 'none' } : { summary: 'auto' },
    }),
  };
}

function itemsFor(message: Message, model: Model): object[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: inputOf(message.content) }];
    case 'tool':
      return [{ type: 'function_call_output', call_id: callId(message.callId), output: message.text }];
    case 'assistant':
      return answerItems(message, nativeOf(message, model) as readonly Item[] | undefined);
  }
}

const inputOf = (content: readonly Part[]): object[] =>
  content.map((part) =>
    part.type === 'text'
      ? { type: 'input_text', text: part.text }
      : { type: 'input_image', detail: 'auto', image_url: `data:${part.mimeType};base64,${part.data}` },
  );

function answerItems({ text, calls }: AssistantMessage, native: readonly Item[] | undefined): object[] {
  if (native) return replayed(native);
  return [
    ...(text === '' ? [] : [{ role: 'assistant', content: text }]),
    ...calls.map(({ id, name, arguments: args }) => ({
      type: 'function_call',
      call_id: callId(id),
      name: safeName(name),
      arguments: argumentsText(args),
    })),
  ];
}

/**
 * The items in order, word for word. Thoughts without their encrypted text are known to nobody when nothing is
 * stored; the items around them must then not be known by their ids either, or the thoughts would be missed.
 */
function replayed(items: readonly Item[]): object[] {
  const lost = (item: Item) => item.type === 'reasoning' && !item['encrypted_content'];
  const known = items.map((item) =>
    item.type === 'function_call' ? { ...item, call_id: callId(item['call_id']) } : item,
  );
  if (!known.some(lost)) return known;
  return known.filter((item) => !lost(item)).map((item) => ({ ...item, id: undefined }));
}

const callId = (id: unknown): string => safeId(String(id));
