import { textOf, type AssistantMessage, type Message, type ContentPart } from '../message.ts';
import type { Model } from '../models/model.ts';
import { isObject, listOf, objectOf, textOf as stringOf, type JsonObject } from '../text/json.ts';
import { nativeOf } from './conversation.ts';
import type { ModelRequest, Delta, WireFormat } from './provider.ts';

/** Chat completions: OpenAI's older wire, and that of nearly everybody else. */
export const chatWire: WireFormat = { path: '/chat/completions', body, read };

function body({ system, messages, tools, maxTokens, thinking }: ModelRequest, model: Model): JsonObject {
  return {
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      ...messages.map((message) => messageSent(message, model)),
    ],
    tools: tools.map(({ name, description, inputSchema }) => ({
      type: 'function',
      function: { name, description, parameters: inputSchema },
    })),
    stream_options: { include_usage: true },
    max_tokens: maxTokens,
    ...(thinking !== undefined && thinkingFields(model, thinking)),
  };
}

/**
 * The fields that tell an endpoint to think or not to, by a part of their address; for all others it is
 * `reasoning_effort`.
 */
const thinkingByHost: Readonly<Record<string, (on: boolean) => JsonObject>> = {
  'openrouter.ai': (on) => ({ reasoning: { enabled: on } }),
  'deepseek.com': (on) => ({ thinking: { type: on ? 'enabled' : 'disabled' } }),
  'siliconflow.': (on) => ({ enable_thinking: on }),
};

function thinkingFields({ endpoint }: Model, on: boolean): JsonObject {
  const host = Object.keys(thinkingByHost).find((part) => endpoint.baseUrl.includes(part));
  return thinkingByHost[host ?? '']?.(on) ?? { reasoning_effort: on ? 'medium' : 'none' };
}

function messageSent(message: Message, model: Model): object {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.callId, content: message.text };
  if (message.role === 'assistant') return answerSent(message, model);
  const { role, content } = message;
  // Plain text where it will do: some servers know nothing else.
  const isText = content.every((part) => part.type === 'text');
  return { role, content: isText ? textOf(content) : content.map(partSent) };
}

const partSent = (part: ContentPart): object =>
  part.type === 'text'
    ? { type: 'text', text: part.text }
    : { type: 'image_url', image_url: { url: `data:${part.mimeType};base64,${part.data}` } };

function answerSent(message: AssistantMessage, model: Model): object {
  const { text, calls } = message;
  const { echoReasoning } = model.capabilities;
  const native = nativeOf(message, model);
  const thoughts = native.find((part) => 'reasoning' in part || 'reasoning_content' in part);
  const details = native.filter(({ type }) => type !== undefined);
  return {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, arguments: args }, at) => ({
        id,
        type: 'function',
        function: { name, arguments: args },
        extra_content: native.find(({ call }) => call === at)?.['extra'],
      })),
    }),
    ...(echoReasoning === 'if_sent' && thoughts),
    // DeepSeek refuses calls without it, be it empty.
    ...(echoReasoning === 'calls' && calls.length > 0 && { reasoning_content: '', ...thoughts }),
    ...(details.length > 0 && { reasoning_details: details }),
  };
}

function* read({ choices, usage }: JsonObject): Generator<Delta> {
  const choice = objectOf(listOf(choices)[0]);
  // `message` stands in an answer that came whole.
  const delta = objectOf(choice['delta'] ?? choice['message']);
  // Some send the same under both names.
  const field = delta['reasoning_content'] ? 'reasoning_content' : 'reasoning';
  const thought = stringOf(delta[field]);
  if (thought) yield { reasoning: thought, native: { key: 'thoughts', part: { [field]: thought } } };
  // OpenRouter's form of thoughts, signed: those with the same index are one.
  for (const part of listOf(delta['reasoning_details']).map(objectOf))
    yield { native: { key: `${String(part['type'])} ${String(part['index'])}`, part } };
  yield { text: delta['content'] };
  if (delta['refusal']) yield { text: delta['refusal'], stop: 'refusal' };
  for (const piece of listOf(delta['tool_calls']).map(objectOf)) {
    const { name, arguments: more } = objectOf(piece['function']);
    // Gemini signs its thoughts there.
    yield {
      call: { index: piece['index'], id: piece['id'], name, arguments: more, extra: piece['extra_content'] },
    };
  }
  yield { stop: choice['finish_reason'] };
  if (!isObject(usage)) return;
  const { cached_tokens = usage['prompt_cache_hit_tokens'] } = objectOf(usage['prompt_tokens_details']);
  const cacheRead = Number(cached_tokens ?? 0);
  const input = Math.max(0, Number(usage['prompt_tokens'] ?? 0) - cacheRead);
  yield { usage: { input, output: usage['completion_tokens'], cacheRead } };
}
