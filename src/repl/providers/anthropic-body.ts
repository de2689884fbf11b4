import type { AssistantMessage, Message, Part, UserMessage } from '../message.ts';
import type { Model } from '../models/model.ts';
import {
  argumentsObject,
  formatOf,
  toolList,
  nativeOf,
  messagesToSend,
  safeId,
  safeName,
  systemOf,
} from './request-parts.ts';
import type { Body, WireCall } from './wire.ts';

/** A block of Anthropic's content, as it came. */
export type Block = Readonly<Record<string, unknown>>;

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: Block[];
}

/** Below 1,024 the API refuses a budget. */
const leastBudget = 1024;
const usualBudget = 8192;

/** A request as Anthropic's messages want it. */
export function anthropicBody({ model, request, refused }: WireCall): Body {
  const { capabilities } = model;
  const schema = formatOf(request);
  const messages = turnsOf(request.messages, model);
  const max_tokens = Math.min(request.maxTokens ?? Infinity, capabilities.maxOutput);
  const cached = refused.has('cache_control') ? {} : { cache_control: { type: 'ephemeral' } };
  // What comes before the last block is read from the cache next time.
  const last = messages.at(-1);
  if (last?.role === 'user') last.content.push({ ...last.content.pop(), ...cached });
  const system = systemOf(request);
  const thinking = capabilities.thinking && thinkable(request.messages, model) ? request.thinking : undefined;
  return {
    model: model.id,
    max_tokens,
    system: system === '' ? undefined : [{ type: 'text', text: system, ...cached }],
    messages,
    tools: toolList(request.tools, ({ name, description, inputSchema }) => ({
      name,
      description,
      input_schema: inputSchema,
    })),
    stream: capabilities.streaming || undefined,
    output_config: schema && { format: { type: 'json_schema', schema } },
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

/**
 * While results are being sent, thinking is only allowed if the answer that asked for them began with thoughts of
 * its own.
 */
function thinkable(messages: readonly Message[], model: Model): boolean {
  if (messages.at(-1)?.role !== 'tool') return true;
  const asking = messages.findLast((message) => message.role === 'assistant');
  const first = asking && (nativeOf(asking, model) as readonly Block[] | undefined)?.[0];
  return first?.['type'] === 'thinking' || first?.['type'] === 'redacted_thinking';
}

/**
 * Turns that alternate, beginning with the person's; all results of an answer stand in one message, before anything
 * else.
 */
function turnsOf(messages: readonly Message[], model: Model): Turn[] {
  const turns: Turn[] = [];
  for (const message of messagesToSend(messages, model, true)) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = blocksOf(message, model);
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else if (content.length > 0) turns.push({ role, content });
  }
  if (turns[0]?.role === 'assistant') {
    turns.unshift({ role: 'user', content: [{ type: 'text', text: '(The beginning is left out.)' }] });
  }
  return turns;
}

function blocksOf(message: Message, model: Model): Block[] {
  switch (message.role) {
    case 'user':
      return partsOf(message);
    case 'assistant':
      return answerBlocks(message, model);
    case 'tool': {
      const text: Part = { type: 'text', text: message.text };
      const content =
        message.images.length > 0 ? partsOf({ content: [text, ...message.images] }) : message.text;
      const error = message.isError ? { is_error: true } : {};
      return [{ type: 'tool_result', tool_use_id: safeId(message.callId), content, ...error }];
    }
  }
}

const partsOf = ({ content }: Pick<UserMessage, 'content'>): Block[] =>
  content.map((part) =>
    part.type === 'text'
      ? { type: 'text', text: part.text }
      : { type: 'image', source: { type: 'base64', media_type: part.mimeType, data: part.data } },
  );

function answerBlocks(message: AssistantMessage, model: Model): Block[] {
  const native = nativeOf(message, model) as readonly Block[] | undefined;
  if (native) {
    return native.map((block) =>
      block['type'] === 'tool_use' ? { ...block, id: safeId(String(block['id'])) } : block,
    );
  }
  return [
    ...(message.text.trim() === '' ? [] : [{ type: 'text', text: message.text }]),
    ...message.calls.map(({ id, name, arguments: text }) => ({
      type: 'tool_use',
      id: safeId(id),
      name: safeName(name),
      input: argumentsObject(text),
    })),
  ];
}
