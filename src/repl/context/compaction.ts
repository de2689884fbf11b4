import { ChatError } from '../errors.ts';
import type { Message, ToolDefinition } from '../message.ts';
import { type Budget, estimateMessage, estimateRequest, firstTokens } from './tokens.ts';
import {
  fallbackSummary,
  summaryMessage,
  summarySystem,
  summaryText,
  userText,
  type Summary,
} from './summary.ts';
import { afterCompaction, type Item } from './view.ts';

interface CompactionInput {
  readonly items: readonly Item[];
  readonly budget: Budget;
  /** As `usedTokens` says. */
  readonly used: number;
  readonly tools: readonly ToolDefinition[];
  readonly system: string;
  readonly previous?: Summary | undefined;
  /** What the summary is to dwell on. */
  readonly focus?: string | undefined;
}

/** What to append to the session; nothing has changed before that. */
interface Compaction extends Summary {
  readonly firstKeptId: string;
  readonly by: 'model' | 'fallback';
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

type Summarise = (
  request: { readonly system: string; readonly text: string; readonly maxTokens: number },
  signal: AbortSignal,
) => Promise<string>;

/**
 * Makes a conversation smaller: by a summary of all but the newest messages. Throws INTERRUPTED, and what the provider
 * says when no request at all can be answered now (no key, no quota, no connection): then nothing is lost. For any
 * other failure there is a summary without the model. A text says why nothing was made smaller.
 */
export async function compact(
  input: CompactionInput,
  summarise: Summarise,
  signal: AbortSignal,
): Promise<Compaction | string> {
  const { items, budget, used: tokensBefore, previous } = input;
  stopIf(signal);
  if (items.filter((item) => !item.isSummary && !item.wasKept).length < 2)
    return 'fewer than two messages were added since the last time.';
  const cut = cutOf(items, budget.keep);
  if (cut === undefined) return 'there is nothing old to summarise.';
  const old = items.slice(0, cut).flatMap((item) => (item.isSummary ? [] : [item.message]));
  const kept = afterCompaction(items.slice(cut)).map(messageOf);
  const request = kept.some(({ role }) => role === 'user') ? {} : newestWords(old, previous, budget.keep);
  const sizeOf = (messages: readonly Message[]) => estimateRequest({ ...input, messages });
  const sizeWith = (summary: string) => sizeOf([summaryMessage({ summary, ...request }), ...kept]);
  // Providers count differently from us: what is measured in the same way has to shrink, too.
  const most = Math.min(tokensBefore, sizeOf(items.map(messageOf)));
  const room = Math.min(budget.keep, most - sizeWith('') - 1);
  const fallback = fallbackSummary(old, previous?.summary, room);
  if (sizeWith(fallback) >= most) return 'a summary would not be smaller than the conversation.';
  const isGood = (text: string) => text !== '' && sizeWith(text) < most;
  const byModel = await modelSummary(input, old, { summarise, isGood }, signal);
  const summary = byModel ?? fallback;
  return {
    summary,
    ...request,
    firstKeptId: items[cut]?.entryId ?? '',
    tokensBefore,
    tokensAfter: sizeWith(summary),
    by: byModel === undefined ? 'fallback' : 'model',
  };
}

const messageOf = ({ message }: Item): Message => message;

/**
 * The position of the first item that a compaction keeps, always a message of the person or an answer of the model:
 * never between a call and its results. Undefined when nothing is left to summarise.
 */
function cutOf(items: readonly Item[], keep: number): number | undefined {
  // What is before it is what was said since the last summary; there must be something.
  const first = items.findIndex((item) => !item.isSummary);
  const points = items.flatMap(({ message }, at) => (at > first && message.role !== 'tool' ? [at] : []));
  let total = 0;
  const tokens = items.toReversed().map(({ message }) => (total += estimateMessage(message)));
  const tokensFrom = (at: number) => tokens[items.length - 1 - at] ?? 0;
  const isUser = (at: number) => items[at]?.message.role === 'user';
  // A conversation that is short, but is to be cut: the newest turn stays, or the newest answer.
  if (tokensFrom(first) <= keep) return points.findLast(isUser) ?? points.at(-1);
  const fitting = points.filter((at) => tokensFrom(at) <= keep);
  const turn = fitting.find((at) => isUser(at) && tokensFrom(at) > keep / 2);
  return turn ?? fitting[0] ?? points.at(-1);
}

/** The newest words of the person, when their message is not among those that are kept. */
function newestWords(old: readonly Message[], previous: Summary | undefined, most: number) {
  const newest = old.findLast(({ role }) => role === 'user');
  const words = newest?.role === 'user' ? userText(newest) : previous?.request;
  if (words === undefined) return {};
  const carried = firstTokens(words, most);
  return { request: carried === words ? carried : `${carried} […]` };
}

/** Characters of each tool's output that the model sees, by tries. */
const outputChars = [2_000, 200, 200, 200];

/** Undefined when the model could not make one that is of use. */
async function modelSummary(
  { previous, focus, budget }: CompactionInput,
  old: readonly Message[],
  { summarise, isGood }: { readonly summarise: Summarise; readonly isGood: (text: string) => boolean },
  signal: AbortSignal,
): Promise<string | undefined> {
  let messages = old;
  for (const mostChars of outputChars) {
    const isPartial = messages.length < old.length;
    const text = summaryText({ messages, mostChars, isPartial, focus, previousSummary: previous?.summary });
    try {
      const answer = await summarise({ system: summarySystem, text, maxTokens: budget.summary }, signal);
      stopIf(signal);
      const summary = answer.toWellFormed().trim();
      if (isGood(summary)) return summary;
    } catch (error) {
      stopIf(signal);
      if (!(error instanceof ChatError) || unanswerable.has(error.code)) throw error;
      if (error.code !== 'MODEL_OVERFLOW' || messages.length < 2) return undefined;
      // The oldest third is left out when the model cannot take it all.
      messages = messages.slice(Math.ceil(messages.length / 3));
    }
  }
  return undefined;
}

/** Failures of any request: a summary without the model would only lose what it could still read. */
const unanswerable: ReadonlySet<string> = new Set([
  'INTERRUPTED',
  'NO_KEY',
  'MODEL_KEY_REFUSED',
  'MODEL_QUOTA',
  'MODEL_UNREACHABLE',
]);

function stopIf(signal: AbortSignal): void {
  if (signal.aborted) throw new ChatError('INTERRUPTED', 'Interrupted: the conversation is as it was.');
}
