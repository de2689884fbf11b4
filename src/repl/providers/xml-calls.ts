import type { Message, ToolCall } from '../message.ts';
import { isObject, objectOf, tooDeep } from '../text/json.ts';
import type { ModelRequest, ToolDefinition } from './provider.ts';

/** The request for a model that has no other way to call tools than in its text. */
export const withXmlCalls = (request: ModelRequest): ModelRequest => ({
  ...request,
  system: [request.system, ...instructions(request.tools)].filter((text) => text !== '').join('\n\n'),
  messages: request.messages.map(asText),
  tools: [],
});

/** How to call, and which tools there are. */
function instructions(tools: readonly ToolDefinition[]): string[] {
  if (tools.length === 0) return [];
  return [
    '# Tools',
    'To call a tool, end your answer with this, as plain text and not in a code block:',
    callText({ name: 'the_tool', arguments: '{"key": "value"}' }),
    'The arguments fit the schema of the tool. Write "\\u003c/" for "</" in them. ' +
      'You may make several calls, one after the other. Then stop: the results come in the next message, as ' +
      '<tool_result>. Never write results yourself.',
    ...tools.map(
      ({ name, description, inputSchema }) =>
        `## ${name}\n${description}\nArguments: ${JSON.stringify(inputSchema)}`,
    ),
  ];
}

/** Calls and results as text; every wire puts what the person's side says one after the other into one message. */
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
  const text = [message.text, ...message.calls.map(callText)].filter((each) => each !== '').join('\n\n');
  return { ...rest, text, calls: [], stop: 'done' };
}

function callText({ name, arguments: text }: Omit<ToolCall, 'id'>): string {
  const given = isObject(jsonIn(text)) ? text : '{}';
  // In JSON `<` stands only within strings, where this is another way to write it.
  const safe = given.replaceAll('</', '\\u003c/');
  return `<tool_call>{"name": ${JSON.stringify(name)}, "arguments": ${safe}}</tool_call>`;
}

/**
 * What stands between the tags of a call, as name and JSON arguments: JSON with both, as the system prompt asks for it,
 * or elements of their own for function and parameters. What cannot be read keeps its raw text.
 */
export function readXmlCall(
  open: string,
  body: string,
  tools: readonly ToolDefinition[],
): Omit<ToolCall, 'id'> {
  const raw = open + body;
  const [, name, inside = ''] =
    /^(?:<tool_call>\s*)?<function=([\w.-]{1,128})>([^]*?)(?:<\/function>\s*)?$/i.exec(raw) ?? [];
  if (name !== undefined) return { name, arguments: parameters(inside, name, tools) ?? raw };
  const { name: called, arguments: args, parameters: given = {} } = objectOf(jsonIn(body));
  const value = args ?? given;
  if (typeof called === 'string')
    return { name: called, arguments: typeof value === 'string' ? value : JSON.stringify(value) };
  // The name in a call that cannot be read tells the model which of them it was.
  const guessed = /"name"\s*:\s*"([\w.-]{1,128})"/.exec(body.slice(0, 1000))?.[1];
  return { name: guessed ?? 'tool_call', arguments: raw };
}

/** Arguments as JSON, or as `<parameter=name>value</parameter>`, with the types that the tool's schema wants. */
function parameters(body: string, name: string, tools: readonly ToolDefinition[]): string | undefined {
  const text = body.trim();
  if (text.startsWith('{')) return text;
  const properties = objectOf(tools.find((tool) => tool.name === name)?.inputSchema['properties']);
  const pieces = text.split('</parameter>').filter((piece) => piece.trim() !== '');
  const args = pieces.map((piece) => {
    const [, key = '', value = ''] = /^\s*<parameter=([^<>\s]{1,128})>\r?\n?([^]*?)\r?\n?$/.exec(piece) ?? [];
    const isText = objectOf(properties[key])['type'] === 'string';
    return [key, isText ? value : (jsonIn(value) ?? value)] as const;
  });
  return args.some(([key]) => key === '') ? undefined : JSON.stringify(Object.fromEntries(args));
}

/** Undefined for what is no JSON. */
function jsonIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return tooDeep(value) ? undefined : value;
  } catch {
    return undefined;
  }
}
