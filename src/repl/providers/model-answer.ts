import { randomUUID } from 'node:crypto';
import { estimateRequest, estimateTokens } from '../context/tokens.ts';
import type { AssistantMessage, StopReason, ToolCall, Usage } from '../message.ts';
import type { Model } from '../models/model.ts';
import type { ModelEvent, ModelRequest, CallDelta, Delta } from './provider.ts';
import { TextFilter, type TextPiece } from './text-filter.ts';

interface BegunCall {
  readonly index: unknown;
  id: string;
  name: string;
  text: string;
  extra: unknown;
}

/** The fields of a native part that stream in pieces. */
const growing = 'text thinking signature partial_json reasoning reasoning_content summary data'.split(' ');

/** One answer, gathered from what is new in it, whichever wire it comes over. */
export class ModelAnswer {
  readonly #request: ModelRequest;
  readonly #model: Model;
  readonly #filter: TextFilter;
  readonly #said = { text: '', reasoning: '' };
  readonly #calls: BegunCall[] = [];
  readonly #native = new Map<unknown, Record<string, unknown>>();
  readonly #usage: Record<string, number> = {};
  #stop: string | undefined;

  /** `request`: as it was asked for, with its tools even where they are told of in words. */
  constructor(request: ModelRequest, model: Model) {
    this.#request = request;
    this.#model = model;
    this.#filter = new TextFilter(request.tools, model.capabilities.tools);
  }

  /** True when the model has said that it is done. */
  get isComplete(): boolean {
    return this.#stop !== undefined && this.#stop !== 'error';
  }

  /** Takes what is new; returns what of it is to be shown. */
  *add({ text, reasoning, call, native, usage = {}, stop }: Delta): Generator<ModelEvent> {
    if (native) this.#keep(native.key ?? Symbol('apart'), native.part);
    for (const [name, value] of Object.entries(usage))
      // What a later event does not count it leaves out, or sends as null.
      if (typeof value === 'number') this.#usage[name] = value;
    if (typeof stop === 'string' && stopOf(this.#stop, false) !== 'filtered') this.#stop = stop;
    if (typeof reasoning === 'string') yield* this.#say([{ type: 'reasoning', text: reasoning }]);
    if (typeof text === 'string') yield* this.#say(this.#filter.push(text));
    const begun = call && this.#take(call);
    if (begun !== undefined) yield { type: 'call_begun', name: begun };
  }

  /** Yields what was held back because more might have come. */
  *rest(): Generator<ModelEvent> {
    yield* this.#say(this.#filter.end());
  }

  /** The whole answer; an interrupted one has no calls. */
  message(interrupted?: 'aborted'): AssistantMessage {
    const { endpoint, id } = this.#model;
    const native = interrupted ? [] : this.#calls.map(wholeCall, this.#usedIds());
    // Those that the wire knows of count, if there are any.
    const calls = interrupted || native.length > 0 ? native : this.#filter.calls;
    const parts = [
      ...this.#native.values(),
      ...this.#calls.flatMap(({ extra }, call) => (extra ? [{ call, extra }] : [])),
    ];
    // What the wire keeps does not fit calls of the text, nor ids that were made up.
    const fits = endpoint.wire === 'chat' || calls.every((call, at) => call.id === this.#calls[at]?.id);
    return {
      role: 'assistant',
      ...this.#said,
      calls,
      stop: interrupted ?? stopOf(this.#stop, calls.length > 0),
      usage: this.#counted(),
      provider: endpoint.name,
      model: id,
      wire: endpoint.wire,
      ...(fits && !interrupted && parts.length > 0 && { native: parts }),
    };
  }

  *#say(pieces: Iterable<TextPiece>): Generator<ModelEvent> {
    for (const piece of pieces) {
      if (piece.text === '') continue;
      this.#said[piece.type] += piece.text;
      yield piece;
    }
  }

  #keep(key: unknown, part: Readonly<Record<string, unknown>>): void {
    const before = this.#native.get(key) ?? {};
    const joined = Object.entries(part).flatMap(([name, value]) => {
      const given = before[name];
      if (value === undefined || (value === null && given !== undefined)) return [];
      const grows = growing.includes(name) && typeof given === 'string';
      return [[name, grows ? `${given}${String(value)}` : value]];
    });
    this.#native.set(key, { ...before, ...Object.fromEntries(joined) });
  }

  /** Returns the name of a call that begins with it. */
  #take({ index, id, name, arguments: more, extra }: CallDelta): string | undefined {
    let call = this.#callFor(index, id, name);
    if (!call) {
      call = { index, id: '', name: '', text: '', extra: undefined };
      this.#calls.push(call);
    }
    if (id) call.id = String(id);
    call.extra = extra ?? call.extra;
    if (more) call.text += typeof more === 'string' ? more : JSON.stringify(more);
    if (call.name !== '' || !name) return undefined;
    call.name = String(name);
    return call.name;
  }

  /** A new id always begins a new call: there are servers that give all of them the same index, or none. */
  #callFor(index: unknown, id: unknown, name: unknown): BegunCall | undefined {
    if (typeof index === 'number') {
      const same = this.#calls.findLast((call) => call.index === index);
      return same && id && same.id && id !== same.id ? undefined : same;
    }
    if (id) return this.#calls.findLast((call) => call.id === id);
    return name ? undefined : this.#calls.at(-1);
  }

  #usedIds(): Set<string> {
    const { messages } = this.#request;
    return new Set(
      messages.flatMap((one) => (one.role === 'assistant' ? one.calls : [])).map(({ id }) => id),
    );
  }

  /** Counts the tokens; where the provider did not, they are estimated. */
  #counted(): Usage {
    const counts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, ...this.#usage };
    if (Object.values(counts).some((count) => count > 0)) return { ...counts, estimated: false };
    const said = [this.#said.text, this.#said.reasoning, ...this.#calls.map(({ text }) => text)].join('');
    return {
      ...counts,
      input: estimateRequest(this.#request),
      output: estimateTokens(said),
      estimated: true,
    };
  }
}

/** Ids that are missing, or that an earlier call has, are made up. */
function wholeCall(this: Set<string>, { id: given, name, text }: BegunCall): ToolCall {
  const isNew = given !== '' && !this.has(given);
  const id = isNew ? given : `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`;
  this.add(id);
  return { id, name, arguments: text };
}

/**
 * Translates a model's own word for its end. `stop` with calls is a slip of many servers; words that none of
 * the wires has mean that the model was done.
 */
function stopOf(reason: string | undefined, calling: boolean): StopReason {
  if (['length', 'max_tokens', 'max_output_tokens'].includes(reason ?? '')) return 'length';
  if (['content_filter', 'refusal'].includes(reason ?? '')) return 'filtered';
  return calling ? 'calls' : 'done';
}
