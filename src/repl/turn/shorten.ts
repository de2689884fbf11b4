import { budgetAfterOverflow, budgetOf, fillOf, type Fill } from '../context/budget.ts';
import { compact } from '../context/compaction.ts';
import { estimateTokens, estimateTools, usedTokens, type Used } from '../context/tokens.ts';
import { viewOf } from '../context/view.ts';
import { ChatError } from '../errors.ts';
import { ProviderFailure } from '../providers/provider.ts';
import { offeredTools, type Agent } from './agent.ts';
import type { TurnEvent } from './turn-event.ts';

/** What the model would be sent now. */
export const contextOf = (agent: Agent): ReturnType<typeof viewOf> =>
  viewOf(agent.session.path(), (stored) => agent.load(stored));

/** The model's context window in tokens, or what the person wants to use of it. */
export const windowOf = ({ model, limits }: Pick<Agent, 'model' | 'limits'>): number =>
  Math.min(model.capabilities.contextWindow, limits.window ?? Infinity);

/** How full the context is now. */
export function fillNow(agent: Agent): Fill & Used {
  const messages = contextOf(agent).messages.map(({ message }) => message);
  const used = usedTokens({ messages, tools: offeredTools(agent), system: agent.system() });
  return { ...used, ...fillOf(budgetOf(windowOf(agent)), used.tokens) };
}

interface How {
  readonly signal: AbortSignal;
  /**
   * auto: only when the context is nearly full; overflow: it was, and the window may be smaller than it is said to
   * be.
   */
  readonly why: 'auto' | 'asked' | 'overflow';
  readonly focus?: string;
}

/** Shortens the conversation when it has to be, or when it is asked for; returns whether it was. Throws INTERRUPTED. */
export async function* shorten(
  agent: Agent,
  { signal, why, focus }: How,
): AsyncGenerator<TurnEvent, boolean> {
  const { messages: items, summary: previous } = contextOf(agent);
  const tools = offeredTools(agent);
  const system = agent.system();
  const usual = budgetOf(windowOf(agent));
  const used = usedTokens({ messages: items.map(({ message }) => message), tools, system });
  if (why === 'auto' && used.tokens < usual.limit) return false;
  const fixed = estimateTools(tools) + estimateTokens(system);
  // No summary makes those smaller: each turn would make one more.
  if (why === 'auto' && fixed >= usual.limit) {
    const way = '--toolsets git,files offers fewer tools.';
    const text = `The tools and the instructions alone take about ${fixed} of ${usual.window} tokens: ${way}`;
    if (!agent.toolsFill) yield { type: 'warning', text };
    agent.toolsFill = true;
    return false;
  }
  const result = await compact(
    {
      items,
      budget: why === 'overflow' ? budgetAfterOverflow(usual, used.tokens) : usual,
      used: used.tokens,
      tools,
      system,
      previous,
      focus,
    },
    (request, stop) => summarise(agent, request, stop),
    signal,
  );
  if (result.kind === 'none') {
    if (why !== 'auto') yield { type: 'warning', text: `Nothing was shortened: ${result.why}` };
    return false;
  }
  const { kind: _, ...entry } = result;
  agent.session.append({ type: 'compaction', ...entry });
  const { tokensBefore, tokensAfter, by } = entry;
  yield { type: 'compacted', tokensBefore, tokensAfter, by };
  return true;
}

/** Text of an answer without tools or thoughts. */
async function summarise(
  { provider }: Agent,
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
  throw new ProviderFailure('MODEL_UNREACHABLE', 'The model ended without an answer.');
}
