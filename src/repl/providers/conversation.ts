import { createHash } from 'node:crypto';
import { argumentsObject, type Message, type Part } from '../message.ts';
import type { Model } from '../models/model.ts';
import { listOf, objectOf } from '../text/json.ts';
import type { ModelRequest } from './provider.ts';
import type { Conversation, SentAnswer, SentMessage } from './wire.ts';
import { withXmlCalls } from './xml-calls.ts';

const fitting = 'Answer with one JSON value that fits this JSON Schema, and with nothing else:';

/** A request as every wire can say it; for a model that calls no tools, with the calls in its text. */
export function conversationOf(asked: ModelRequest, model: Model, imagesInResults: boolean): Conversation {
  const { capabilities } = model;
  const request = capabilities.tools ? asked : withXmlCalls(asked);
  const { system, schema, tools, maxTokens, thinking } = request;
  // Whoever asks for a schema checks the answer.
  const whole = schema ? `${system}\n\n${fitting}\n${JSON.stringify(schema)}`.trim() : system;
  return {
    system: whole || undefined,
    messages: messagesFor(request.messages, model, imagesInResults),
    tools: tools.length > 0 ? tools : undefined,
    maxTokens,
    thinking: capabilities.thinking ? thinking : undefined,
  };
}

/**
 * Nothing empty, user messages merged (many chat templates want turns to alternate), images only where the model takes
 * them. A tool's images stay with its result, or follow in a user message after the last of the results.
 */
function messagesFor(messages: readonly Message[], model: Model, imagesInResults: boolean): SentMessage[] {
  const sees = model.capabilities.images;
  const made: SentMessage[] = [];
  let users: Part[] = [];
  const flush = () => {
    if (users.length > 0) made.push({ role: 'user', content: users });
    users = [];
  };
  for (const message of messages) {
    if (message.role === 'user') {
      const seen = message.content.map((part) => (sees ? part : described(part)));
      users.push(...seen.filter((part) => part.type === 'image' || part.text.trim() !== ''));
    } else if (message.role === 'assistant') {
      if (message.text.trim() === '' && message.calls.length === 0) continue;
      flush();
      made.push(answerFor(message, model));
    } else {
      const notes = sees ? [] : message.images.map((image) => described(image).text);
      const text = [message.text, ...notes].filter((line) => line.trim() !== '').join('\n') || '(no text)';
      const images = sees ? message.images : [];
      const { role, isError } = message;
      made.push({ role, isError, text, id: safeId(message.callId), images: imagesInResults ? images : [] });
      if (!imagesInResults && images.length > 0)
        users.push({ type: 'text', text: `Shown by ${message.name}:` }, ...images);
    }
  }
  flush();
  return made;
}

const described = (part: Part) =>
  part.type === 'text'
    ? part
    : { type: 'text' as const, text: `[an image (${part.mimeType}) is left out: this model takes none]` };

function answerFor(message: Message & { role: 'assistant' }, { endpoint, id }: Model): SentAnswer {
  const { role, text, stop, calls, native, provider, model, wire } = message;
  // Only the model that gave it knows what it is, over the same wire.
  const isItsOwn = provider === endpoint.name && model === id && wire === endpoint.wire;
  return {
    role,
    text,
    stop,
    native: isItsOwn ? listOf(native).map(objectOf) : [],
    calls: calls.map((call) => {
      const input = argumentsObject(call.arguments);
      // What a model called may be no name at all.
      const name = call.name.replace(/[^\w-]/g, '_').slice(0, 64) || 'unknown';
      // Servers parse what they are sent back.
      const json = Object.keys(input).length > 0 ? call.arguments : '{}';
      return { id: safeId(call.id), name, input, json };
    }),
  };
}

/** An id that every wire takes: those of some providers are too long for others, or have characters they refuse. */
export const safeId = (id: unknown): string =>
  typeof id === 'string' && /^[\w-]{1,40}$/.test(id)
    ? id
    : `call_${createHash('sha256').update(String(id)).digest('hex').slice(0, 24)}`;
