import type { AssistantMessage, Message, Part } from '../message.ts';
import type { ToolDefinition } from '../providers/provider.ts';

/** About what providers charge for a picture of usual size. */
const imageTokens = 1_600;

/** Four ASCII characters a token, and one for each other character, as in Chinese: rather too many than too few. */
export function estimateTokens(text: string): number {
  let ascii = 0;
  let other = 0;
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) < 0x80) ascii++;
    else if (!endsPair(text, at)) other++;
  }
  return Math.ceil(ascii / 4) + other;
}

/** As much of the beginning of a text as fits into so many tokens. */
export function firstTokens(text: string, tokens: number): string {
  let quarters = 4 * tokens;
  let at = 0;
  for (; at < text.length; at++) {
    if (endsPair(text, at)) continue;
    quarters -= text.charCodeAt(at) < 0x80 ? 1 : 4;
    if (quarters < 0) break;
  }
  return text.slice(0, at);
}

/** What a message costs in a request; images are not measured, they cost the same. */
export function estimateMessage(message: Message): number {
  switch (message.role) {
    case 'user':
      return message.content.reduce((sum, part) => sum + estimatePart(part), 0);
    case 'assistant':
      // Thoughts go back to the model only with what the wire keeps of them.
      return message.calls.reduce(
        (sum, call) => sum + estimateTokens(call.name) + estimateTokens(call.arguments),
        estimateTokens(message.text) + (message.native === undefined ? 0 : estimateTokens(message.reasoning)),
      );
    case 'tool':
      return estimateTokens(message.text) + imageTokens * message.images.length;
  }
}

/** What the definitions of the tools cost in every request. */
export const estimateTools = (tools: readonly ToolDefinition[]): number =>
  tools.reduce(
    (sum, { name, description, inputSchema }) =>
      sum + estimateTokens(name) + estimateTokens(description) + estimateTokens(JSON.stringify(inputSchema)),
    0,
  );

/** The tokens that a provider counted up to and with this answer; undefined when it did not, or not to the end. */
export function measuredTokens({ usage, stop }: AssistantMessage): number | undefined {
  if (usage.estimated || stop === 'aborted') return undefined;
  const tokens = usage.input + usage.cacheRead + usage.cacheWrite + usage.output;
  return tokens > 0 ? tokens : undefined;
}

const estimatePart = (part: Part): number =>
  part.type === 'image' ? imageTokens : estimateTokens(part.text);

/** Whether this is the second half of a character that takes two units: it was counted with the first. */
const endsPair = (text: string, at: number): boolean =>
  at > 0 && (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
