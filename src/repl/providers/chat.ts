import type { ChatCompletionCreateParams } from 'openai/resources/chat/completions';
import type { Stop, Usage } from '../message.ts';
import { listOf, objectOf, type JsonObject } from '../text/json.ts';
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
  /** Lists of pieces, as Mistral sends, are for none of our endpoints. */
  readonly content?: unknown;
  readonly refusal?: string | null;
  readonly reasoning_content?: unknown;
  readonly reasoning?: unknown;
  readonly reasoning_details?: unknown;
  readonly tool_calls?: readonly CallPiece[] | null;
}

/** A thought as OpenRouter and MiniMax have it, signed or encrypted. */
type Detail = JsonObject;

interface Choice {
  readonly delta?: Delta | null;
  readonly message?: Delta;
  readonly finish_reason?: string | null;
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
  const details: Detail[] = [];
  let text = '';
  let reasoning = '';
  let field: ChatNative['field'];
  let finish: string | undefined;
  let refused = false;
  let usage: ChatUsage | undefined;

  for await (const chunk of eventsOf<Chunk>(sent, asChunks)) {
    const choice = chunk.choices?.[0];
    usage = chunk.usage ?? usage;
    if (!choice) continue;
    const delta = choice.delta ?? {};
    const name = typeof delta.reasoning_content === 'string' ? 'reasoning_content' : 'reasoning';
    const thought = typeof delta[name] === 'string' ? delta[name] : '';
    gatherDetails(details, listOf(delta.reasoning_details).map(objectOf));
    if (delta.refusal) refused = true;
    if (thought !== '') {
      field = name;
      reasoning += thought;
      yield { type: 'reasoning', text: thought };
    }
    const said = `${typeof delta.content === 'string' ? delta.content : ''}${delta.refusal ?? ''}`;
    text += said;
    if (said !== '') yield { type: 'text', text: said };
    for (const piece of delta.tool_calls ?? []) {
      const begun = reader.push(piece);
      if (begun !== undefined) yield { type: 'call_begun', name: begun };
    }
    finish = choice.finish_reason ?? finish;
  }
  if (finish === undefined || finish === 'error') throw unfinished();
  const { calls, extras } = reader.end();
  const native: ChatNative = {
    ...(field && { field, reasoning }),
    ...(details.length > 0 && { details }),
    ...(Object.keys(extras).length > 0 && { extras }),
  };
  const stop = refused ? 'filtered' : stopOf(finish, calls.length > 0);
  const kept = Object.keys(native).length > 0 && { native };
  const gathered = { text, reasoning, calls, stop, usage: usage && counted(usage), ...kept };
  yield { type: 'end', message: messageOf(call, gathered) };
}

const asChunks = (whole: Chunk): Chunk[] => [
  {
    ...whole,
    choices: (whole.choices ?? []).map((choice) => ({ ...choice, delta: choice.message ?? null })),
  },
];

/** `stop` with calls is a slip of many servers; words that are none of OpenAI's mean that the model was done. */
function stopOf(finish: string, calling: boolean): Stop {
  if (finish === 'length') return 'length';
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

/**
 * OpenRouter streams thoughts in pieces and wants them back whole: those with the same index are one, their texts
 * joined.
 */
function gatherDetails(all: Detail[], pieces: readonly Detail[]): void {
  for (const piece of pieces) {
    const begun = all.findIndex(({ index, type }) => index === piece.index && type === piece.type);
    if (begun < 0 || typeof piece.index !== 'number') {
      all.push(piece);
      continue;
    }
    const before = all[begun];
    const joined = Object.entries(piece).map(([key, value]) => {
      const text = ['text', 'summary', 'data'].includes(key) && before?.[key];
      return [
        key,
        value === null || typeof text !== 'string' ? (value ?? before?.[key]) : text + String(value),
      ];
    });
    all[begun] = { ...before, ...Object.fromEntries(joined) };
  }
}
