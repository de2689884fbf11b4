import type { AssistantMessage } from '../message.ts';

/** An answer without what no wire takes back: unfinished calls, the same call twice, nothing at all. */
export function sendable(message: AssistantMessage): AssistantMessage | undefined {
  const unique = [...new Map(message.calls.map((call) => [call.id, call])).values()];
  const calls = message.stop === 'aborted' ? [] : unique;
  if (calls.length === 0 && message.text.trim() === '') return undefined;
  if (message.stop !== 'aborted' && calls.length === message.calls.length) return message;
  // What is kept for the wire still holds what was taken out, or ends in the middle of it.
  const { native: _, ...rest } = message;
  return { ...rest, calls };
}
