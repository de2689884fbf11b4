import type { AssistantMessage, Message, Part } from '../message.ts';
import type { Model } from '../models/model.ts';
import type { ChatNative } from './chat.ts';
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

/** A request as the chat completions of OpenAI and of all who speak like it want it. */
export function chatBody({ model, request, refused }: WireCall): Body {
  const { tools, maxTokens } = request;
  const schema = formatOf(request);
  const system = systemOf(request);
  const withEffort = tools.length > 0 && refused.has('effort_with_tools');
  const newer = refused.has('max_tokens') || new URL(model.endpoint.baseUrl).hostname === 'api.openai.com';
  const limit = newer && !refused.has('max_completion_tokens') ? 'max_completion_tokens' : 'max_tokens';
  return {
    model: model.id,
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      ...messagesToSend(request.messages, model, false).map((message) => chatMessage(message, model)),
    ],
    tools: toolList(tools, ({ name, description, inputSchema }) => ({
      type: 'function',
      function: { name, description, parameters: inputSchema },
    })),
    ...(model.capabilities.streaming && { stream: true, stream_options: { include_usage: true } }),
    [limit]: maxTokens,
    response_format: schema && {
      type: 'json_schema',
      json_schema: { name: 'answer', schema, strict: false },
    },
    ...thinkingFields(model, request.thinking),
    ...(withEffort && { reasoning_effort: 'none' }),
  };
}

/** How endpoints are told to think or not to, by a part of their address; for all others it is `reasoning_effort`. */
const thinkingByHost: Readonly<Record<string, (on: boolean) => Body>> = {
  'openrouter.ai': (on) => ({ reasoning: { enabled: on } }),
  'deepseek.com': (on) => ({ thinking: { type: on ? 'enabled' : 'disabled' } }),
  'siliconflow.': (on) => ({ enable_thinking: on }),
};

function thinkingFields({ endpoint, capabilities }: Model, thinking: boolean | undefined): Body {
  if (thinking === undefined || !capabilities.thinking) return {};
  const host = Object.keys(thinkingByHost).find((part) => new URL(endpoint.baseUrl).hostname.includes(part));
  const fields = host === undefined ? undefined : thinkingByHost[host];
  return fields ? fields(thinking) : { reasoning_effort: thinking ? 'medium' : 'none' };
}

function chatMessage(message: Message, model: Model): object {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: chatContent(message.content) };
    case 'tool':
      return { role: 'tool', tool_call_id: safeId(message.callId), content: message.text };
    case 'assistant':
      return assistant(message, model);
  }
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

function assistant(message: AssistantMessage, model: Model): object {
  const native = nativeOf(message, model) as ChatNative | undefined;
  const tool_calls = message.calls.map(({ id, name, arguments: text }) => ({
    id: safeId(id),
    type: 'function',
    function: { name: safeName(name), arguments: argumentsText(text) },
    ...native?.extras?.[id],
  }));
  return {
    role: 'assistant',
    content: message.text === '' ? null : message.text,
    ...(tool_calls.length > 0 && { tool_calls }),
    ...echoed(message, native, model),
  };
}

/**
 * The fields that send thoughts back. DeepSeek refuses a message with calls that has no `reasoning_content`, be it
 * empty.
 */
function echoed(message: AssistantMessage, native: ChatNative | undefined, model: Model): object {
  const { echoReasoning } = model.capabilities;
  const details = native?.details ? { reasoning_details: native.details } : {};
  if (echoReasoning === 'calls') {
    return message.calls.length > 0 ? { reasoning_content: native?.reasoning ?? '' } : {};
  }
  if (echoReasoning === 'never' || !native?.field) return details;
  return { [native.field]: native.reasoning, ...details };
}
