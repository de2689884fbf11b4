import type { Message } from '../message.ts';
import type { Budget } from './budget.ts';
import type { Item } from './item.ts';
import { estimateMessage } from './tokens.ts';

/** What stands in the place of an image that is too old to be sent again. */
const imageNote = '[image left out to save space]';

/**
 * The calls whose output can be left out of a conversation: first only the images before the last two turns of the
 * person go, which names no calls; when that is not enough, the output of tools before them, but for the newest.
 * Undefined when too little would be freed.
 */
export function prunedCalls(items: readonly Item[], budget: Budget, used: number): string[] | undefined {
  const freedBy = (callIds: readonly string[]) => tokensOf(items) - tokensOf(pruned(items, callIds));
  const byImages = freedBy([]);
  if (byImages >= budget.leastPruned && used - byImages < budget.limit) return [];
  const callIds = oldOutputs(items, budget.protectedOutput);
  return freedBy(callIds) >= budget.leastPruned ? callIds : undefined;
}

/** The conversation without its old images and the output of these calls. */
export function pruned(items: readonly Item[], callIds: readonly string[]): Item[] {
  const until = oldUntil(items);
  const ids = new Set(callIds);
  return items.map((item, at) => {
    if (at >= until) return item;
    const { message } = item;
    const isPruned = message.role === 'tool' && ids.has(message.callId);
    return { ...item, message: isPruned ? withoutOutput(message) : withoutImages(message) };
  });
}

/** Where the last two turns of the person begin; 0 when there are no older ones. */
const oldUntil = (items: readonly Item[]): number =>
  items.flatMap(({ message, isSummary }, at) => (message.role === 'user' && !isSummary ? [at] : [])).at(-2) ??
  0;

/** Calls whose output is older than the newest `protectedTokens` of output, and longer than the note in its place. */
function oldOutputs(items: readonly Item[], protectedTokens: number): string[] {
  const until = oldUntil(items);
  const old = new Set<string>();
  const newer = new Set<string>();
  let tokens = 0;
  for (const [at, { message }] of [...items.entries()].toReversed()) {
    if (message.role !== 'tool') continue;
    tokens += estimateMessage(message);
    const shorter = estimateMessage(withoutOutput(message)) < estimateMessage(message);
    if (at >= until || tokens <= protectedTokens) newer.add(message.callId);
    // An id that a server uses again stands for the newer call, too.
    else if (!newer.has(message.callId) && shorter) old.add(message.callId);
  }
  return [...old];
}

/** Output that was pruned before stays as it is: its note says how much there was. */
function withoutOutput(message: Message): Message {
  if (message.role !== 'tool' || message.text.startsWith('[pruned ')) return message;
  const text = `[pruned ${message.text.length} chars of ${message.name} output; call again if needed]`;
  return { ...message, text, images: [] };
}

function withoutImages(message: Message): Message {
  if (message.role === 'assistant') return message;
  if (message.role === 'user') {
    const note = { type: 'text', text: imageNote } as const;
    return { ...message, content: message.content.map((part) => (part.type === 'image' ? note : part)) };
  }
  const text = [message.text, ...message.images.map(() => imageNote)].filter(Boolean).join('\n');
  return { ...message, text, images: [] };
}

const tokensOf = (items: readonly Item[]): number =>
  items.reduce((sum, { message }) => sum + estimateMessage(message), 0);
