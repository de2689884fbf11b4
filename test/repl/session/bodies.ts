import type { AssistantMessage, ToolCall } from '../../../src/repl/message.ts';
import type { EntryBody } from '../../../src/repl/session/entry.ts';
import { openSession, type Session } from '../../../src/repl/session/session.ts';

export const says = (text: string): EntryBody => ({ type: 'user', content: [{ type: 'text', text }] });

export function answers(text: string, calls: readonly ToolCall[] = []): EntryBody {
  const message: AssistantMessage = {
    role: 'assistant',
    text,
    reasoning: '',
    calls,
    stop: calls.length > 0 ? 'calls' : 'done',
    usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, estimated: false },
    provider: 'fake',
    model: 'fake-1',
    wire: 'chat',
  };
  return { type: 'assistant', message };
}

export const calls = (id: string, name = 'git_log', args = '{}'): ToolCall => ({ id, name, arguments: args });

export const tool = (callId: string, state: 'proposed' | 'started' | 'done', text?: string): EntryBody => ({
  type: 'tool',
  callId,
  name: 'git_log',
  state,
  ...(text === undefined ? {} : { text }),
});

/** Opens a session that nobody else has open. */
export function reopened(file: string): Session {
  const session = openSession(file);
  if (!session) throw new Error(`${file}: it is open in another window.`);
  return session;
}
