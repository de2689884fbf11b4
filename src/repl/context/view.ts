import type { AssistantMessage, ImagePart, Message, Part, ToolCall, ToolMessage } from '../message.ts';
import type { Entry, StoredPart, Todo } from '../session/entry.ts';
import { imageNote, prunedText, withNotes } from './prune.ts';
import { sendable } from './sendable.ts';
import { summaryMessage } from './summary-prompt.ts';
import { surveyOf, type Survey } from './survey.ts';
import { estimateMessage, estimateTokens, imageTokens } from './tokens.ts';

/** A message as the model is sent it, and the entry it comes from. */
export interface Item {
  readonly entryId: string;
  readonly message: Message;
  /** What a compaction put in the place of older messages. */
  readonly isSummary?: true;
  /** Older than the last compaction, which kept it: its usage counted what is no longer sent. */
  readonly wasKept?: true;
  /** Tokens that were taken out of it, but which the last usage still counts. */
  readonly freed?: number;
}

export interface View {
  readonly messages: Item[];
  /** Of the last compaction: also the first of the messages. */
  readonly summary?: string;
  readonly todos?: readonly Todo[];
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
 * What the model is sent of a branch, from its first entry to its last. Whatever the path holds, every call has one result
 * right behind its message and every result a call: a provider refuses anything else, and the session could not go on.
 */
export function viewOf(path: readonly Entry[], load: Load): View {
  const survey = surveyOf(path);
  const { compaction, todos } = survey;
  const messages: Item[] = [];
  if (compaction) {
    messages.push({ entryId: compaction.id, message: summaryMessage(compaction.summary), isSummary: true });
  }
  for (const block of blocksOf(path, survey)) {
    const { entry, at, answer, results } = block;
    const mark = at < survey.compactedAt ? ({ wasKept: true } as const) : {};
    if (entry.type === 'user') {
      messages.push({ entryId: entry.id, ...userItem(entry, at, { survey, load }), ...mark });
      continue;
    }
    if (!answer) continue;
    messages.push({ entryId: entry.id, message: answer, ...mark });
    for (const call of answer.calls) {
      const result = results.get(call.id);
      const item = result?.state === 'done' ? resultItem(call, result, { at, survey, load }) : lostItem(call);
      messages.push({ entryId: result?.id ?? entry.id, ...item, ...mark });
    }
  }
  return {
    messages,
    ...(compaction ? { summary: compaction.summary } : {}),
    ...(todos ? { todos } : {}),
  };
}

function blocksOf(path: readonly Entry[], { start, compaction, omitted }: Survey): Block[] {
  const blocks: Block[] = [];
  // Some servers use the same ids again in each answer: a result belongs to the last call of its id.
  const open = new Map<string, Block['results']>();
  for (let at = start; at < path.length; at++) {
    const entry = path[at];
    if (!entry || omitted.has(entry.id)) continue;
    if (entry.type === 'user') blocks.push({ at, entry, results: new Map() });
    if (entry.type === 'tool') open.get(entry.callId)?.set(entry.callId, entry);
    if (entry.type !== 'assistant') continue;
    const answer = sendable(entry.message);
    // No wire lets the model speak first.
    if (!answer || (blocks.length === 0 && !compaction)) continue;
    const results: Block['results'] = new Map();
    blocks.push({ at, entry, answer, results });
    for (const { id } of answer.calls) open.set(id, results);
  }
  return blocks;
}

interface Around {
  readonly survey: Survey;
  readonly load: Load;
}

type Shown = Pick<Item, 'message' | 'freed'>;

function userItem({ content }: Of<'user'>, at: number, { survey, load }: Around): Shown {
  const withoutImages = at < survey.imagesFrom;
  const images = content.filter(isImage).length;
  const parts = content.map((part): Part => {
    if (withoutImages && isImage(part)) return { type: 'text', text: imageNote };
    return part.type === 'stored' ? load(part) : part;
  });
  const isFreed = withoutImages && images > 0 && at >= survey.countedImagesFrom;
  return {
    message: { role: 'user', content: parts },
    ...(isFreed ? { freed: images * (imageTokens - estimateTokens(imageNote)) } : {}),
  };
}

function resultItem(call: ToolCall, result: Of<'tool'>, place: Around & { readonly at: number }): Shown {
  const { survey, load, at } = place;
  const { text = '', images = [], isError = false } = result;
  const shared = { role: 'tool', callId: call.id, name: call.name, isError } as const;
  const prunedAt = survey.prunedAt.get(call.id) ?? -1;
  const withoutImages = at < survey.imagesFrom;
  if (prunedAt < at && !(withoutImages && images.length > 0)) {
    const parts = images.map(load);
    const lost = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    const shown = parts.filter((part): part is ImagePart => part.type === 'image');
    return { message: { ...shared, text: [text, ...lost].filter(Boolean).join('\n'), images: shown } };
  }
  const isPruned = prunedAt > at;
  const message: ToolMessage = {
    ...shared,
    text: isPruned ? prunedText(text.length, call.name) : withNotes(text, images.length),
    images: [],
  };
  const hadImages = at >= survey.countedImagesFrom;
  const isFreed = isPruned ? prunedAt > survey.measuredAt : hadImages;
  const before = hadImages
    ? estimateTokens(text) + imageTokens * images.length
    : estimateTokens(withNotes(text, images.length));
  return { message, ...(isFreed ? { freed: before - estimateMessage(message) } : {}) };
}

/** Neutral words: nobody knows whether it was run. */
const lostItem = ({ id, name }: ToolCall): Shown => ({
  message: {
    role: 'tool',
    callId: id,
    name,
    text: 'No result was recorded; the call may or may not have run.',
    images: [],
    isError: true,
  },
});

const isImage = (part: Part | StoredPart): boolean =>
  part.type === 'image' || (part.type === 'stored' && part.mimeType.startsWith('image/'));
