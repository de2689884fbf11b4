import type { ChatCompletionCreateParams } from 'openai/resources/chat/completions';
import type { Stop, Usage } from '../message.ts';
import { chatBody } from './chat-body.ts';
import { createCallReader, type CallPiece } from './chat-calls.ts';
import { unfinished } from './failure.ts';
import { openAiClient } from './openai-client.ts';
import type { ModelEvent } from './provider.ts';
import { eventsOf, messageOf, type Body, type WireCall, type WireSpeaker } from './wire.ts';

/** What goes back to the same model with an answer of its own. */
export interface ChatNative {
  /** How the server calls its thoughts. */
  readonly field?: 'reasoning_content' | 'reasoning';
  readonly reasoning?: string;
  /** OpenRouter's form of them, signed. */
  readonly details?: readonly object[];
  /** What else belongs to a call, by its id. */
  readonly extras?: Readonly<Record<string, object>>;
}

/** Chat completions: OpenAI's older wire, and that of nearly everybody else. */
export const chatWire: WireSpeaker = { warm: () => import('openai'), body: chatBody, speak };

interface Delta {
  readonly content?: string | readonly ContentPiece[] | null;
  readonly refusal?: string | null;
  readonly reasoning_content?: unknown;
  readonly reasoning?: unknown;
  readonly reasoning_details?: unknown;
  readonly tool_calls?: readonly CallPiece[] | null;
}

/** Mistral sends lists, with thoughts in lists of their own. */
interface ContentPiece {
  readonly type?: string;
  readonly text?: string;
  readonly thinking?: readonly { readonly text?: string }[];
}

interface Choice {
  readonly delta?: Delta | null;
  readonly message?: Delta;
  readonly finish_reason?: string | null;
  readonly usage?: ChatUsage | null;
}

interface Chunk {
  readonly choices?: readonly Choice[] | null;
  readonly usage?: ChatUsage | null;
}

interface ChatUsage {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly prompt_cache_hit_tokens?: number;
  readonly prompt_tokens_details?: {
    readonly cached_tokens?: number;
    readonly cache_write_tokens?: number;
  } | null;
}

async function* speak(call: WireCall, body: Body): AsyncGenerator<ModelEvent> {
  const client = await openAiClient(call);
  const sent = client.chat.completions.create(body as unknown as ChatCompletionCreateParams, {
    signal: call.signal,
  });
  const earlier = call.request.messages.flatMap((each) => (each.role === 'assistant' ? each.calls : []));
  const reader = createCallReader(new Set(earlier.map(({ id }) => id)));
  const details = createDetails();
  let text = '';
  let reasoning = '';
  let field: ChatNative['field'];
  let finish: string | undefined;
  let refused = false;
  let usage: ChatUsage | undefined;

  for await (const chunk of eventsOf<Chunk>(sent, asChunks)) {
    const choice = chunk.choices?.[0];
    usage = chunk.usage ?? choice?.usage ?? usage;
    if (!choice) continue;
    const delta = choice.delta ?? {};
    const name = typeof delta.reasoning_content === 'string' ? 'reasoning_content' : 'reasoning';
    const thought = typeof delta[name] === 'string' ? delta[name] : '';
    if (thought !== '') field = name;
    details.push(delta.reasoning_details);
    if (delta.refusal) refused = true;
    for (const event of [
      { type: 'reasoning' as const, text: thought },
      ...piecesOf(delta.content),
      { type: 'text' as const, text: delta.refusal ?? '' },
    ]) {
      if (event.text === '') continue;
      if (event.type === 'text') text += event.text;
      else reasoning += event.text;
      yield event;
    }
    for (const piece of delta.tool_calls ?? []) {
      const begun = reader.push(piece);
      if (begun !== undefined) yield { type: 'call_begun', name: begun };
    }
    finish = choice.finish_reason ?? finish;
  }
  if (finish === undefined || finish === 'error') throw unfinished();
  const { calls, extras } = reader.end();
  const native: ChatNative = {
    ...(field ? { field, reasoning } : {}),
    ...(details.list.length > 0 ? { details: details.list } : {}),
    ...(Object.keys(extras).length > 0 ? { extras } : {}),
  };
  const stop = refused ? 'filtered' : stopOf(finish, calls.length > 0);
  const gathered = { text, reasoning, calls, stop, usage: usage && counted(usage) };
  const kept = Object.keys(native).length > 0 ? { native } : {};
  yield { type: 'end', message: messageOf(call, { ...gathered, ...kept }) };
}

const asChunks = (whole: Chunk): Chunk[] => [
  {
    ...whole,
    choices: (whole.choices ?? []).map((choice) => ({ ...choice, delta: choice.message ?? null })),
  },
];

function piecesOf(content: Delta['content']): { type: 'text' | 'reasoning'; text: string }[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return (content ?? []).map(({ type, text, thinking }) =>
    type === 'thinking'
      ? { type: 'reasoning', text: (thinking ?? []).map((each) => each.text ?? '').join('') }
      : { type: 'text', text: text ?? '' },
  );
}

/** `stop` with calls is a slip of many servers; words that are none of OpenAI's mean that the model was done. */
function stopOf(finish: string, calling: boolean): Stop {
  if (finish === 'length' || finish === 'model_length') return 'length';
  if (finish === 'content_filter') return 'filtered';
  return calling ? 'calls' : 'done';
}

function counted(usage: ChatUsage): Omit<Usage, 'estimated'> {
  const details = usage.prompt_tokens_details;
  const cacheRead = details?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? 0;
  const cacheWrite = details?.cache_write_tokens ?? 0;
  const input = Math.max(0, (usage.prompt_tokens ?? 0) - cacheRead - cacheWrite);
  return { input, output: usage.completion_tokens ?? 0, cacheRead, cacheWrite };
}

/** Pieces of `reasoning_details` with the same index are one: their texts are joined, of the rest the last counts. */
function createDetails() {
  const list: Record<string, unknown>[] = [];
  return {
    list,
    push(pieces: unknown) {
      for (const piece of Array.isArray(pieces) ? (pieces as Record<string, unknown>[]) : []) {
        const same = list.find(({ index, type }) => index === piece['index'] && type === piece['type']);
        if (!same || typeof piece['index'] !== 'number') {
          list.push({ ...piece });
          continue;
        }
        for (const [key, value] of Object.entries(piece)) {
          const joined = ['text', 'summary', 'data'].includes(key) && typeof same[key] === 'string';
          if (value !== null) same[key] = joined ? `${String(same[key])}${String(value)}` : value;
        }
      }
    },
  };
}
