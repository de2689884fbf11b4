import type { Chat } from '../chat.ts';
import { compact } from '../context/compaction.ts';
import {
  budgetAfterOverflow,
  budgetOf,
  estimateTokens,
  estimateTools,
  usedTokens,
} from '../context/tokens.ts';
import { viewOf } from '../context/view.ts';
import { ChatError } from '../errors.ts';
import { offeredTools } from './prepare-call.ts';
import type { TurnEvent } from './turn-event.ts';

/** The model's context window in tokens, or what the person wants to use of it. */
export const windowOf = ({ model, limits }: Pick<Chat, 'model' | 'limits'>): number =>
  Math.min(model.capabilities.contextWindow, limits.window ?? Infinity);

/** What the model would be sent now, and how much of its window that takes. */
function contextOf(agent: Chat) {
  const { messages: items, summary: previous } = viewOf(agent.session.path());
  const tools = offeredTools(agent);
  const system = agent.system();
  const used = usedTokens({ messages: items.map(({ message }) => message), tools, system });
  return { items, previous, tools, system, used, budget: budgetOf(windowOf(agent)) };
}

/**
 * How full the context is now: `percent` of the window, which may be more than 100, and the tokens until the
 * conversation is shortened. `near`: the last tenth before that; `full`: the next request does it.
 */
export function fillNow(agent: Chat) {
  const { used, budget } = contextOf(agent);
  const { window, limit } = budget;
  const { tokens } = used;
  return {
    ...used,
    percent: Math.round((100 * tokens) / window),
    available: Math.max(0, limit - tokens),
    state: tokens >= limit ? 'full' : tokens >= 0.9 * limit ? 'near' : 'free',
  };
}

interface How {
  readonly signal: AbortSignal;
  /** `auto`: only when the context is nearly full; `overflow`: it was, and the window may be smaller than said. */
  readonly why: 'auto' | 'asked' | 'overflow';
  readonly focus?: string;
}

/** Shortens the conversation when it has to be, or when it is asked for; returns whether it was. Throws INTERRUPTED. */
export async function* shorten(agent: Chat, { signal, why, focus }: How): AsyncGenerator<TurnEvent, boolean> {
  const { used, budget: usual, ...context } = contextOf(agent);
  if (why === 'auto' && used.tokens < usual.limit) return false;
  const fixed = estimateTools(context.tools) + estimateTokens(context.system);
  // No summary makes those smaller: each turn would make one more.
  if (why === 'auto' && fixed >= usual.limit) {
    const way = '--toolsets git,files offers fewer tools.';
    const text = `The tools and the instructions alone take about ${fixed} of ${usual.window} tokens: ${way}`;
    if (!agent.toolsFill) yield { type: 'warning', text };
    agent.toolsFill = true;
    return false;
  }
  const budget = why === 'overflow' ? budgetAfterOverflow(usual, used.tokens) : usual;
  const made = await compact(
    { ...context, budget, used: used.tokens, focus },
    (request, stop) => summarise(agent, request, stop),
    signal,
  );
  if (typeof made === 'string') {
    if (why !== 'auto') yield { type: 'warning', text: `Nothing was shortened: ${made}` };
    return false;
  }
  agent.session.append({ type: 'compaction', ...made });
  const { tokensBefore, tokensAfter, by } = made;
  yield { type: 'compacted', tokensBefore, tokensAfter, by };
  return true;
}

/** Text of an answer without tools or thoughts. */
async function summarise(
  { provider }: Chat,
  { system, text, maxTokens }: { system: string; text: string; maxTokens: number },
  signal: AbortSignal,
): Promise<string> {
  const request = {
    system,
    messages: [{ role: 'user' as const, content: [{ type: 'text' as const, text }] }],
    tools: [],
    maxTokens,
    thinking: false,
  };
  for await (const event of provider.stream(request, signal)) {
    if (event.type !== 'end') continue;
    if (event.message.stop === 'aborted') throw new ChatError('INTERRUPTED', 'Interrupted.');
    return event.message.text.trim();
  }
  throw new ChatError('MODEL_UNREACHABLE', 'The model ended without an answer.');
}
