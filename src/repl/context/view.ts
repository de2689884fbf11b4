import type { AssistantMessage, Message, ToolMessage } from '../message.ts';
import { type SessionEntry, type EntryOf, noResult } from '../session/entry.ts';
import { summaryMessage } from './summary.ts';

/** A message as the model is sent it, and the entry it comes from. */
export interface ContextItem {
  readonly entryId: string;
  readonly message: Message;
  /** True for what a compaction put in the place of older messages. */
  readonly isSummary?: true;
  /** Older than the last compaction, which kept it. */
  readonly wasKept?: true;
}

/** The messages that the model is sent of a branch, and the last compaction of it. */
export interface ContextView {
  readonly items: readonly ContextItem[];
  readonly summary: EntryOf<'compaction'> | undefined;
}

/**
 * Lists what the model is sent of a branch, from its first entry to its last, and the last compaction.
 * Whatever the path holds, every call has one result right behind its message and every result a call: a
 * provider refuses anything else, and the session could not go on.
 */
export function viewOf(path: readonly SessionEntry[]): ContextView {
  const last = lastCompaction(path);
  let items: ContextItem[] = [];
  if (last) items.push({ entryId: last.entry.id, message: summaryMessage(last.entry), isSummary: true });
  for (const entry of path.slice(last?.start ?? 0)) {
    if (entry.type === 'user') {
      items.push({ entryId: entry.id, message: { role: 'user', content: entry.content } });
    } else if (entry.type === 'assistant') {
      // No wire lets the model speak first.
      if (items.length > 0) items.push(...answerItems(entry));
    } else if (entry.type === 'tool') {
      // Some servers use the same ids again in each answer: a result belongs to the last call of its id.
      const at = items.findLastIndex(
        ({ message }) => message.role === 'tool' && message.callId === entry.callId,
      );
      const before = items[at];
      if (before && entry.state === 'done')
        items[at] = { ...before, entryId: entry.id, message: resultOf(entry) };
    } else if (entry === last?.entry) items = afterCompaction(items);
  }
  return { items, summary: last?.entry };
}

/** The entries of a path that are sent, but for what a summary stands for. */
export const sentOf = (path: readonly SessionEntry[]): readonly SessionEntry[] =>
  path.slice(lastCompaction(path)?.start ?? 0);

/**
 * The last compaction and where on the path begins what it keeps; one that keeps what is not there is passed
 * over.
 */
function lastCompaction(path: readonly SessionEntry[]) {
  const positions = new Map(path.map(({ id }, at) => [id, at]));
  const entry = path.findLast(
    (one): one is EntryOf<'compaction'> => one.type === 'compaction' && positions.has(one.firstKeptId),
  );
  return entry && { entry, start: positions.get(entry.firstKeptId) ?? 0 };
}

/**
 * An answer and a place for each result, without what no wire takes back: unfinished calls, the same call
 * twice.
 */
function answerItems({ id: entryId, message }: EntryOf<'assistant'>): ContextItem[] {
  const unique = [...new Map(message.calls.map((call) => [call.id, call])).values()];
  const calls = message.stop === 'aborted' ? [] : unique;
  if (calls.length === 0 && message.text.trim() === '') return [];
  // What is kept for the wire still holds what was taken out, or ends in the middle of it.
  const { native, ...rest } = message;
  const isWhole = message.stop !== 'aborted' && calls.length === message.calls.length;
  const answer: AssistantMessage = { ...rest, calls, ...(isWhole && native !== undefined && { native }) };
  const none = { role: 'tool', isError: true, text: noResult, images: [] } as const;
  const results = calls.map(({ id: callId, name }) => ({ entryId, message: { ...none, callId, name } }));
  return [{ entryId, message: answer }, ...results];
}

const resultOf = ({
  callId,
  name,
  text = '',
  images = [],
  isError = false,
}: EntryOf<'tool'>): ToolMessage => ({ role: 'tool', callId, name, isError, text, images });

/**
 * Returns what a compaction keeps, without images that are older than the last two turns of the person. What
 * providers counted held more than is sent now: until the next answer, it is estimated.
 */
export function afterCompaction(items: readonly ContextItem[]): ContextItem[] {
  const turns = items.flatMap(({ message, isSummary }, at) =>
    message.role === 'user' && !isSummary ? [at] : [],
  );
  return items.map((item, at) => {
    if (item.isSummary) return item;
    const { message } = item;
    const shown = at < (turns.at(-2) ?? 0) ? withoutImages(message) : message;
    const usage = message.role === 'assistant' && { usage: { ...message.usage, estimated: true } };
    return { ...item, message: { ...shown, ...usage } as Message, wasKept: true };
  });
}

const imageNote = '[image left out to save space]';

function withoutImages(message: Message): Message {
  if (message.role === 'assistant') return message;
  if (message.role === 'user') {
    const note = { type: 'text', text: imageNote } as const;
    return { ...message, content: message.content.map((part) => (part.type === 'image' ? note : part)) };
  }
  const text = [message.text, ...message.images.map(() => imageNote)].filter(Boolean).join('\n');
  return { ...message, text, images: [] };
}
