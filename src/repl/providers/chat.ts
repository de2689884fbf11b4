import type { AssistantMessage, Message, Part } from '../message.ts';
import type { Model } from '../models/model.ts';
import { listOf, objectOf, type JsonObject } from '../text/json.ts';
import { takePiece, wholeCalls, type BegunCall, type CallPiece } from './chat-calls.ts';
import { unfinished } from './failure.ts';
import type { Body, ModelEvent, ModelRequest } from './provider.ts';
import * as parts from './request-parts.ts';
import { countOf, stopOf, type AnswerReader, type WireFormat } from './wire.ts';

/** Chat completions: OpenAI's older wire, and that of nearly everybody else. */
export const chatWire: WireFormat = {
  path: '/chat/completions',
  body,
  reader,
  asEvents: (whole) => [whole],
};

/** What goes back to the same model with an answer of its own. */
interface Native {
  /** How the server calls its thoughts. */
  readonly field?: 'reasoning_content' | 'reasoning';
  readonly reasoning?: string;
  /** OpenRouter's form of them, signed. */
  readonly details?: readonly object[];
  /** What else belongs to a call, by its id. */
  readonly extras?: Readonly<Record<string, object>>;
}

function body(request: ModelRequest, model: Model, refused: ReadonlySet<string>): Body {
  const { tools, maxTokens } = request;
  const system = parts.systemOf(request);
  return {
    model: model.id,
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      ...parts.messagesToSend(request.messages, model, false).map((message) => chatMessage(message, model)),
    ],
    tools: parts.toolList(tools, ({ name, description, inputSchema }) => ({
      type: 'function',
      function: { name, description, parameters: inputSchema },
    })),
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: maxTokens,
    ...parts.samplingOf(model),
    ...thinkingFields(model, request.thinking),
    ...(tools.length > 0 && refused.has('effort_with_tools') && { reasoning_effort: 'none' }),
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
  const host = Object.keys(thinkingByHost).find((part) => endpoint.baseUrl.includes(part));
  return thinkingByHost[host ?? '']?.(thinking) ?? { reasoning_effort: thinking ? 'medium' : 'none' };
}

function chatMessage(message: Message, model: Model): object {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: chatContent(message.content) };
    case 'tool':
      return { role: 'tool', tool_call_id: parts.safeId(message.callId), content: message.text };
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
  const native = parts.nativeOf(message, model) as Native | undefined;
  const tool_calls = message.calls.map(({ id, name, arguments: text }) => ({
    id: parts.safeId(id),
    type: 'function',
    function: { name: parts.safeName(name), arguments: parts.argumentsText(text) },
    ...native?.extras?.[id],
  }));
  return {
    role: 'assistant',
    content: message.text === '' ? null : message.text,
    ...(tool_calls.length > 0 && { tool_calls }),
    ...echoed(message, native, model),
  };
}

/** The fields that send thoughts back. DeepSeek refuses calls without `reasoning_content`, be it empty. */
function echoed(message: AssistantMessage, native: Native | undefined, model: Model): object {
  const { echoReasoning } = model.capabilities;
  if (echoReasoning === 'calls')
    return message.calls.length > 0 ? { reasoning_content: native?.reasoning ?? '' } : {};
  const details = native?.details ? { reasoning_details: native.details } : {};
  if (echoReasoning === 'never' || !native?.field) return details;
  return { [native.field]: native.reasoning, ...details };
}

interface Delta {
  readonly content?: unknown;
  readonly refusal?: string | null;
  readonly reasoning_content?: unknown;
  readonly reasoning?: unknown;
  readonly reasoning_details?: unknown;
  readonly tool_calls?: readonly CallPiece[] | null;
}
interface Chunk {
  readonly choices?: readonly {
    readonly delta?: Delta | null;
    /** In place of it, in an answer that came whole. */
    readonly message?: Delta;
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: JsonObject | null;
}

function reader({ messages }: ModelRequest): AnswerReader {
  const calls: BegunCall[] = [];
  const details: JsonObject[] = [];
  let reasoning = '';
  let field: Native['field'];
  let finish: string | undefined;
  let usage: JsonObject | undefined;
  return {
    *read(chunk: Chunk): Generator<ModelEvent> {
      const choice = chunk.choices?.[0];
      usage = chunk.usage ?? usage;
      const delta = choice?.delta ?? choice?.message ?? {};
      for (const piece of listOf(delta.reasoning_details)) gatherDetail(details, objectOf(piece));
      for (const name of ['reasoning_content', 'reasoning'] as const) {
        const text = delta[name];
        // Some send the same under both names.
        if (typeof text !== 'string' || text === '' || (field ?? name) !== name) continue;
        field = name;
        reasoning += text;
        yield { type: 'reasoning', text };
      }
      const text = `${typeof delta.content === 'string' ? delta.content : ''}${delta.refusal ?? ''}`;
      if (text !== '') yield { type: 'text', text };
      for (const piece of delta.tool_calls ?? []) {
        const name = takePiece(calls, piece);
        if (name !== undefined) yield { type: 'call_begun', name };
      }
      if (finish !== 'content_filter')
        finish = delta.refusal ? 'content_filter' : (choice?.finish_reason ?? finish);
    },
    end() {
      if (finish === undefined || finish === 'error') throw unfinished();
      const whole = wholeCalls(calls, messages);
      const native: Native = {
        ...(field && { field, reasoning }),
        ...(details.length > 0 && { details }),
        ...(Object.keys(whole.extras).length > 0 && { extras: whole.extras }),
      };
      return {
        calls: whole.calls,
        stop: stopOf(finish, calls.length > 0),
        usage: usage && usageOf(usage),
        native: Object.keys(native).length > 0 ? native : undefined,
      };
    },
  };
}

function usageOf(usage: JsonObject) {
  const details = objectOf(usage['prompt_tokens_details']);
  const cacheRead = countOf(details['cached_tokens'] ?? usage['prompt_cache_hit_tokens']);
  const input = Math.max(0, countOf(usage['prompt_tokens']) - cacheRead);
  return { input, output: countOf(usage['completion_tokens']), cacheRead, cacheWrite: 0 };
}

/** OpenRouter streams thoughts in pieces and wants them back whole: those with the same index are one. */
function gatherDetail(all: JsonObject[], piece: JsonObject): void {
  const at = all.findIndex(({ index, type }) => index === piece['index'] && type === piece['type']);
  const before = all[at];
  if (!before) return void all.push(piece);
  const joined = Object.entries(piece).map(([key, value]) => {
    const adds = ['text', 'summary', 'data'].includes(key) && typeof value === 'string';
    return [key, adds ? `${String(before[key] ?? '')}${value}` : (value ?? before[key])];
  });
  all[at] = { ...before, ...Object.fromEntries(joined) };
}
