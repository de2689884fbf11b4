import type { Message } from '../message.ts';
import { userText } from './summary-prompt.ts';
import { estimateTokens, firstTokens } from './tokens.ts';

interface Material {
  readonly messages: readonly Message[];
  readonly previousSummary?: string | undefined;
  /** The most tokens of the whole. */
  readonly tokens: number;
}

/** The most files that are listed of each kind, the newest. */
const mostFiles = 40;

/**
 * A summary made without a model: which files were read and changed, and what the person said, the newest first for
 * as long as there is room. What an earlier summary said gets half of it, because nothing else tells of it.
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
  const { read, changed } = filesOf(messages);
  add('## Files changed', changed.join('\n'), Math.floor(tokens / 8));
  add('## Files read', read.join('\n'), Math.floor(tokens / 8));
  if (previousSummary !== undefined) {
    add('## An earlier summary', previousSummary, Math.floor(tokens / 2));
  }
  const users = messages.flatMap((message) => (message.role === 'user' ? [userText(message)] : []));
  for (const text of users.toReversed()) if (!add('## The user said', text)) break;
  return parts.join('\n\n').toWellFormed();
}

const pathNames = /^(?:paths?|files?|file_?names?|file_?paths?|source|destination|from|to)$/i;
const changes = /write|edit|create|delete|remove|move|rename|copy|patch|replace|append|undo/i;

/** Files that calls named, the newest last; by the names of tools and parameters, as nothing else tells. */
function filesOf(messages: readonly Message[]): { read: string[]; changed: string[] } {
  const read = new Set<string>();
  const changed = new Set<string>();
  for (const message of messages) {
    if (message.role !== 'assistant') continue;
    for (const call of message.calls) {
      const files = changes.test(call.name) ? changed : read;
      for (const path of pathsIn(call.arguments)) {
        files.delete(path);
        files.add(path);
      }
    }
  }
  const newest = (files: Iterable<string>) => [...files].slice(-mostFiles);
  return { read: newest([...read].filter((path) => !changed.has(path))), changed: newest(changed) };
}

function pathsIn(json: string): string[] {
  const found: string[] = [];
  try {
    JSON.parse(json, (key, value: unknown) => {
      const values = Array.isArray(value) ? value : [value];
      if (pathNames.test(key)) found.push(...values.filter((path) => isPath(path)));
      return value;
    });
  } catch {
    // Arguments that are no JSON name no files.
  }
  return found;
}

/** Longer ones, and those of several lines, are texts. */
const isPath = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= 300 && !value.includes('\n');
