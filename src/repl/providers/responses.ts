import type { ResponseCreateParams } from 'openai/resources/responses/responses';
import type { Stop, ToolCall, Usage } from '../message.ts';
import { listOf, objectOf } from '../text/json.ts';
import { unfinished } from './failure.ts';
import { openAiClient } from './openai-client.ts';
import type { ModelEvent } from './provider.ts';
import { responsesBody, type Item } from './responses-body.ts';
import { eventsOf, messageOf, type Body, type WireCall, type WireSpeaker } from './wire.ts';

/** OpenAI's newer wire, the only one over which its newer models both think and call tools. */
export const responsesWire: WireSpeaker = { warm: () => import('openai'), body: responsesBody, speak };

interface WireEvent {
  readonly type: string;
  readonly output_index?: number;
  readonly item_id?: string;
  readonly item?: Item;
  readonly delta?: unknown;
  readonly response?: WireResponse;
  readonly code?: unknown;
  readonly message?: unknown;
}

interface WireResponse {
  readonly status?: string;
  readonly output?: readonly Item[];
  readonly incomplete_details?: { readonly reason?: string } | null;
  readonly error?: unknown;
  readonly usage?: WireUsage | null;
}

interface WireUsage {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly input_tokens_details?: { readonly cached_tokens?: number } | null;
}

async function* speak(call: WireCall, body: Body): AsyncGenerator<ModelEvent> {
  const client = await openAiClient(call);
  const sent = client.responses.create(body as unknown as ResponseCreateParams, { signal: call.signal });
  /** By their place, which may be any number. */
  const items = new Map<number, Item>();
  /** Calls whose item is not complete, by the place of the item. */
  const begun = new Map<number, { item: Item; text: string }>();
  let text = '';
  let reasoning = '';
  let ended: WireResponse | undefined;

  for await (const event of eventsOf<WireEvent>(sent, asEvents)) {
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
        if (event.item?.type !== 'function_call') break;
        begun.set(place, { item: event.item, text: '' });
        yield { type: 'call_begun', name: String(event.item['name']) };
        break;
      case 'response.function_call_arguments.delta': {
        const open = begun.get(place);
        if (open) open.text += delta;
        break;
      }
      case 'response.output_item.done':
        begun.delete(place);
        if (event.item) items.set(place, event.item);
        break;
      case 'response.completed':
      case 'response.incomplete':
        ended = event.response ?? {};
        break;
      case 'response.failed':
        throw Object.assign(new Error('the response failed'), { error: event.response?.error ?? {} });
      case 'error':
        throw Object.assign(new Error('the stream failed'), {
          error: { code: event.code, message: event.message },
        });
    }
  }
  if (!ended) throw unfinished();
  const whole = [...items].sort(([one], [other]) => one - other).map(([, item]) => item);
  const done = whole.length + begun.size > 0 ? whole : (ended.output ?? []);
  const cut = [...begun.values()].map(({ item, text: args }) => ({ ...item, arguments: args }));
  const calls = [...done, ...cut].filter(({ type }) => type === 'function_call').map(callOf);
  const stop = stopOf(ended, { calling: calls.length > 0, refused: done.some(isRefusal) });
  const usage = ended.usage ? counted(ended.usage) : undefined;
  // Thoughts without what followed them are refused; so an answer that was cut goes back as plain text.
  const native = stop !== 'length' && { native: done };
  yield { type: 'end', message: messageOf(call, { text, reasoning, calls, stop, usage, ...native }) };
}

/** A response that came whole, as the events it would have been. */
function asEvents(response: WireEvent & WireResponse): WireEvent[] {
  const deltas = (type: string, parts: unknown): WireEvent[] =>
    listOf(parts).map((part) => ({ type, delta: objectOf(part)['text'] ?? objectOf(part)['refusal'] }));
  const events = (response.output ?? []).flatMap((item, output_index): WireEvent[] => [
    ...(item.type === 'reasoning' ? deltas('response.reasoning_summary_text.delta', item['summary']) : []),
    ...(item.type === 'message' ? deltas('response.output_text.delta', item['content']) : []),
    { type: 'response.output_item.added', output_index, item },
    { type: 'response.output_item.done', output_index, item },
  ]);
  return [...events, { type: `response.${response.status ?? 'completed'}`, response }];
}

const callOf = (item: Item): ToolCall => ({
  id: String(item['call_id'] ?? item['id']),
  name: String(item['name']),
  arguments:
    typeof item['arguments'] === 'string' ? item['arguments'] : JSON.stringify(item['arguments'] ?? {}),
});

const isRefusal = ({ content }: Item): boolean =>
  listOf(content).some((part) => objectOf(part)['type'] === 'refusal');

function stopOf(
  { incomplete_details: details }: WireResponse,
  { calling, refused }: { calling: boolean; refused: boolean },
): Stop {
  if (details?.reason === 'content_filter' || refused) return 'filtered';
  if (details?.reason) return 'length';
  return calling ? 'calls' : 'done';
}

function counted({ input_tokens, output_tokens, input_tokens_details }: WireUsage): Omit<Usage, 'estimated'> {
  const cacheRead = input_tokens_details?.cached_tokens ?? 0;
  const input = Math.max(0, (input_tokens ?? 0) - cacheRead);
  return { input, output: output_tokens ?? 0, cacheRead, cacheWrite: 0 };
}
