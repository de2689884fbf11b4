import { jsonIn, objectOf, type JsonObject } from './text/json.ts';

/**
 * The conversation, in words that fit every wire. Each wire translates; what only one of them knows is kept
 * in `native`.
 */

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

export interface ImagePart {
  readonly type: 'image';
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
  /** The name by which the person knows it. */
  readonly name?: string;
}

export type ContentPart = TextPart | ImagePart;

export interface ToolDeclaration {
  readonly name: string;
  readonly description: string;
  /** JSON Schema, `type: object` at its root. */
  readonly inputSchema: JsonObject;
}

export interface ToolCall {
  readonly id: string;
  /** The name as the model wrote it: it may be no tool at all. */
  readonly name: string;
  /** JSON text as the model wrote it: it may be no JSON at all. Empty stands for {}. */
  readonly arguments: string;
}

/** The reason why a model stopped. `length`: the answer was cut; `filtered`: it was refused. */
export type StopReason = 'done' | 'calls' | 'length' | 'filtered' | 'aborted';

/** Tokens of one request. `input` counts neither what was read from a cache nor what was written to one. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** The provider did not say: counted by us. */
  readonly estimated: boolean;
}

export interface UserMessage {
  readonly role: 'user';
  readonly content: readonly ContentPart[];
}

export type Wire = 'chat' | 'responses' | 'anthropic';

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly ToolCall[];
  readonly stop: StopReason;
  readonly usage: Usage;
  readonly provider: string;
  readonly model: string;
  readonly wire: Wire;
  /**
   * Data that has to be sent back word for word to the same model over the same wire (Anthropic's content,
   * the items of Responses, `reasoning_content`); left out for another one.
   */
  readonly native?: unknown;
}

export interface ToolMessage {
  readonly role: 'tool';
  readonly callId: string;
  readonly name: string;
  readonly text: string;
  readonly images: readonly ImagePart[];
  readonly isError: boolean;
}

export type Message = UserMessage | AssistantMessage | ToolMessage;

/** The text of a message's parts, without its images. */
export const textOf = (content: readonly ContentPart[]): string =>
  content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

/** A call's arguments as an object; of broken ones, and of those nested without end, nothing is left. */
export const argumentsObject = (text: string): Record<string, unknown> => objectOf(jsonIn(text));
