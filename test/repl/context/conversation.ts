import type { AssistantMessage, ImagePart, Message, ToolCall, Usage } from '../../../src/repl/message.ts';
import type { Entry, EntryBody } from '../../../src/repl/session/entry.ts';
import type { Item } from '../../../src/repl/context/view.ts';
import { viewOf, type View } from '../../../src/repl/context/view.ts';

/** Nothing was counted by a provider. */
export const uncounted: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, estimated: true };
export const counted = (input: number, output = 0): Usage => ({
  ...uncounted,
  input,
  output,
  estimated: false,
});

export const picture: ImagePart = { type: 'image', mimeType: 'image/png', data: 'aGVsbG8=' };
export const pictures = (count: number): ImagePart[] => Array.from({ length: count }, () => picture);

export const call = (id: string, args = '{}', name = 'read_file'): ToolCall => ({
  id,
  name,
  arguments: args,
});

export const answer = (
  text: string,
  calls: readonly ToolCall[] = [],
  more: Partial<AssistantMessage> = {},
): AssistantMessage => ({
  role: 'assistant',
  text,
  reasoning: '',
  calls,
  stop: calls.length > 0 ? 'calls' : 'done',
  usage: uncounted,
  provider: 'test',
  model: 'test',
  wire: 'chat',
  ...more,
});

/** A session's path under construction. */
export class Conversation {
  readonly path: Entry[] = [];

  add(body: EntryBody): this {
    const id = `e${this.path.length + 1}`;
    const parent = this.path.at(-1)?.id ?? null;
    this.path.push({ ...body, id, parent, ts: '2026-01-01T00:00:00.000Z' } as Entry);
    return this;
  }

  says(text: string, images = 0): this {
    return this.add({
      type: 'user',
      content: [{ type: 'text', text }, ...pictures(images)],
    });
  }

  answers(text: string, calls: readonly ToolCall[] = [], more: Partial<AssistantMessage> = {}): this {
    return this.add({ type: 'assistant', message: answer(text, calls, more) });
  }

  gets(callId: string, text: string, more: { images?: ImagePart[]; isError?: boolean } = {}): this {
    return this.add({ type: 'tool', callId, name: 'read_file', state: 'done', text, ...more });
  }

  /** An answer with one call and its result. */
  uses(callId: string, output: string): this {
    return this.answers('', [call(callId)]).gets(callId, output);
  }

  view(path: readonly Entry[] = this.path): View {
    return viewOf(path);
  }

  items(): Item[] {
    return this.view().messages;
  }

  messages(): Message[] {
    return this.items().map(({ message }) => message);
  }
}

/** What some wire would refuse in these messages. */
export function problemsOf(messages: readonly Message[]): string[] {
  const problems: string[] = [];
  if (messages.length > 0 && messages[0]!.role !== 'user') problems.push('the model speaks first');
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      if (open.shift() !== message.callId) problems.push(`result of ${message.callId} out of place`);
      continue;
    }
    if (open.length > 0) problems.push(`no result of ${open.join()}`);
    open = [];
    if (message.role === 'user') {
      if (message.content.length === 0) problems.push('an empty message');
      continue;
    }
    open = message.calls.map(({ id }) => id);
    if (new Set(open).size < open.length) problems.push('one id for two calls');
    if (open.length === 0 && message.text.trim() === '') problems.push('an empty answer');
    if (open.length > 0 && message.stop === 'aborted') problems.push('calls of an aborted answer');
  }
  if (open.length > 0) problems.push(`no result of ${open.join()}`);
  return problems;
}

export const shown = (message: Message): string =>
  message.role === 'user'
    ? message.content.map((part) => (part.type === 'text' ? part.text : '<image>')).join('\n')
    : message.text;
