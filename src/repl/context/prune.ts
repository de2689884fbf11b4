import type { Message } from '../message.ts';
import type { Budget } from './budget.ts';
import { estimateMessage } from './tokens.ts';
import type { Item } from './item.ts';

/** What stands in the place of an image that is too old to be sent again. */
export const imageNote = '[image left out to save space]';

/** What stands in the place of a tool's output that was pruned. */
export const prunedText = (chars: number, tool: string): string =>
  `[pruned ${chars} chars of ${tool} output; call again if needed]`;

/** A tool's output with a note for each image it had. */
export const withNotes = (text: string, images: number): string =>
  [text, ...Array<string>(images).fill(imageNote)].filter(Boolean).join('\n');

/**
 * The calls whose output can be left out of a conversation: first only the images before the last two turns of the
 * person go, which names no calls; when that is not enough, the output of tools before them, but for the newest.
 * Undefined when too little would be freed.
 */
export function prunedCalls(items: readonly Item[], budget: Budget, used: number): string[] | undefined {
  const until = oldUntil(items);
  const freedBy = (shorter: (message: Message) => Message) =>
    items.slice(0, until).reduce((sum, { message }) => sum + savedBy(message, shorter(message)), 0);
  const byImages = freedBy(withoutImages);
  if (byImages >= budget.leastPruned && used - byImages < budget.limit) return [];
  const callIds = oldOutputs(items, until, budget.protectedOutput);
  return freedBy(shortening(callIds)) >= budget.leastPruned ? [...callIds] : undefined;
}

/** The conversation without its old images and the output of these calls, as its view will be when that is recorded. */
export function pruned(items: readonly Item[], callIds: readonly string[]): Item[] {
  const until = oldUntil(items);
  const shorter = shortening(new Set(callIds));
  return items.map((item, at) => (at < until ? { ...item, message: shorter(item.message) } : item));
}

/** Where the last two turns of the person begin; 0 when there are no older ones. */
function oldUntil(items: readonly Item[]): number {
  const turns = items.flatMap(({ message, isSummary }, at) =>
    message.role === 'user' && !isSummary ? [at] : [],
  );
  return turns.at(-2) ?? 0;
}

/** Calls whose output is older than the newest `protectedTokens` of output, and longer than the note in its place. */
function oldOutputs(items: readonly Item[], until: number, protectedTokens: number): Set<string> {
  const old = new Set<string>();
  const newer = new Set<string>();
  let tokens = 0;
  for (let at = items.length - 1; at >= 0; at--) {
    const message = items[at]?.message;
    if (message?.role !== 'tool') continue;
    tokens += estimateMessage(message);
    if (at >= until || tokens <= protectedTokens) newer.add(message.callId);
    // An id that a server uses again stands for the newer call, too.
    else if (!newer.has(message.callId) && savedBy(message, withoutOutput(message)) > 0)
      old.add(message.callId);
  }
  return old;
}

const shortening = (callIds: ReadonlySet<string>) => (message: Message) =>
  message.role === 'tool' && callIds.has(message.callId) ? withoutOutput(message) : withoutImages(message);

/** Output that was pruned before stays as it is: its note says how much there was. */
function withoutOutput(message: Message): Message {
  if (message.role !== 'tool' || message.text.startsWith('[pruned ')) return message;
  return { ...message, text: prunedText(message.text.length, message.name), images: [] };
}

function withoutImages(message: Message): Message {
  if (message.role === 'assistant') return message;
  if (message.role === 'tool')
    return message.images.length === 0
      ? message
      : { ...message, text: withNotes(message.text, message.images.length), images: [] };
  return {
    ...message,
    content: message.content.map((part) =>
      part.type === 'image' ? { type: 'text', text: imageNote } : part,
    ),
  };
}

const savedBy = (message: Message, shorter: Message): number =>
  message === shorter ? 0 : estimateMessage(message) - estimateMessage(shorter);
