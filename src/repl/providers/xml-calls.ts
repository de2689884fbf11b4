import { randomUUID } from 'node:crypto';
import type { ToolCall } from '../message.ts';
import { createFenceWatch } from './fence-watch.ts';
import type { ToolDefinition } from './provider.ts';
import { callOf } from './xml-call.ts';

/** A call that is being read: how much of its closing tag has come, too. */
interface Open {
  readonly tag: string;
  readonly close: string;
  body: string;
  matched: number;
}

/**
 * Takes the tool calls out of the text of a model that has no other way to make them. Understood are
 * `<tool_call>…</tool_call>`, `<function=name>…</function>` and `<name>…</name>` of a known tool, not in code
 * fences and not right after a backtick. What may become a call is held back. A call that is not finished, or that
 * cannot be read, keeps its raw text as arguments, which are then no JSON: it is answered as malformed.
 */
export function createXmlCallReader(tools: readonly ToolDefinition[]) {
  const line = createFenceWatch();
  const plain = ['tool_call', ...tools.map(({ name }) => name)].map((name) => `<${name}>`);
  const calls: ToolCall[] = [];
  /** The beginning of what may become an opening tag. */
  let held = '';
  let before = '';
  let call: Open | undefined;
  let said = '';

  const say = (text: string) => {
    for (const char of text) line.next(char);
    said += text;
    before = text.at(-1) ?? before;
  };

  const keep = ({ tag, body }: Open, finished: boolean) => {
    const { name, arguments: args } = callOf(tag, body, tools);
    calls.push({ id: `xml_${randomUUID()}`, name, arguments: finished ? args : tag + body });
    call = undefined;
  };

  const mayOpen = (tag: string): boolean =>
    tag === '<'
      ? !line.inFence() && before !== '`'
      : '<function='.startsWith(tag) ||
        /^<function=[\w.-]{1,128}$/.test(tag) ||
        plain.some((each) => each.startsWith(tag));

  const takeText = (char: string) => {
    const tag = held + char;
    const waiting = held;
    held = '';
    if (!tag.startsWith('<')) say(char);
    else if (plain.includes(tag)) call = { tag, close: `</${tag.slice(1)}`, body: '', matched: 0 };
    else if (/^<function=[\w.-]{1,128}>$/.test(tag))
      call = { tag, close: '</function>', body: '', matched: 0 };
    else if (mayOpen(tag)) held = tag;
    else if (waiting === '') say(char);
    else {
      say(waiting);
      takeText(char);
    }
  };

  return {
    /** Takes more of an answer; gives what of it is no call. */
    push(text: string): string {
      said = '';
      for (const char of text) {
        if (!call) {
          takeText(char);
          continue;
        }
        call.body += char;
        // `<` stands only at the beginning of a tag, so this finds every one in a single pass.
        call.matched = char === call.close[call.matched] ? call.matched + 1 : char === '<' ? 1 : 0;
        if (call.matched < call.close.length) continue;
        call.body = call.body.slice(0, -call.close.length);
        keep(call, true);
      }
      return said;
    },
    end(): { text: string; calls: ToolCall[] } {
      said = '';
      say(held);
      held = '';
      if (call) keep(call, false);
      return { text: said, calls };
    },
  };
}
