import type { AssistantMessage, Message } from '../message.ts';
import type { ToolDefinition } from '../providers/provider.ts';

/** About what providers charge for a picture of usual size. */
const imageTokens = 1_600;

/** Of a token: four ASCII characters, or one other, as in Chinese. */
const quartersOf = (character: string): number => (character < '\u0080' ? 1 : 4);

/** Rather too many than too few. */
export function estimateTokens(text: string): number {
  let quarters = 0;
  for (const character of text) quarters += quartersOf(character);
  return Math.ceil(quarters / 4);
}

/** As much of the beginning of a text as fits into so many tokens. */
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

/** What a message costs in a request; images are not measured, they cost the same. */
export function estimateMessage(message: Message): number {
  switch (message.role) {
    case 'user':
      return message.content.reduce(
        (sum, part) => sum + (part.type === 'image' ? imageTokens : estimateTokens(part.text)),
        0,
      );
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
      sum + estimateTokens(`${name}${description}${JSON.stringify(inputSchema)}`),
    0,
  );

/** The tokens that a provider counted up to and with this answer; undefined when it did not, or not to the end. */
export function measuredTokens({ usage, stop }: AssistantMessage): number | undefined {
  const tokens = usage.input + usage.cacheRead + usage.cacheWrite + usage.output;
  return usage.estimated || stop === 'aborted' || tokens === 0 ? undefined : tokens;
}
