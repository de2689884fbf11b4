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
  const callIds = oldOutputs(items, budget.keep);
  return freedBy(callIds) >= budget.leastPruned ? callIds : undefined;
}

/** The conversation without its old images and the output of these calls. */
export function pruned(items: readonly Item[], callIds: readonly string[]): Item[] {
  const until = oldUntil(items);
  return items.map((item, at) =>
    at >= until ? item : { ...item, message: shorter(item.message, new Set(callIds)) },
  );
}

/** Where the last two turns of the person begin; 0 when there are no older ones. */
const oldUntil = (items: readonly Item[]): number =>
  items.flatMap(({ message, isSummary }, at) => (message.role === 'user' && !isSummary ? [at] : [])).at(-2) ??
  0;

/** Calls whose output is older than the newest `kept` tokens of output. */
function oldOutputs(items: readonly Item[], kept: number): string[] {
  const until = oldUntil(items);
  const outputs = items.flatMap(({ message }, at) => (message.role === 'tool' ? [{ message, at }] : []));
  let tokens = 0;
  const old = outputs.toReversed().filter(({ message, at }) => {
    tokens += estimateMessage(message);
    return at < until && tokens > kept && estimateMessage(withoutOutput(message)) < estimateMessage(message);
  });
  // An id that a server uses again stands for the newer call, too.
  const isOld = (id: string) => outputs.every((one) => one.message.callId !== id || old.includes(one));
  return [...new Set(old.map(({ message }) => message.callId))].filter(isOld);
}

type Output = Message & { role: 'tool' };

/** Output that was pruned before stays as it is: its note says how much there was. */
const withoutOutput = (message: Output): Output =>
  message.text.startsWith('[pruned ')
    ? message
    : {
        ...message,
        text: `[pruned ${message.text.length} chars of ${message.name} output; call again if needed]`,
        images: [],
      };

function shorter(message: Message, callIds: ReadonlySet<string>): Message {
  if (message.role === 'assistant') return message;
  if (message.role === 'user') {
    const note = { type: 'text', text: imageNote } as const;
    return { ...message, content: message.content.map((part) => (part.type === 'image' ? note : part)) };
  }
  if (callIds.has(message.callId)) return withoutOutput(message);
  const text = [message.text, ...message.images.map(() => imageNote)].filter(Boolean).join('\n');
  return { ...message, text, images: [] };
}

const tokensOf = (items: readonly Item[]): number =>
  items.reduce((sum, { message }) => sum + estimateMessage(message), 0);
