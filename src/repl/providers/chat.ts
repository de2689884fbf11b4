import { randomUUID } from 'node:crypto';
import type { AssistantMessage, Message, Part, Stop, ToolCall, Usage } from '../message.ts';
import type { Model } from '../models/model.ts';
import { listOf, objectOf, type JsonObject } from '../text/json.ts';
import { unfinished } from './failure.ts';
import { openAiClient } from './openai-client.ts';
import type { Body, ModelEvent } from './provider.ts';
import * as parts from './request-parts.ts';
import type { AnswerReader, WireCall, WireSpeaker } from './wire.ts';

/** Chat completions: OpenAI's older wire, and that of nearly everybody else. */
export const chatWire: WireSpeaker = {
  client: openAiClient,
  path: '/chat/completions',
  body,
  reader,
  asEvents: (whole: Chunk): Chunk[] => [
    {
      ...whole,
      choices: (whole.choices ?? []).map((choice) => ({ ...choice, delta: choice.message ?? null })),
    },
  ],
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

function body({ model, request, refused }: WireCall): Body {
  const { tools, maxTokens } = request;
  const schema = parts.formatOf(request);
  const system = parts.systemOf(request);
  const newer = refused.has('max_tokens') || new URL(model.endpoint.baseUrl).hostname === 'api.openai.com';
  const limit = newer && !refused.has('max_completion_tokens') ? 'max_completion_tokens' : 'max_tokens';
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
    ...(model.capabilities.streaming && { stream: true, stream_options: { include_usage: true } }),
    [limit]: maxTokens,
    response_format: schema && {
      type: 'json_schema',
      json_schema: { name: 'answer', schema, strict: false },
    },
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
  const { hostname } = new URL(endpoint.baseUrl);
  const fields = Object.entries(thinkingByHost).find(([part]) => hostname.includes(part))?.[1];
  return fields ? fields(thinking) : { reasoning_effort: thinking ? 'medium' : 'none' };
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
interface Choice {
  readonly delta?: Delta | null;
  readonly message?: Delta;
  readonly finish_reason?: string | null;
}
interface Chunk {
  readonly choices?: readonly Choice[] | null;
  readonly usage?: JsonObject | null;
}

function reader({ request }: WireCall): AnswerReader {
  const earlier = request.messages.flatMap((each) => (each.role === 'assistant' ? each.calls : []));
  const calls: BegunCall[] = [];
  const details: JsonObject[] = [];
  let [text, reasoning] = ['', ''];
  let field: Native['field'];
  let finish: string | undefined;
  let refused = false;
  let usage: JsonObject | undefined;
  return {
    *read(chunk: Chunk): Generator<ModelEvent> {
      const choice = chunk.choices?.[0];
      usage = chunk.usage ?? usage;
      if (!choice) return;
      const delta = choice.delta ?? {};
      const name = typeof delta.reasoning_content === 'string' ? 'reasoning_content' : 'reasoning';
      const thought = typeof delta[name] === 'string' ? delta[name] : '';
      for (const piece of listOf(delta.reasoning_details)) gatherDetail(details, objectOf(piece));
      if (thought !== '') field = name;
      reasoning += thought;
      if (thought !== '') yield { type: 'reasoning', text: thought };
      refused ||= Boolean(delta.refusal);
      const said = `${typeof delta.content === 'string' ? delta.content : ''}${delta.refusal ?? ''}`;
      text += said;
      if (said !== '') yield { type: 'text', text: said };
      for (const piece of delta.tool_calls ?? []) {
        const begun = takePiece(calls, piece);
        if (begun !== undefined) yield { type: 'call_begun', name: begun };
      }
      finish = choice.finish_reason ?? finish;
    },
    end() {
      if (finish === undefined || finish === 'error') throw unfinished();
      const whole = wholeCalls(calls, new Set(earlier.map(({ id }) => id)));
      const native: Native = {
        ...(field && { field, reasoning }),
        ...(details.length > 0 && { details }),
        ...(Object.keys(whole.extras).length > 0 && { extras: whole.extras }),
      };
      const stop = refused ? 'filtered' : stopOf(finish, whole.calls.length > 0);
      const kept = Object.keys(native).length > 0 && { native };
      return { text, reasoning, calls: whole.calls, stop, usage: usage && counted(usage), ...kept };
    },
  };
}

/** `stop` with calls is a slip of many servers; words that are none of OpenAI's mean that the model was done. */
function stopOf(finish: string, calling: boolean): Stop {
  if (finish === 'length') return 'length';
  if (finish === 'content_filter') return 'filtered';
  return calling ? 'calls' : 'done';
}

function counted(usage: JsonObject): Omit<Usage, 'estimated'> {
  const details = objectOf(usage['prompt_tokens_details']);
  const count = (value: unknown) => (typeof value === 'number' ? value : 0);
  const cacheRead = count(details['cached_tokens'] ?? usage['prompt_cache_hit_tokens']);
  const cacheWrite = count(details['cache_write_tokens']);
  const input = Math.max(0, count(usage['prompt_tokens']) - cacheRead - cacheWrite);
  return { input, output: count(usage['completion_tokens']), cacheRead, cacheWrite };
}

/** OpenRouter streams thoughts in pieces and wants them back whole: those with the same index are one. */
function gatherDetail(all: JsonObject[], piece: JsonObject): void {
  const at = all.findIndex(({ index, type }) => index === piece['index'] && type === piece['type']);
  const before = all[at];
  if (!before || typeof piece['index'] !== 'number') return void all.push(piece);
  const joined = Object.entries(piece).map(([key, value]) => {
    const text = ['text', 'summary', 'data'].includes(key) ? before[key] : undefined;
    const adds = typeof text === 'string' && value !== null;
    return [key, adds ? text + String(value) : (value ?? before[key])];
  });
  all[at] = { ...before, ...Object.fromEntries(joined) };
}

/** A piece of a call in a chunk; servers leave out any of it. */
interface CallPiece {
  readonly index?: number | null;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: unknown } | null;
  /** Gemini's signature of its thoughts, which has to come back with the call. */
  readonly extra_content?: unknown;
}
interface BegunCall {
  readonly index: number | null | undefined;
  id: string;
  name: string;
  text: string;
  extra: unknown;
}

/**
 * Takes a piece; gives the name of a call that begins with it. A new id always begins a new call: there are servers
 * that give all of them the same index, or none.
 */
function takePiece(calls: BegunCall[], piece: CallPiece): string | undefined {
  const { name, arguments: more } = piece.function ?? {};
  let call = begunBy(calls, piece);
  if (!call) calls.push((call = { index: piece.index, id: '', name: '', text: '', extra: undefined }));
  if (piece.id) call.id = piece.id;
  if (piece.extra_content) call.extra = piece.extra_content;
  if (more) call.text += typeof more === 'string' ? more : JSON.stringify(more);
  if (call.name !== '' || !name) return undefined;
  call.name = name;
  return name;
}

function begunBy(calls: readonly BegunCall[], { index, id, function: called }: CallPiece) {
  if (typeof index === 'number') {
    const same = calls.findLast((call) => call.index === index);
    return same && id && same.id && id !== same.id ? undefined : same;
  }
  if (id) return calls.findLast((call) => call.id === id);
  return called?.name ? undefined : calls.at(-1);
}

/** Ids that are missing, or that an earlier call has, are made up. */
function wholeCalls(begun: readonly BegunCall[], used: Set<string>) {
  const extras: Record<string, object> = {};
  const calls = begun.map(({ id: given, name, text, extra }): ToolCall => {
    const made = `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`;
    const id = given !== '' && !used.has(given) ? given : made;
    used.add(id);
    if (extra) extras[id] = { extra_content: extra };
    return { id, name, arguments: text };
  });
  return { calls, extras };
}
