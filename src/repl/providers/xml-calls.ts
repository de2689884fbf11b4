import { randomUUID } from 'node:crypto';
import type { ToolCall } from '../message.ts';
import { createFenceWatch } from './fence-watch.ts';
import type { ToolDefinition } from './provider.ts';
import { callOf } from './xml-call.ts';

export { xmlHistory, xmlInstructions } from './xml-prompt.ts';

export interface XmlCallReader {
  /** Takes more of an answer; gives what of it is no call. */
  push(text: string): { text: string };
  end(): { text: string; calls: ToolCall[] };
}

/** As long as a name in `<function=name>` may be: longer ones are text. */
const mostName = 128;

/**
 * Takes the tool calls out of the text of a model that has no other way to make them. Understood are `<tool_call>…</tool_call>`,
 * `<function=name>…</function>` and `<name>…</name>` of a known tool, not in code fences and not right after a backtick. What
 * may become a call is held back. A call that is not finished, or that cannot be read, keeps its raw text as arguments, which
 * are then no JSON: it is answered as malformed.
 */
export function createXmlCallReader(tools: readonly ToolDefinition[]): XmlCallReader {
  const line = createFenceWatch();
  const closings = new Map([['<tool_call>', '</tool_call>']]);
  for (const { name } of tools) closings.set(`<${name}>`, `</${name}>`);
  const beginnings = new Set<string>();
  for (const tag of [...closings.keys(), '<function='])
    for (let end = 1; end <= tag.length; end++) beginnings.add(tag.slice(0, end));
  const calls: ToolCall[] = [];

  /** The beginning of what may become an opening tag. */
  let held = '';
  let before = '';
  /** The call that is being read, and how much of its closing tag has come. */
  let call: { open: string; close: string; body: string; matched: number } | undefined;
  let said = '';

  const say = (text: string) => {
    for (const char of text) line.next(char);
    said += text;
    before = text.at(-1) ?? before;
  };

  const open = (tag: string, close: string) => {
    held = '';
    call = { open: tag, close, body: '', matched: 0 };
  };

  const takeText = (char: string) => {
    const tag = held + char;
    if (held === '') {
      if (char === '<' && !line.inFence && before !== '`') held = char;
      else say(char);
    } else if (
      tag.startsWith('<function=') &&
      /^([\w.-]+>?)?$/.test(tag.slice('<function='.length)) &&
      tag.length < mostName
    ) {
      if (char === '>') open(tag, '</function>');
      else held = tag;
    } else if (closings.has(tag)) {
      open(tag, closings.get(tag) ?? '');
    } else if (beginnings.has(tag)) {
      held = tag;
    } else {
      const text = held;
      held = '';
      say(text);
      takeText(char);
    }
  };

  return {
    push(text) {
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
        calls.push({ id: newId(), ...callOf(call.open, call.body.slice(0, -call.close.length), tools) });
        call = undefined;
      }
      return { text: said };
    },
    end() {
      said = '';
      const text = held;
      held = '';
      say(text);
      if (call) {
        const { name } = callOf(call.open, call.body, tools);
        calls.push({ id: newId(), name, arguments: call.open + call.body });
        call = undefined;
      }
      return { text: said, calls };
    },
  };
}

const newId = (): string => `xml_${randomUUID()}`;
