import { ChatError } from '../errors.ts';
import type { Message } from '../message.ts';
import type { ToolDefinition } from '../providers/provider.ts';
import { estimateAll, type Budget } from './budget.ts';
import { cutOf } from './cut.ts';
import { fallbackSummary } from './fallback.ts';
import type { Item, Summary } from './item.ts';
import { pruned, prunedCalls } from './prune.ts';
import { summaryMessage, summarySystem, summaryText, userText } from './summary-prompt.ts';
import { estimateMessage, firstTokens } from './tokens.ts';

export interface CompactionInput {
  readonly items: readonly Item[];
  readonly budget: Budget;
  /** As `usedTokens` says. */
  readonly used: number;
  readonly tools: readonly ToolDefinition[];
  readonly system?: string;
  readonly previous?: Summary | undefined;
  /** What the summary is to dwell on. */
  readonly focus?: string | undefined;
  /** Because the window is nearly full; otherwise because somebody asked for a summary. */
  readonly auto: boolean;
  /** The last summary had to be made without the model: an automatic compaction only prunes then. */
  readonly failedBefore: boolean;
}

interface Tokens {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** What to append to the session; nothing has changed before that. `why` says it to the person. */
export type CompactionResult =
  | { readonly kind: 'none'; readonly why: string }
  /** To be recorded even without calls: old images go with it. */
  | (Tokens & { readonly kind: 'prune'; readonly callIds: readonly string[] })
  /** `pruned`: calls among those kept whose output is to be left out as well. */
  | (Tokens &
      Summary & {
        readonly kind: 'compaction';
        readonly firstKeptId: string;
        readonly by: 'model' | 'fallback';
        readonly pruned: readonly string[];
      });

export type Summarise = (
  request: { readonly system: string; readonly text: string; readonly maxTokens: number },
  signal: AbortSignal,
) => Promise<string>;

/** Characters of each tool's output that the model sees: more at first, fewer when its summary was no good. */
const outputChars = [2_000, 200];
/** How often the oldest third is left out because the model cannot take it all. */
const mostDrops = 3;

/**
 * Makes a conversation smaller: by leaving out old images and output if that is enough, else by a summary of all
 * but the newest messages. Throws INTERRUPTED, and what the provider says when no request at all can be answered
 * now (no key, no quota, no connection): then nothing is lost. For any other failure there is a summary without the
 * model.
 */
export async function compact(
  input: CompactionInput,
  summarise: Summarise,
  signal: AbortSignal,
): Promise<CompactionResult> {
  const { items, budget, used, tools, system, auto } = input;
  stopIf(signal);
  if (items.filter((item) => !item.isSummary && !item.wasKept).length < 2)
    return none('fewer than two messages were added since the last time.');
  const callIds = prunedCalls(items, budget, used);
  const smaller = pruned(items, callIds ?? []);
  const freed = estimateAll(items, tools, system) - estimateAll(smaller, tools, system);
  const tokensAfter = Math.max(0, used - freed);
  const prune: CompactionResult | undefined = callIds && {
    kind: 'prune',
    callIds,
    tokensBefore: used,
    tokensAfter,
  };
  if (auto && prune && (input.failedBefore || tokensAfter < budget.limit)) return prune;
  if (auto && input.failedBefore) return none('the last summary could not be made; /compact tries again.');
  const cut = cutOf(smaller, budget);
  if (cut === undefined) return prune ?? none('there is nothing old to summarise.');
  const plan = planOf(input, smaller, cut);
  const fallback = lastResort(plan);
  if (fallback === undefined) return prune ?? none('a summary would not be smaller than the conversation.');
  const byModel = await modelSummary(plan, summarise, signal);
  const summary = byModel ?? fallback;
  const isKept = (id: string) =>
    items.slice(cut).some(({ message }) => message.role === 'tool' && message.callId === id);
  return {
    kind: 'compaction',
    summary,
    ...(plan.request !== undefined && { request: plan.request }),
    firstKeptId: items[cut]?.entryId ?? '',
    tokensBefore: used,
    tokensAfter: plan.sizeWith(summary),
    by: byModel === undefined ? 'fallback' : 'model',
    pruned: (callIds ?? []).filter(isKept),
  };
}

interface Plan {
  readonly input: CompactionInput;
  /** What the summary stands for. */
  readonly old: readonly Message[];
  /** The newest words of the person, if they are among the old. */
  readonly request: string | undefined;
  /** Tokens of the conversation with this summary. */
  sizeWith(summary: string): number;
  /** A summary has to make it smaller than this. */
  readonly size: number;
}

function planOf(input: CompactionInput, smaller: readonly Item[], cut: number): Plan {
  const { items, tools, system, used, previous, budget } = input;
  const old = items.slice(0, cut).flatMap((item) => (item.isSummary ? [] : [item.message]));
  const kept = smaller.slice(cut);
  const rest = estimateAll(kept, tools, system);
  const newest = old.findLast(({ role }) => role === 'user');
  const words = newest?.role === 'user' ? userText(newest) : previous?.request;
  const carried = words && firstTokens(words, budget.keep);
  const whole = carried === words ? carried : `${carried} […]`;
  const request = kept.some(({ message }) => message.role === 'user') ? undefined : whole;
  return {
    input,
    old,
    request,
    sizeWith: (summary) =>
      rest + estimateMessage(summaryMessage({ summary, ...(request !== undefined && { request }) })),
    // Providers count differently from us: what is measured in the same way has to shrink, too.
    size: Math.min(used, estimateAll(items, tools, system)),
  };
}

/** Undefined when the model could not make one that is of use. */
async function modelSummary(
  plan: Plan,
  summarise: Summarise,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { previous, focus, budget } = plan.input;
  let messages = plan.old;
  let drops = 0;
  for (let attempt = 0; attempt < outputChars.length;) {
    const text = summaryText({
      messages,
      mostChars: outputChars[attempt] ?? 0,
      previousSummary: previous?.summary,
      focus,
      partial: drops > 0,
    });
    try {
      const answer = await summarise({ system: summarySystem, text, maxTokens: budget.summary }, signal);
      stopIf(signal);
      const summary = answer.toWellFormed().trim();
      if (summary !== '' && plan.sizeWith(summary) < plan.size) return summary;
      attempt++;
    } catch (error) {
      stopIf(signal);
      if (!(error instanceof ChatError) || unanswerable.has(error.code)) throw error;
      if (error.code !== 'MODEL_OVERFLOW' || drops >= mostDrops || messages.length < 2) return undefined;
      messages = messages.slice(Math.ceil(messages.length / 3));
      drops++;
    }
  }
  return undefined;
}

/**
 * Failures that would meet any other request, too: a summary without the model would only lose what it could still
 * read.
 */
const unanswerable: ReadonlySet<string> = new Set([
  'INTERRUPTED',
  'NO_KEY',
  'MODEL_KEY_REFUSED',
  'MODEL_QUOTA',
  'MODEL_UNREACHABLE',
]);

/** A summary without the model: undefined when there is no room even for that. */
function lastResort({ input, old, request, size, sizeWith }: Plan): string | undefined {
  const tokens = Math.min(input.budget.fallback, size - sizeWith('') - 1);
  // What is carried along word for word need not be said twice.
  const said = request === undefined ? undefined : old.findLast(({ role }) => role === 'user');
  const messages = old.filter((message) => message !== said);
  const summary = fallbackSummary({ messages, previousSummary: input.previous?.summary, tokens });
  return sizeWith(summary) < size ? summary : undefined;
}

const none = (why: string): CompactionResult => ({ kind: 'none', why });

function stopIf(signal: AbortSignal): void {
  if (signal.aborted) throw new ChatError('INTERRUPTED', 'Interrupted: the conversation is as it was.');
}
