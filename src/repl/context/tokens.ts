import type { Message, ToolDeclaration } from '../message.ts';

/** The tokens of an image: about what providers charge for a picture of usual size. */
const imageTokens = 1_600;

/** Counts quarters of a token: it has four ASCII characters, or one other, as in Chinese. */
const quartersOf = (character: string): number => (character < '\u0080' ? 1 : 4);

/** Estimates the tokens of a text, rather too many than too few. */
export function estimateTokens(text: string): number {
  let quarters = 0;
  for (const character of text) quarters += quartersOf(character);
  return Math.ceil(quarters / 4);
}

/** Cuts a text to the beginning that fits into so many tokens. */
export function firstTokens(text: string, tokens: number): string {
  let left = 4 * tokens;
  let length = 0;
  for (const character of text) {
    left -= quartersOf(character);
    if (left < 0) break;
    length += character.length;
  }
  return text.slice(0, length);
}

/** Estimates the tokens of a message in a request; images are not measured, they cost the same. */
export function estimateMessage(message: Message): number {
  if (message.role === 'user')
    return sum(message.content, (part) => (part.type === 'image' ? imageTokens : estimateTokens(part.text)));
  if (message.role === 'tool') return estimateTokens(message.text) + imageTokens * message.images.length;
  // Thoughts go back to the model only with what the wire keeps of them.
  const thoughts = message.native === undefined ? '' : message.reasoning;
  const calls = sum(message.calls, (call) => estimateTokens(call.name) + estimateTokens(call.arguments));
  return estimateTokens(message.text) + estimateTokens(thoughts) + calls;
}

/** Estimates the tokens of the tools' definitions in every request. */
export const estimateTools = (tools: readonly ToolDeclaration[]): number =>
  sum(tools, ({ name, description, inputSchema }) =>
    estimateTokens(`${name}${description}${JSON.stringify(inputSchema)}`),
  );

/** The parts of a request that cost tokens. */
interface RequestContent {
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDeclaration[];
}

/** An estimate of a whole request. */
export const estimateRequest = ({ system, messages, tools }: RequestContent): number =>
  estimateTokens(system) + estimateTools(tools) + sum(messages, estimateMessage);

/** The tokens of a request. */
export interface UsedTokens {
  readonly tokens: number;
  /** No provider has counted any of it. */
  readonly estimated: boolean;
}

/** Counts the next request: what was counted for the last answer, and an estimate of what came after it. */
export function usedTokens(request: RequestContent): UsedTokens {
  let after = 0;
  for (const message of request.messages.toReversed()) {
    if (message.role === 'assistant' && !message.usage.estimated && message.stop !== 'aborted') {
      const { input, cacheRead, cacheWrite, output } = message.usage;
      const counted = input + cacheRead + cacheWrite + output;
      if (counted > 0) return { tokens: counted + after, estimated: false };
    }
    after += estimateMessage(message);
  }
  return { tokens: estimateRequest(request), estimated: true };
}

const sum = <T>(list: readonly T[], tokensOf: (each: T) => number): number =>
  list.reduce((total, each) => total + tokensOf(each), 0);

/** The shares of a context window, in tokens. */
export interface ContextBudget {
  readonly window: number;
  /**
   * The size from which the conversation is compacted before the next request; the rest is for the answer.
   */
  readonly limit: number;
  /** The newest messages, which a compaction keeps word for word. */
  readonly keep: number;
  /** The most a model may write for a summary. */
  readonly summary: number;
}

/** Shares out the context window. */
export function budgetOf(window: number): ContextBudget {
  const share = (most: number, part: number) => Math.floor(Math.min(most, part * window));
  const reserve = share(16_384, 0.2);
  return {
    window,
    limit: Math.floor(Math.min(0.85 * window, window - reserve)),
    keep: share(20_000, 0.25),
    summary: Math.floor(0.8 * reserve),
  };
}

/**
 * The budget to recover with when a provider says that `used` tokens do not fit. When we counted fewer than
 * the window, the window is smaller than we were told (a local server started with less), or we count badly:
 * either way `used` is too much.
 */
export const budgetAfterOverflow = (budget: ContextBudget, used: number): ContextBudget =>
  used >= budget.window ? budget : budgetOf(Math.max(1, used));

/**
 * The beginning and the end of a text, about `most` characters in all: a tool tells its result at one of
 * them.
 */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text.toWellFormed();
  const head = text.slice(0, Math.ceil(most * 0.6));
  const tail = text.slice(-Math.floor(most * 0.4));
  const missing = text.length - head.length - tail.length;
  return `${head}\n[… ${missing} characters left out; ask for a part of it …]\n${tail}`.toWellFormed();
}
