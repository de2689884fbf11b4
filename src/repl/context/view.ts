import { textOf, type AssistantMessage, type Part, type ToolCall, type ToolMessage } from '../message.ts';
import type { Entry, StoredPart } from '../session/entry.ts';
import { noResult } from '../session/unfinished.ts';
import type { Item, Summary } from './item.ts';
import { imageNote, prunedText, withNotes } from './prune.ts';
import { summaryMessage } from './summary-prompt.ts';
import { surveyOf, type Survey } from './survey.ts';

export interface View {
  readonly messages: Item[];
  /** Of the last compaction: also the first of the messages. */
  readonly summary?: Summary;
}

type Load = (stored: StoredPart) => Part;
type Of<T extends Entry['type']> = Extract<Entry, { type: T }>;

/** A message with the results of its calls, which may come much later on the path. */
interface Block {
  readonly at: number;
  readonly entry: Of<'user'> | Of<'assistant'>;
  /** The message without what cannot be sent. */
  readonly answer?: AssistantMessage;
  readonly results: Map<string, Of<'tool'> | undefined>;
}

/**
 * What the model is sent of a branch, from its first entry to its last. Whatever the path holds, every call has one
 * result right behind its message and every result a call: a provider refuses anything else, and the session could
 * not go on.
 */
export function viewOf(path: readonly Entry[], load: Load): View {
  const survey = surveyOf(path);
  const { compaction } = survey;
  const messages: Item[] = [];
  if (compaction)
    messages.push({ entryId: compaction.id, message: summaryMessage(compaction), isSummary: true });
  for (const { entry, at, answer, results } of blocksOf(path, survey)) {
    const mark = at < survey.compactedAt ? ({ wasKept: true } as const) : {};
    const withoutImages = at < survey.imagesFrom;
    if (entry.type === 'user') {
      const content = entry.content.map((part): Part => {
        if (withoutImages && isImage(part)) return { type: 'text', text: imageNote };
        return part.type === 'stored' ? load(part) : part;
      });
      messages.push({ entryId: entry.id, message: { role: 'user', content }, ...mark });
    }
    if (!answer) continue;
    const message = at < survey.changedAt ? uncounted(answer) : answer;
    messages.push({ entryId: entry.id, message, ...mark });
    for (const call of answer.calls) {
      const result = results.get(call.id);
      const pruned = (survey.prunedAt.get(call.id) ?? -1) > at;
      messages.push({
        entryId: result?.id ?? entry.id,
        message: resultOf(call, result, { pruned, withoutImages, load }),
        ...mark,
      });
    }
  }
  return { messages, ...(compaction ? { summary: compaction } : {}) };
}

function blocksOf(path: readonly Entry[], { start, compaction }: Survey): Block[] {
  const blocks: Block[] = [];
  // Some servers use the same ids again in each answer: a result belongs to the last call of its id.
  const open = new Map<string, Block['results']>();
  for (let at = start; at < path.length; at++) {
    const entry = path[at];
    if (entry?.type === 'user') blocks.push({ at, entry, results: new Map() });
    if (entry?.type === 'tool') open.get(entry.callId)?.set(entry.callId, entry);
    if (entry?.type !== 'assistant') continue;
    const answer = sendable(entry.message);
    // No wire lets the model speak first.
    if (!answer || (blocks.length === 0 && !compaction)) continue;
    const results: Block['results'] = new Map();
    blocks.push({ at, entry, answer, results });
    for (const { id } of answer.calls) open.set(id, results);
  }
  return blocks;
}

/** An answer without what no wire takes back: unfinished calls, the same call twice, nothing at all. */
function sendable(message: AssistantMessage): AssistantMessage | undefined {
  const unique = [...new Map(message.calls.map((call) => [call.id, call])).values()];
  const calls = message.stop === 'aborted' ? [] : unique;
  if (calls.length === 0 && message.text.trim() === '') return undefined;
  if (message.stop !== 'aborted' && calls.length === message.calls.length) return message;
  // What is kept for the wire still holds what was taken out, or ends in the middle of it.
  const { native: _, ...rest } = message;
  return { ...rest, calls };
}

/** Its usage counted what is no longer sent: until the next answer, what is sent is estimated. */
const uncounted = (message: AssistantMessage): AssistantMessage => ({
  ...message,
  usage: { ...message.usage, estimated: true },
});

interface How {
  readonly pruned: boolean;
  readonly withoutImages: boolean;
  readonly load: Load;
}

function resultOf(
  { id, name }: ToolCall,
  result: Of<'tool'> | undefined,
  { pruned, withoutImages, load }: How,
): ToolMessage {
  const shared = { role: 'tool', callId: id, name, isError: result?.isError ?? false, images: [] } as const;
  if (result?.state !== 'done') return { ...shared, isError: true, text: noResult };
  const { text = '', images = [] } = result;
  if (pruned) return { ...shared, text: prunedText(text.length, name) };
  if (withoutImages) return { ...shared, text: withNotes(text, images.length) };
  const parts = images.map(load);
  return {
    ...shared,
    text: [text, textOf(parts)].filter(Boolean).join('\n'),
    images: parts.filter((part) => part.type === 'image'),
  };
}

const isImage = (part: Part | StoredPart): boolean =>
  part.type === 'image' || (part.type === 'stored' && part.mimeType.startsWith('image/'));
