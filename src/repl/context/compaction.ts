import type { Chat } from '../chat.ts';
import { ChatError } from '../errors.ts';
import type { Message } from '../message.ts';
import type { EntryOf } from '../session/entry.ts';
import type { ClientTool } from '../toolbox/tool.ts';
import { availableTools } from '../turn/prepare-call.ts';
import type { TurnEvent } from '../turn/turn-event.ts';
import { fallbackSummary, summaryMessage, summarySystem, summaryText, userText } from './summary.ts';
import {
  budgetAfterOverflow,
  budgetOf,
  estimateMessage,
  estimateRequest,
  estimateTokens,
  estimateTools,
  firstTokens,
  usedTokens,
  type ContextBudget,
  type UsedTokens,
} from './tokens.ts';
import { afterCompaction, viewOf, type ContextItem } from './view.ts';

/** The next request to the model, and how much of its window that takes. */
interface ContextSnapshot {
  readonly items: readonly ContextItem[];
  /** The last compaction. */
  readonly previous: EntryOf<'compaction'> | undefined;
  readonly tools: readonly ClientTool[];
  readonly system: string;
  readonly used: UsedTokens;
  readonly budget: ContextBudget;
}

function takeSnapshot(chat: Chat): ContextSnapshot {
  const { items, summary: previous } = viewOf(chat.session.path());
  const tools = availableTools(chat);
  const system = chat.system();
  const used = usedTokens({ messages: items.map(messageOf), tools, system });
  // Of its window, the person may want to use a part.
  const { window = Infinity } = chat.environment.config.compaction;
  const budget = budgetOf(Math.min(chat.model.capabilities.contextWindow, window));
  return { items, previous, tools, system, used, budget };
}

const messageOf = ({ message }: ContextItem): Message => message;

/**
 * Measures how full the context is now: `percent` of the window, which may be more than 100, and the tokens
 * until the conversation is shortened. `near`: the last tenth before that; `full`: the next request does it.
 */
export function fillNow(chat: Chat) {
  const { used, budget } = takeSnapshot(chat);
  const { window, limit } = budget;
  const { tokens } = used;
  return {
    ...used,
    window,
    percent: Math.round((100 * tokens) / window),
    available: Math.max(0, limit - tokens),
    state: tokens >= limit ? 'full' : tokens >= 0.9 * limit ? 'near' : 'free',
  };
}

interface CompactionOptions {
  readonly signal: AbortSignal;
  /**
   * `auto`: only when the context is nearly full; `overflow`: it was, and the window may be smaller than
   * said.
   */
  readonly why: 'auto' | 'asked' | 'overflow';
  /** The subject that the summary is to dwell on. */
  readonly focus?: string;
}

/**
 * Makes the conversation smaller when it has to be, or when it is asked for, by a summary of all but the
 * newest messages; returns whether it did. Throws INTERRUPTED, and what the provider says when no request at
 * all can be answered now (no key, no quota, too many requests, no connection): then nothing is lost. For any
 * other failure there is a summary without the model.
 */
export async function* shorten(chat: Chat, options: CompactionOptions): AsyncGenerator<TurnEvent, boolean> {
  const { why } = options;
  const context = takeSnapshot(chat);
  const { used, budget } = context;
  if (why === 'auto' && used.tokens < budget.limit) return false;
  const fixed = estimateTools(context.tools) + estimateTokens(context.system);
  // No summary makes those smaller: each turn would make one more.
  if (why === 'auto' && fixed >= budget.limit) {
    const way = '--toolsets git,files offers fewer tools.';
    const share = `about ${fixed} of ${budget.window} tokens`;
    const text = `The tools and the instructions alone take ${share}: ${way}`;
    if (!chat.toolsFill) yield { type: 'warning', text };
    chat.toolsFill = true;
    return false;
  }
  const made = await compaction(
    chat,
    why === 'overflow' ? { ...context, budget: budgetAfterOverflow(budget, used.tokens) } : context,
    options,
  );
  if (typeof made === 'string') {
    if (why !== 'auto') yield { type: 'warning', text: `Nothing was shortened: ${made}` };
    return false;
  }
  chat.session.append({ type: 'compaction', ...made });
  const { tokensBefore, tokensAfter, by } = made;
  yield { type: 'compacted', tokensBefore, tokensAfter, by };
  return true;
}

/** Makes the entry to append to the session; a text says why nothing can be made smaller. */
async function compaction(chat: Chat, context: ContextSnapshot, options: CompactionOptions) {
  const { items, budget, used, previous } = context;
  if (items.filter((item) => !item.isSummary && !item.wasKept).length < 2)
    return 'there is too little to summarise.';
  const cut = cutOf(items, budget.keep);
  if (cut === undefined) return 'there is nothing old to summarise.';
  const old = items.slice(0, cut).flatMap((item) => (item.isSummary ? [] : [item.message]));
  const kept = afterCompaction(items.slice(cut)).map(messageOf);
  const request = kept.some(({ role }) => role === 'user') ? {} : newestWords(old, previous, budget.keep);
  const sizeOf = (messages: readonly Message[]) => estimateRequest({ ...context, messages });
  const sizeWith = (summary: string) => sizeOf([summaryMessage({ summary, ...request }), ...kept]);
  // Providers count differently from us: what is measured in the same way has to shrink, too.
  const most = Math.min(used.tokens, sizeOf(items.map(messageOf)));
  const room = Math.min(budget.keep, most - sizeWith('') - 1);
  const fallback = fallbackSummary(old, previous?.summary, room);
  if (sizeWith(fallback) >= most) return 'a summary would not be smaller than the conversation.';
  const isGood = (text: string) => text !== '' && sizeWith(text) < most;
  const byModel = await modelSummary(chat, context, { ...options, old, isGood });
  const summary = byModel ?? fallback;
  return {
    summary,
    ...request,
    firstKeptId: items[cut]?.entryId ?? '',
    tokensBefore: used.tokens,
    tokensAfter: sizeWith(summary),
    by: byModel === undefined ? ('fallback' as const) : ('model' as const),
  };
}

/**
 * The position of the first item that a compaction keeps, always a message of the person or an answer of the
 * model: never between a call and its results. Undefined when nothing is left to summarise.
 */
function cutOf(items: readonly ContextItem[], keep: number): number | undefined {
  // What is before it is what was said since the last summary; there must be something.
  const first = items.findIndex((item) => !item.isSummary);
  const points = items.flatMap(({ message }, at) => (at > first && message.role !== 'tool' ? [at] : []));
  let total = 0;
  const tokens = items.toReversed().map(({ message }) => {
    total += estimateMessage(message);
    return total;
  });
  const tokensFrom = (at: number) => tokens[items.length - 1 - at] ?? 0;
  const isUser = (at: number) => items[at]?.message.role === 'user';
  // A conversation that is short, but is to be cut: the newest turn stays, or the newest answer.
  if (tokensFrom(first) <= keep) return points.findLast(isUser) ?? points.at(-1);
  const fitting = points.filter((at) => tokensFrom(at) <= keep);
  const turn = fitting.find((at) => isUser(at) && tokensFrom(at) > keep / 2);
  return turn ?? fitting[0] ?? points.at(-1);
}

/** The newest words of the person, when their message is not among those that are kept. */
function newestWords(old: readonly Message[], previous: ContextSnapshot['previous'], most: number) {
  const newest = old.findLast(({ role }) => role === 'user');
  const words = newest?.role === 'user' ? userText(newest) : previous?.request;
  if (words === undefined) return {};
  const carried = firstTokens(words, most);
  return { request: carried === words ? carried : `${carried} […]` };
}

/** Characters of each tool's output that the model sees, by tries. */
const outputChars = [2_000, 200, 200, 200];

interface SummaryAttempt extends CompactionOptions {
  readonly old: readonly Message[];
  readonly isGood: (summary: string) => boolean;
}

/** Has the model write a summary; undefined when it could not make one that is of use. */
async function modelSummary(
  { provider }: Chat,
  { previous, budget }: ContextSnapshot,
  { old, isGood, focus, signal }: SummaryAttempt,
): Promise<string | undefined> {
  let left = old;
  for (const mostChars of outputChars) {
    const isPartial = left.length < old.length;
    const text = summaryText({ messages: left, mostChars, isPartial, focus, previous });
    const messages = [{ role: 'user' as const, content: [{ type: 'text' as const, text }] }];
    const request = {
      system: summarySystem,
      messages,
      tools: [],
      maxTokens: budget.summary,
      thinking: false,
    };
    let summary = '';
    try {
      for await (const event of provider.stream(request, signal))
        if (event.type === 'end') summary = event.message.text.toWellFormed().trim();
      stopIf(signal);
      if (isGood(summary)) return summary;
    } catch (error) {
      stopIf(signal);
      if (!(error instanceof ChatError) || unanswerable.has(error.code)) throw error;
      if (error.code !== 'MODEL_OVERFLOW' || left.length < 2) return undefined;
      // The oldest third is left out when the model cannot take it all.
      left = left.slice(Math.ceil(left.length / 3));
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
  'MODEL_BUSY',
  'MODEL_UNREACHABLE',
]);

function stopIf(signal: AbortSignal): void {
  if (signal.aborted) throw new ChatError('INTERRUPTED', 'Interrupted: the conversation is as it was.');
}
