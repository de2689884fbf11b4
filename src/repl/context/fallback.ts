import type { Message } from '../message.ts';
import { userText } from './summary-prompt.ts';
import { firstTokens } from './tokens.ts';

/** The most files that are listed, the newest. */
const mostFiles = 40;

/**
 * A summary made without a model: which files calls named, and what the person said, the newest first for as long as
 * there is room. What an earlier summary said gets half of it, because nothing else tells of it.
 */
export function fallbackSummary(messages: readonly Message[], previous = '', tokens: number): string {
  const users = messages.flatMap((message) => (message.role === 'user' ? [userText(message)] : []));
  const sections = [
    ['Summary unavailable.', 'What follows was collected without reading it.'],
    ['## Files that calls named', firstTokens(filesIn(messages).join('\n'), Math.floor(tokens / 8))],
    ['## An earlier summary', firstTokens(previous, Math.floor(tokens / 2))],
    ...users.toReversed().map((text) => ['## The user said', text]),
  ];
  const whole = sections.flatMap(([heading, text]) => (text === '' ? [] : [`${heading}\n${text}`]));
  return firstTokens(whole.join('\n\n'), Math.max(0, tokens)).toWellFormed();
}

/** By the names of parameters, as nothing else tells. */
function filesIn(messages: readonly Message[]): string[] {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? message.calls : []));
  const pattern = /"(?:path|file|from|to|source|destination)\w*"\s*:\s*"([^"\\]{1,300})"/gi;
  const named = calls.flatMap((call) => [...call.arguments.matchAll(pattern)].map(([, path = '']) => path));
  return [...new Set(named.toReversed())].slice(0, mostFiles);
}
