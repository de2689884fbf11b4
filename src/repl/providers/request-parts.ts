import { createHash } from 'node:crypto';
import type { AssistantMessage, Message, Part } from '../message.ts';
import type { Model } from '../models/model.ts';
import { isObject, tooDeep } from '../text/json.ts';
import type { ModelRequest, ToolDefinition } from './provider.ts';

/**
 * The conversation as every wire can say it: nothing empty, user messages merged (many chat templates want turns to
 * alternate), images only where the model takes them. A tool's images stay with its result where `imagesInResults`;
 * else the user message after the results has them.
 */
export function messagesToSend(
  messages: readonly Message[],
  { capabilities: { images: sees } }: Model,
  imagesInResults: boolean,
): Message[] {
  const made: Message[] = [];
  let users: Part[] = [];
  const flush = () => {
    if (users.length > 0) made.push({ role: 'user', content: users });
    users = [];
  };
  for (const message of messages) {
    if (message.role === 'user') {
      const seen = message.content.map((part) => (part.type === 'text' || sees ? part : noImage(part)));
      users.push(...seen.filter((part) => part.type === 'image' || part.text.trim() !== ''));
    } else if (message.role === 'assistant') {
      if (message.text.trim() === '' && message.calls.length === 0) continue;
      flush();
      made.push(message);
    } else {
      const notes = sees ? [] : message.images.map((image) => noImage(image).text);
      const text = [message.text, ...notes].filter((line) => line.trim() !== '').join('\n');
      const images = sees ? message.images : [];
      const moved = !imagesInResults && images.length > 0;
      made.push({ ...message, text: text || '(no text)', images: moved ? [] : images });
      // Results stand together: what the images of one need comes after the last.
      if (moved) users.push({ type: 'text', text: `Shown by ${message.name}:` }, ...images);
    }
  }
  flush();
  return made;
}

const noImage = ({ mimeType }: { readonly mimeType: string }) => ({
  type: 'text' as const,
  text: `[an image (${mimeType}) is left out: this model takes none]`,
});

/** Tools as a wire lists them; undefined when there are none. */
export const toolList = (tools: ModelRequest['tools'], asListed: (tool: ToolDefinition) => object) =>
  tools.length > 0 ? tools.map(asListed) : undefined;

/** The native form of an answer goes back only to the model that gave it, over the same wire. */
export function nativeOf(message: AssistantMessage, { endpoint, id }: Model): unknown {
  const same = message.provider === endpoint.name && message.model === id && message.wire === endpoint.wire;
  return same ? message.native : undefined;
}

/** An id that every wire takes: those of some providers are too long for others, or have characters they refuse. */
export const safeId = (id: string): string =>
  /^[\w-]{1,40}$/.test(id) ? id : `call_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`;

/** A name that every wire takes: what a model called may be no name at all. */
export const safeName = (name: string): string => name.replace(/[^\w-]/g, '_').slice(0, 64) || 'unknown';

/** A call's arguments as an object; of broken ones, and of those nested without end, nothing is left. */
export function argumentsObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value) && !tooDeep(value)) return value;
  } catch {
    // Not JSON: as good as none.
  }
  return {};
}

/** The same as text, word for word where it is JSON: servers parse what they are sent back. */
export const argumentsText = (text: string): string =>
  Object.keys(argumentsObject(text)).length > 0 ? text : '{}';

const fitting = 'Answer with one JSON value that fits this JSON Schema, and with nothing else:';

/** The system prompt, with the schema where one is asked for: whoever asks for it checks the answer. */
export const systemOf = ({ system, schema }: ModelRequest): string =>
  schema ? `${system}\n\n${fitting}\n${JSON.stringify(schema)}`.trim() : system;

/** What the person has set of how the model chooses its words. */
export const samplingOf = ({ capabilities: { temperature, topP } }: Model) => ({ temperature, top_p: topP });
