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
  const noImage = (mimeType: string) => `[an image (${mimeType}) is left out: this model takes none]`;
  for (const message of messages) {
    if (message.role === 'user') {
      for (const part of message.content)
        if (part.type === 'image') users.push(sees ? part : { type: 'text', text: noImage(part.mimeType) });
        else if (part.text.trim() !== '') users.push(part);
    } else if (message.role === 'assistant') {
      if (message.text.trim() === '' && message.calls.length === 0) continue;
      flush();
      made.push(message);
    } else {
      const images = sees ? message.images : [];
      const notes = sees ? [] : message.images.map(({ mimeType }) => noImage(mimeType));
      const text = [message.text, ...notes].filter((line) => line.trim() !== '').join('\n');
      const moved = !imagesInResults && images.length > 0;
      const otherwise = images.length > 0 ? '(an image)' : '(no output)';
      // Results stand together: what the images of one need comes after the last.
      made.push({ ...message, text: text || otherwise, images: moved ? [] : images });
      if (moved) users.push({ type: 'text', text: `Shown by ${message.name}:` }, ...images);
    }
  }
  flush();
  return made;
}

/** Tools as a wire lists them; undefined when there are none. */
export const toolList = (tools: ModelRequest['tools'], asListed: (tool: ToolDefinition) => object) =>
  tools.length > 0 ? tools.map(asListed) : undefined;

/** The native form of an answer goes back only to the model that gave it, over the same wire. */
export function nativeOf(message: AssistantMessage, { endpoint, id }: Model): unknown {
  const same = message.provider === endpoint.name && message.model === id && message.wire === endpoint.wire;
  return same && !tooDeep(message.native) ? message.native : undefined;
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

/** The system prompt, with the schema where one is asked for: few endpoints can be made to keep to it. */
export const systemOf = ({ system, schema }: ModelRequest): string =>
  schema ? `${system}\n\n${fitting}\n${JSON.stringify(schema)}`.trim() : system;

/** The schema for an endpoint that keeps to one: none takes anything but an object at its root. */
export const formatOf = ({ schema }: ModelRequest): ModelRequest['schema'] =>
  schema?.['type'] === 'object' ? schema : undefined;

/** What the person has set of how the model chooses its words. */
export const samplingOf = ({ capabilities: { temperature, topP } }: Model) => ({ temperature, top_p: topP });
