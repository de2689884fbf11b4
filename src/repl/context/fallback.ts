import type { Message } from '../message.ts';
import { userText } from './summary-prompt.ts';
import { estimateTokens, firstTokens } from './tokens.ts';

interface Material {
  readonly messages: readonly Message[];
  readonly previousSummary?: string | undefined;
  /** The most tokens of the whole. */
  readonly tokens: number;
}

/** The most files that are listed, the newest. */
const mostFiles = 40;

/**
 * A summary made without a model: which files calls named, and what the person said, the newest first for as long as
 * there is room. What an earlier summary said gets half of it, because nothing else tells of it.
 */
export function fallbackSummary({ messages, previousSummary, tokens }: Material): string {
  let left = tokens;
  const parts: string[] = [];
  const add = (heading: string, body: string, most = left): boolean => {
    const room = Math.min(most, left) - estimateTokens(heading) - 3;
    if (body === '' || room <= 0) return false;
    const text = firstTokens(body, room);
    parts.push(`${heading}\n${text}${text.length < body.length ? ' […]' : ''}`);
    left -= estimateTokens(parts.at(-1) ?? '') + 1;
    return text.length === body.length;
  };
  add('Summary unavailable.', 'What follows was collected without reading it.');
  add('## Files that calls named', filesIn(messages).join('\n'), Math.floor(tokens / 8));
  if (previousSummary !== undefined) add('## An earlier summary', previousSummary, Math.floor(tokens / 2));
  const users = messages.flatMap((message) => (message.role === 'user' ? [userText(message)] : []));
  for (const text of users.toReversed()) if (!add('## The user said', text)) break;
  return parts.join('\n\n').toWellFormed();
}

/** The newest last; by the names of parameters, as nothing else tells. */
function filesIn(messages: readonly Message[]): string[] {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? message.calls : []));
  const named = calls.flatMap(({ arguments: json }) =>
    [...json.matchAll(/"(?:path|file|from|to|source|destination)\w*"\s*:\s*"([^"\\]{1,300})"/gi)].map(
      ([, path = '']) => path,
    ),
  );
  return [...new Set(named.toReversed())].slice(0, mostFiles).toReversed();
}
