import { createHash } from 'node:crypto';
import {
  argumentsObject,
  type AssistantMessage,
  type Message,
  type ContentPart,
  type ToolDeclaration,
} from '../message.ts';
import type { Model } from '../models/model.ts';
import { listOf, objectOf, type JsonObject } from '../text/json.ts';
import type { ModelRequest } from './provider.ts';

/** A request that every wire can say; for a model that calls no tools, with the calls in its text. */
export function sendable(asked: ModelRequest, model: Model): ModelRequest {
  const { capabilities } = model;
  const { schema } = asked;
  const request = capabilities.tools ? asked : withXmlCalls(asked);
  // Whoever asks for a schema checks the answer.
  const wish =
    schema &&
    'Answer with one JSON value that fits this JSON Schema, and with nothing ' +
      `else:\n${JSON.stringify(schema)}`;
  return {
    ...request,
    system: [request.system, wish].filter(Boolean).join('\n\n'),
    messages: sendableMessages(request.messages, model),
    thinking: capabilities.thinking ? request.thinking : undefined,
  };
}

/**
 * Ids and names that every wire takes, nothing empty, user messages merged (many chat templates want turns to
 * alternate), images only where the model takes them: those of tools in a user message after the last of the
 * results.
 */
function sendableMessages(messages: readonly Message[], model: Model): Message[] {
  const sees = model.capabilities.images;
  const made: Message[] = [];
  let users: ContentPart[] = [];
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
      made.push({ ...message, calls: message.calls.map(sendableCall) });
    } else {
      const { images, name, callId } = message;
      const notes = sees ? [] : images.map((image) => described(image).text);
      const text = [message.text, ...notes].filter((line) => line.trim() !== '').join('\n') || '(no text)';
      made.push({ ...message, callId: safeId(callId), text, images: [] });
      if (sees && images.length > 0) users.push({ type: 'text', text: `Shown by ${name}:` }, ...images);
    }
  }
  flush();
  return made;
}

const described = (part: ContentPart) =>
  part.type === 'text'
    ? part
    : { type: 'text' as const, text: `[an image (${part.mimeType}) is left out: this model takes none]` };

/**
 * Makes a call sendable: what a model called may be no name at all, and its arguments no JSON, which servers
 * parse.
 */
const sendableCall = ({ id, name, arguments: text }: AssistantMessage['calls'][number]) => ({
  id: safeId(id),
  name: name.replace(/[^\w-]/g, '_').slice(0, 64) || 'unknown',
  arguments: Object.keys(argumentsObject(text)).length > 0 ? text : '{}',
});

/**
 * An id that every wire takes: those of some providers are too long for others, or have characters they
 * refuse.
 */
export const safeId = (id: unknown): string =>
  typeof id === 'string' && /^[\w-]{1,40}$/.test(id)
    ? id
    : `call_${createHash('sha256').update(String(id)).digest('hex').slice(0, 24)}`;

/**
 * Returns the native parts of an answer for the model that gave it, over the same wire; empty for any other.
 */
export const nativeOf = (
  { native, provider, model, wire }: AssistantMessage,
  { endpoint, id }: Model,
): readonly JsonObject[] =>
  provider === endpoint.name && model === id && wire === endpoint.wire ? listOf(native).map(objectOf) : [];

/** The request for a model that has no other way to call tools than in its text. */
const withXmlCalls = ({ system, messages, tools, ...request }: ModelRequest): ModelRequest => ({
  ...request,
  system: [system, ...instructions(tools)].filter((text) => text !== '').join('\n\n'),
  messages: messages.map(asText),
  tools: [],
});

/** Describes how to call, and which tools there are. */
function instructions(tools: readonly ToolDeclaration[]): string[] {
  if (tools.length === 0) return [];
  return [
    '# Tools',
    'To call a tool, end your answer with this, as plain text and not in a code block:',
    callText('the_tool', '{"key": "value"}'),
    'The arguments fit the schema of the tool. Write "\\u003c/" for "</" in them. ' +
      'You may make several calls, one after the other. Then stop: the results come in the next ' +
      'message, as ' +
      '<tool_result>. Never write results yourself.',
    ...tools.map(
      ({ name, description, inputSchema }) =>
        `## ${name}\n${description}\nArguments: ${JSON.stringify(inputSchema)}`,
    ),
  ];
}

/** Calls and results as text. */
function asText(message: Message): Message {
  if (message.role === 'user') return message;
  if (message.role === 'tool') {
    // What a tool gives cannot end its own result.
    const inside = message.text.replaceAll('</tool_result', '<\\/tool_result');
    const head = `<tool_result name="${message.name}"${message.isError ? ' error="true"' : ''}>`;
    const result = { type: 'text' as const, text: `${head}\n${inside}\n</tool_result>` };
    return { role: 'user', content: [result, ...message.images] };
  }
  if (message.calls.length === 0) return message;
  const { native: _, ...rest } = message;
  const calls = message.calls.map(sendableCall).map((call) => callText(call.name, call.arguments));
  return { ...rest, text: [message.text, ...calls].filter(Boolean).join('\n\n'), calls: [], stop: 'done' };
}

/** Writes a call as XML; in JSON `<` stands only within strings, where there is another way to write it. */
const callText = (name: string, args: string): string =>
  `<tool_call>{"name": ${JSON.stringify(name)}, "arguments": ` +
  `${args.replaceAll('</', '\\u003c/')}}</tool_call>`;
