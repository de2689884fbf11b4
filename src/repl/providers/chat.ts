import type { Part } from '../message.ts';
import type { Model } from '../models/model.ts';
import { isObject, listOf, objectOf, textOf, type JsonObject } from '../text/json.ts';
import type { Body } from './provider.ts';
import type { Conversation, Delta, SentAnswer, SentMessage, WireFormat } from './wire.ts';

/** Chat completions: OpenAI's older wire, and that of nearly everybody else. */
export const chatWire: WireFormat = { path: '/chat/completions', imagesInResults: false, body, read };

function body({ system, messages, tools, maxTokens, thinking }: Conversation, model: Model): Body {
  return {
    messages: [
      ...(system === undefined ? [] : [{ role: 'system', content: system }]),
      ...messages.map((message) => chatMessage(message, model)),
    ],
    tools: tools?.map(({ name, description, inputSchema }) => ({
      type: 'function',
      function: { name, description, parameters: inputSchema },
    })),
    stream_options: { include_usage: true },
    max_tokens: maxTokens,
    ...(thinking !== undefined && thinkingFields(model, thinking)),
  };
}

/** How endpoints are told to think or not to, by a part of their address; for all others it is `reasoning_effort`. */
const thinkingByHost: Readonly<Record<string, (on: boolean) => Body>> = {
  'openrouter.ai': (on) => ({ reasoning: { enabled: on } }),
  'deepseek.com': (on) => ({ thinking: { type: on ? 'enabled' : 'disabled' } }),
  'siliconflow.': (on) => ({ enable_thinking: on }),
};

function thinkingFields({ endpoint }: Model, on: boolean): Body {
  const host = Object.keys(thinkingByHost).find((part) => endpoint.baseUrl.includes(part));
  return thinkingByHost[host ?? '']?.(on) ?? { reasoning_effort: on ? 'medium' : 'none' };
}

function chatMessage(message: SentMessage, model: Model): object {
  if (message.role === 'user') return { role: 'user', content: chatContent(message.content) };
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.id, content: message.text };
  return chatAnswer(message, model);
}

function chatContent(content: readonly Part[]): unknown {
  // Plain text where it will do: some servers know nothing else.
  if (content.every((part) => part.type === 'text')) return content.map(({ text }) => text).join('\n\n');
  return content.map((part) =>
    part.type === 'text'
      ? { type: 'text', text: part.text }
      : { type: 'image_url', image_url: { url: `data:${part.mimeType};base64,${part.data}` } },
  );
}

function chatAnswer({ text, calls, native }: SentAnswer, { capabilities: { echoReasoning } }: Model): object {
  const thoughts = native.find((part) => 'reasoning' in part || 'reasoning_content' in part);
  const details = native.filter(({ type }) => type !== undefined);
  return {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, json }, at) => ({
        id,
        type: 'function',
        function: { name, arguments: json },
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
  const thought = textOf(delta[field]);
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
