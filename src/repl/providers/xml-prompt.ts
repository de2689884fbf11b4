import type { AssistantMessage, Message, ToolCall, ToolMessage, UserMessage } from '../message.ts';
import type { ModelRequest, ToolDefinition } from './provider.ts';
import { argumentsText } from './request-parts.ts';

/** The request for a model that has no other way to call tools than in its text. */
export const asXml = (request: ModelRequest): ModelRequest => ({
  ...request,
  system: [request.system, instructions(request.tools)].filter((text) => text !== '').join('\n\n'),
  messages: request.messages.map(asText),
  tools: [],
});

/** What a model without tool calling is told: how it calls, and which tools there are. Empty when there are none. */
function instructions(tools: readonly ToolDefinition[]): string {
  if (tools.length === 0) return '';
  const list = tools.map(
    ({ name, description, inputSchema }) =>
      `## ${name}\n${description}\nArguments: ${JSON.stringify(inputSchema)}`,
  );
  return [
    '# Tools',
    'To call a tool, end your answer with this, as plain text and not in a code block:',
    callText({ id: '', name: 'the_tool', arguments: '{"key": "value"}' }),
    'The arguments fit the schema of the tool. Write "\\u003c/" for "</" in them. ' +
      'You may make several calls, one after the other. Then stop: the results come in the next message, as ' +
      '<tool_result>. Never write results yourself.',
    ...list,
  ].join('\n\n');
}

/** Calls and results as text; every wire puts what the person's side says one after the other into one message. */
function asText(message: Message): Message {
  if (message.role === 'tool') return resultText(message);
  if (message.role === 'user' || message.calls.length === 0) return message;
  const { native: _, ...rest }: AssistantMessage = message;
  const text = [message.text, ...message.calls.map(callText)].filter((each) => each !== '').join('\n\n');
  return { ...rest, text, calls: [], stop: 'done' };
}

function callText({ name, arguments: args }: ToolCall): string {
  // In JSON `<` stands only within strings, where this is another way to write it.
  const given = argumentsText(args).replaceAll('</', '\\u003c/');
  return `<tool_call>{"name": ${JSON.stringify(name)}, "arguments": ${given}}</tool_call>`;
}

function resultText({ name, text, images, isError }: ToolMessage): UserMessage {
  // What a tool gives cannot end its own result.
  const inside = text.replaceAll('</tool_result', '<\\/tool_result');
  const status = isError ? ' error="true"' : '';
  const result = `<tool_result name="${name}"${status}>\n${inside}\n</tool_result>`;
  return { role: 'user', content: [{ type: 'text', text: result }, ...images] };
}
