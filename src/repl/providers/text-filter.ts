import { randomUUID } from 'node:crypto';
import type { AssistantMessage, ToolCall } from '../message.ts';
import type { ModelEvent, ToolDefinition } from './provider.ts';
import { callOf } from './xml-call.ts';

interface Filter {
  /** Thoughts may stand between tags in the text. */
  readonly thoughts: boolean;
  readonly tools: readonly ToolDefinition[];
  /** The model calls tools natively: what it writes as XML all the same counts only where a line begins. */
  readonly native: boolean;
}

/** The events of an answer, with what models write into their text taken out of it: thoughts, and calls as XML. */
export async function* filteredText(
  events: AsyncIterable<ModelEvent>,
  filter: Filter,
): AsyncGenerator<ModelEvent> {
  const text = new TextFilter(filter);
  const whole = { text: '', reasoning: '' };
  function* pass(pieces: readonly Piece[]): Generator<ModelEvent> {
    for (const piece of pieces) {
      whole[piece.type] += piece.text;
      yield piece;
    }
  }
  for await (const event of events) {
    if (event.type === 'text') yield* pass(text.push(event.text));
    else if (event.type === 'reasoning') yield* pass([event]);
    else if (event.type === 'end') {
      yield* pass(text.end());
      yield { type: 'end', message: withCalls({ ...event.message, ...whole }, text.calls) };
    } else yield event;
  }
}

/** Calls that the wire knows of count, if there are any; else those of the text. */
function withCalls(message: AssistantMessage, calls: AssistantMessage['calls']): AssistantMessage {
  if (message.calls.length > 0 || calls.length === 0) return message;
  // What the wire keeps still holds them as text.
  const { native: _, ...rest } = message;
  return { ...rest, calls, stop: message.stop === 'done' ? 'calls' : message.stop };
}

interface Piece {
  readonly type: 'text' | 'reasoning';
  text: string;
}

const opening = ['<think>', '<thinking>', '<reasoning>'];
const closing = ['</think>', '</thinking>', '</reasoning>'];
const named = /^<function=[\w.-]{1,128}>?$/;
/** As much of a line as is looked at: what opens or closes a fence stands at its beginning. */
const mostLine = 300;

/**
 * Reads the text of a model one character at a time. A tag of thoughts counts only where a line begins and not in a
 * code fence: a model that writes about `<think>` is not thinking; a closing one without an opening one is left out,
 * as there are chat templates that open it themselves. Calls are `<tool_call>…</tool_call>`,
 * `<function=name>…</function>` and `<name>…</name>` of a known tool, not in fences and not right after a backtick.
 * A tag that has only half arrived is held back. A call that is not finished keeps its raw text as arguments, which
 * are then no JSON: it is answered as malformed.
 */
class TextFilter {
  readonly calls: ToolCall[] = [];
  readonly #filter: Filter;
  readonly #plain: readonly string[];
  #pieces: Piece[] = [];
  #thinking = false;
  /** The beginning of what may become a tag, and which tags those are. */
  #held = '';
  #tags: readonly string[] = [];
  #mayCall = false;
  #afterTag = false;
  #call: { readonly tag: string; readonly close: string; body: string; matched: number } | undefined;
  #line = '';
  /** What opened the fence we are in. */
  #fence = '';
  #before = '';

  constructor(filter: Filter) {
    this.#filter = filter;
    this.#plain = ['tool_call', ...filter.tools.map(({ name }) => name)].map((name) => `<${name}>`);
  }

  push(text: string): Piece[] {
    for (const char of text) if (!this.#inCall(char)) this.#take(char);
    return this.#taken();
  }

  /** What was held back, as it came. */
  end(): Piece[] {
    this.#say(this.#held);
    this.#held = '';
    if (this.#call) this.#keep(false);
    return this.#taken();
  }

  #taken(): Piece[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  #say(text: string): void {
    if (text === '') return;
    const type = this.#thinking ? 'reasoning' : 'text';
    if (!this.#thinking) for (const char of text) this.#follow(char);
    this.#before = text.at(-1) ?? '';
    const last = this.#pieces.at(-1);
    if (last?.type === type) last.text += text;
    else this.#pieces.push({ type, text });
    this.#afterTag = false;
  }

  /** Follows the lines of the Markdown, so that tags in a fence are taken for text. */
  #follow(char: string): void {
    if (char !== '\n') {
      if (this.#line.length < mostLine) this.#line += char;
      return;
    }
    if (this.#fence === '') this.#fence = fenceIn(this.#line);
    else if (/^\s*(`+|~+)\s*$/.exec(this.#line)?.[1]?.startsWith(this.#fence)) this.#fence = '';
    this.#line = '';
  }

  #take(char: string): void {
    if (this.#held === '') {
      if (this.#afterTag && /[\r\n]/.test(char)) return;
      if (char === '<' && this.#mayOpen()) this.#held = char;
      else this.#say(char);
      return;
    }
    const tag = this.#held + char;
    const lower = tag.toLowerCase();
    if (this.#tags.includes(lower)) {
      this.#thinking = opening.includes(lower);
      this.#held = '';
      this.#afterTag = true;
    } else if (this.#mayCall && (this.#plain.includes(tag) || (named.test(tag) && char === '>'))) {
      const close = tag.startsWith('<function=') ? '</function>' : `</${tag.slice(1)}`;
      this.#call = { tag, close, body: '', matched: 0 };
      this.#held = '';
    } else if (this.#tags.some((each) => each.startsWith(lower)) || (this.#mayCall && this.#begins(tag))) {
      this.#held = tag;
    } else {
      const text = this.#held;
      this.#held = '';
      this.#say(text);
      this.#take(char);
    }
  }

  #begins = (tag: string): boolean =>
    '<function='.startsWith(tag) || named.test(tag) || this.#plain.some((each) => each.startsWith(tag));

  /** Whether a tag may begin here; says which. */
  #mayOpen(): boolean {
    const { thoughts, tools, native } = this.#filter;
    const inFence = this.#fence !== '' || fenceIn(this.#line) !== '';
    const atStart = this.#line.trim() === '' && !inFence;
    this.#tags = this.#thinking ? closing : thoughts && atStart ? [...opening, ...closing] : [];
    const free = native ? atStart : !inFence && this.#before !== '`';
    this.#mayCall = tools.length > 0 && !this.#thinking && free;
    return this.#tags.length > 0 || this.#mayCall;
  }

  #inCall(char: string): boolean {
    const call = this.#call;
    if (!call) return false;
    call.body += char;
    // `<` stands only at the beginning of a tag, so this finds every one in a single pass.
    call.matched = char === call.close[call.matched] ? call.matched + 1 : char === '<' ? 1 : 0;
    if (call.matched === call.close.length) {
      call.body = call.body.slice(0, -call.close.length);
      this.#keep(true);
    }
    return true;
  }

  #keep(finished: boolean): void {
    const { tag = '', body = '' } = this.#call ?? {};
    const { name, arguments: args } = callOf(tag, body, this.#filter.tools);
    this.calls.push({ id: `xml_${randomUUID()}`, name, arguments: finished ? args : tag + body });
    this.#call = undefined;
  }
}

/** The marks a line opens a fence with; ```code``` on one line is none. */
const fenceIn = (line: string): string => /^\s*(~{3,}|`{3,}(?=[^`]*$))/.exec(line)?.[1] ?? '';
