import { randomUUID } from 'node:crypto';
import type { ToolCall } from '../message.ts';
import type { ModelEvent, ToolDefinition } from './provider.ts';
import type { AnswerEnd } from './wire.ts';
import { callOf } from './xml-call.ts';

interface Filter {
  /** Thoughts may stand between tags in the text. */
  readonly thoughts: boolean;
  readonly tools: readonly ToolDefinition[];
  /** The model calls tools natively: what it writes as XML all the same counts only where a line begins. */
  readonly native: boolean;
}

type Piece = Extract<ModelEvent, { type: 'text' | 'reasoning' }>;

const opening = ['<think>', '<thinking>', '<reasoning>'];
const closing = ['</think>', '</thinking>', '</reasoning>'];
const longestTag = '</reasoning>'.length;
const callTag = /^<(?:tool_call|function=[\w.-]{1,128})>/;
/** Any beginning of one. */
const halfTag = /^<[a-z_]{0,9}$|^<function=[\w.-]{0,128}$/;

/**
 * Takes out of the text of a model, as it comes, what does not belong there: thoughts, and calls as XML. A tag of
 * thoughts counts only where a line begins and not in a code fence: a model that writes about `<think>` is not
 * thinking; a closing one without an opening one is left out, as there are chat templates that open it themselves.
 * Calls are `<tool_call>…</tool_call>` and `<function=name>…</function>`, not in fences and not right after a backtick.
 * A tag that has only half arrived is held back. A call that is not finished keeps its raw text as arguments, which are
 * then no JSON: it is answered as malformed.
 */
export class TextFilter {
  readonly #calls: ToolCall[] = [];
  readonly #filter: Filter;
  /** What was not looked at yet, or may become a tag. */
  #rest = '';
  #call: string | undefined;
  #thinking = false;
  #afterTag = false;
  /** The line so far, and what opened the fence we are in. */
  #line = '';
  #fence = '';

  constructor(filter: Filter) {
    this.#filter = filter;
  }

  *push(text: string): Generator<Piece> {
    const seen = this.#rest.length;
    this.#rest += text;
    for (let from = seen; ; from = 0) {
      if (this.#call === undefined) {
        const next = this.#rest.indexOf('<');
        yield* this.#say(next < 0 ? this.#rest.length : next);
        if (this.#rest === '') return;
        const tag = this.#tagHere();
        if (tag === 'incomplete') return;
        if (tag === undefined) yield* this.#say(1);
        else this.#enter(tag);
      } else {
        const close = this.#call.startsWith('<function=') ? '</function>' : `</${this.#call.slice(1)}`;
        const end = this.#rest.indexOf(close, from - close.length);
        if (end < 0) return;
        this.#keep(this.#rest.slice(0, end), true);
        this.#rest = this.#rest.slice(end + close.length);
      }
    }
  }

  /** What was held back, as it came. */
  *end(): Generator<Piece> {
    if (this.#call === undefined) yield* this.#say(this.#rest.length);
    else this.#keep(this.#rest, false);
  }

  /** The end of an answer with the calls of its text; those that the wire knows of count, if there are any. */
  withCalls(end: AnswerEnd): AnswerEnd {
    if (end.calls.length > 0 || this.#calls.length === 0) return end;
    // What the wire keeps still holds them as text.
    const { usage, stop } = end;
    return { calls: this.#calls, stop: stop === 'done' ? 'calls' : stop, usage };
  }

  /** The tag that the rest begins with. */
  #tagHere(): string | undefined {
    const { thoughts, tools, native } = this.#filter;
    const inFence = this.#fence !== '' || fenceIn(this.#line) !== '';
    const atStart = this.#line.trim() === '' && !inFence;
    const free = native ? atStart : !inFence && !this.#line.endsWith('`');
    const mayCall = tools.length > 0 && !this.#thinking && free;
    const ofThoughts = this.#thinking ? closing : thoughts && atStart ? [...opening, ...closing] : [];
    const called = mayCall ? callTag.exec(this.#rest)?.[0] : undefined;
    if (called !== undefined) return called;
    const lower = this.#rest.slice(0, longestTag).toLowerCase();
    const tag = ofThoughts.find((one) => lower.startsWith(one));
    if (tag !== undefined) return tag;
    const mayBecome =
      ofThoughts.some((one) => one.startsWith(lower)) || (mayCall && halfTag.test(this.#rest));
    return mayBecome ? 'incomplete' : undefined;
  }

  #enter(tag: string): void {
    this.#rest = this.#rest.slice(tag.length);
    this.#afterTag = opening.includes(tag) || closing.includes(tag);
    if (this.#afterTag) this.#thinking = opening.includes(tag);
    else this.#call = tag;
  }

  /** Hands on so many characters of the rest. */
  *#say(length: number): Generator<Piece> {
    let text = this.#rest.slice(0, length);
    this.#rest = this.#rest.slice(length);
    if (this.#afterTag) text = text.replace(/^[\r\n]+/, '');
    if (text === '') return;
    this.#afterTag = false;
    if (!this.#thinking) this.#follow(text);
    yield { type: this.#thinking ? 'reasoning' : 'text', text };
  }

  /** Follows the lines of the Markdown, so that tags in a fence are taken for text. */
  #follow(text: string): void {
    const [first = '', ...others] = text.split('\n');
    this.#line += first;
    for (const line of others) {
      if (this.#fence === '') this.#fence = fenceIn(this.#line);
      else if (/^\s*(`+|~+)\s*$/.exec(this.#line)?.[1]?.startsWith(this.#fence)) this.#fence = '';
      this.#line = line;
    }
  }

  #keep(body: string, finished: boolean): void {
    const tag = this.#call ?? '';
    const { name, arguments: args } = callOf(tag, body, this.#filter.tools);
    this.#calls.push({ id: `xml_${randomUUID()}`, name, arguments: finished ? args : tag + body });
    this.#call = undefined;
  }
}

/** The marks a line opens a fence with; ```code``` on one line is none. */
const fenceIn = (line: string): string => /^\s*(~{3,}|`{3,}(?=[^`]*$))/.exec(line)?.[1] ?? '';
