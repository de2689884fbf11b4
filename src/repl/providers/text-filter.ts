import { randomUUID } from 'node:crypto';
import type { ToolCall, ToolDeclaration } from '../message.ts';
import { jsonIn, objectOf } from '../text/json.ts';
import type { ModelEvent } from './provider.ts';

export type TextPiece = Extract<ModelEvent, { type: 'text' | 'reasoning' }>;

const tags = /<\/?(?:think(?:ing)?|reasoning)>|<tool_call>|<function=[\w.-]{1,128}>/i;
/** Any beginning of one, at the end of what has arrived. */
const halfTag = /<(?:\/?[a-z_]{0,9}|function=[\w.-]{0,128})$/i;

/**
 * Takes out of the text of a model, as it comes, what does not belong there: thoughts, and calls as XML. A
 * tag counts only where a line begins and not in a code fence: a model that writes about `<think>` is not
 * thinking. A model that has no other way to call may do it within a line, too, but not right after a
 * backtick. A closing tag without an opening one is left out: there are chat templates that open it
 * themselves. A call that is not finished keeps its raw text as arguments, which are then no JSON: it is
 * answered as malformed.
 */
export class TextFilter {
  readonly calls: ToolCall[] = [];
  readonly #tools: readonly ToolDeclaration[];
  readonly #native: boolean;
  /** The text that was not looked at yet, or may become a tag. */
  #rest = '';
  #call: string | undefined;
  #thinking = false;
  #afterTag = false;
  /** The line so far, and what opened the fence we are in. */
  #line = '';
  #fence = '';

  /** `native`: the model has another way to call tools. */
  constructor(tools: readonly ToolDeclaration[], native: boolean) {
    this.#tools = tools;
    this.#native = native;
  }

  /** Yields what of the text can be shown now. */
  *push(text: string): Generator<TextPiece> {
    // Of a long call, only what is new is looked through.
    let from = this.#rest.length;
    this.#rest += text;
    for (;;) {
      if (this.#call !== undefined) {
        const close = this.#call.startsWith('<function=') ? '</function>' : '</tool_call>';
        const end = this.#rest.indexOf(close, Math.max(0, from - close.length));
        if (end < 0) return;
        this.#keep(this.#rest.slice(0, end), true);
        this.#rest = this.#rest.slice(end + close.length);
      } else {
        const tag = tags.exec(this.#rest);
        if (!tag) {
          const half = this.#rest.search(halfTag);
          return yield* this.#say(half < 0 ? this.#rest.length : half);
        }
        yield* this.#say(tag.index);
        if (this.#counts(tag[0])) this.#enter(tag[0]);
        else yield* this.#say(tag[0].length);
      }
      from = 0;
    }
  }

  /** Yields what was held back, as it came. */
  *end(): Generator<TextPiece> {
    if (this.#call === undefined) yield* this.#say(this.#rest.length);
    else this.#keep(this.#rest, false);
  }

  #counts(tag: string): boolean {
    if (this.#thinking) return tag.startsWith('</');
    const inFence = this.#fence !== '' || fenceIn(this.#line) !== '';
    if (!inFence && this.#line.trim() === '') return !isCall(tag) || this.#tools.length > 0;
    return isCall(tag) && this.#tools.length > 0 && !this.#native && !inFence && !this.#line.endsWith('`');
  }

  #enter(tag: string): void {
    this.#rest = this.#rest.slice(tag.length);
    this.#afterTag = !isCall(tag);
    if (isCall(tag)) this.#call = tag;
    else this.#thinking = !tag.startsWith('</');
  }

  /** Hands on so many characters of the rest. */
  *#say(length: number): Generator<TextPiece> {
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
    const { name, arguments: args } = readXmlCall(tag, body, this.#tools);
    this.calls.push({ id: `xml_${randomUUID()}`, name, arguments: finished ? args : tag + body });
    this.#call = undefined;
  }
}

const isCall = (tag: string): boolean => /^<[tf](?:ool_call|unction)/i.test(tag);

/** The marks a line opens a fence with; ```code``` on one line is none. */
const fenceIn = (line: string): string => /^\s*(~{3,}|`{3,}(?=[^`]*$))/.exec(line)?.[1] ?? '';

/**
 * Reads what stands between the tags of a call, as name and JSON arguments: JSON with both, as the system
 * prompt asks for it, or elements of their own for function and parameters. What cannot be read keeps its raw
 * text.
 */
function readXmlCall(open: string, body: string, tools: readonly ToolDeclaration[]): Omit<ToolCall, 'id'> {
  const raw = open + body;
  const [, name, inside = ''] =
    /^(?:<tool_call>\s*)?<function=([\w.-]{1,128})>([^]*?)(?:<\/function>\s*)?$/i.exec(raw) ?? [];
  if (name !== undefined) return { name, arguments: parameters(inside, name, tools) ?? raw };
  const { name: called, arguments: args, parameters: given = {} } = objectOf(jsonIn(body));
  const value = args ?? given;
  if (typeof called === 'string')
    return { name: called, arguments: typeof value === 'string' ? value : JSON.stringify(value) };
  // The name in a call that cannot be read tells the model which of them it was.
  const guessed = /"name"\s*:\s*"([\w.-]{1,128})"/.exec(body.slice(0, 1000))?.[1];
  return { name: guessed ?? 'tool_call', arguments: raw };
}

/**
 * Arguments as JSON, or as `<parameter=name>value</parameter>`, with the types that the tool's schema wants.
 */
function parameters(body: string, name: string, tools: readonly ToolDeclaration[]): string | undefined {
  const text = body.trim();
  if (text.startsWith('{')) return text;
  const properties = objectOf(tools.find((tool) => tool.name === name)?.inputSchema['properties']);
  const pieces = text.split('</parameter>').filter((piece) => piece.trim() !== '');
  const args = pieces.map((piece) => {
    const [, key = '', value = ''] = /^\s*<parameter=([^<>\s]{1,128})>\r?\n?([^]*?)\r?\n?$/.exec(piece) ?? [];
    const isText = objectOf(properties[key])['type'] === 'string';
    return [key, isText ? value : (jsonIn(value) ?? value)] as const;
  });
  return args.some(([key]) => key === '') ? undefined : JSON.stringify(Object.fromEntries(args));
}
