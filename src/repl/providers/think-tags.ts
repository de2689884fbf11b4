import { createFenceWatch } from './fence-watch.ts';

export interface Thought {
  readonly type: 'text' | 'reasoning';
  readonly text: string;
}

const opening = ['<think>', '<thinking>', '<reasoning>'];
const closing = ['</think>', '</thinking>', '</reasoning>'];

/**
 * Separates what a model thinks from what it says, where it writes its thoughts between tags in its answer. A tag
 * counts only where a line begins and not in a code fence: a model that writes about `<think>` is not thinking.
 * Line ends after a tag go with it. A tag that has only half arrived is held back. A closing tag without an opening
 * one is left out: there are chat templates that open it themselves, and what came before it has been shown
 * already.
 */
export function createThinkSplitter() {
  const line = createFenceWatch();
  let thinking = false;
  /** The beginning of what may become a tag. */
  let held = '';
  let afterTag = false;
  let made: { type: Thought['type']; text: string }[] = [];

  const say = (text: string) => {
    const type = thinking ? 'reasoning' : 'text';
    if (!thinking) for (const char of text) line.next(char);
    const last = made.at(-1);
    if (last?.type === type) last.text += text;
    else if (text !== '') made.push({ type, text });
    afterTag = false;
  };

  const take = (char: string) => {
    if (held === '') {
      if (afterTag && (char === '\n' || char === '\r')) return;
      if (char === '<' && (thinking || (line.atLineStart() && !line.inFence()))) held = char;
      else say(char);
      return;
    }
    const tag = (held + char).toLowerCase();
    const tags = thinking ? closing : [...opening, ...closing];
    if (tags.includes(tag)) {
      thinking = opening.includes(tag);
      held = '';
      afterTag = true;
    } else if (tags.some((each) => each.startsWith(tag))) {
      held += char;
    } else {
      const text = held;
      held = '';
      say(text);
      take(char);
    }
  };

  const taken = (): Thought[] => {
    const all = made;
    made = [];
    return all;
  };

  return {
    push(text: string): Thought[] {
      for (const char of text) take(char);
      return taken();
    },
    /** What was held back, as it came. */
    end(): Thought[] {
      const text = held;
      held = '';
      say(text);
      return taken();
    },
  };
}
