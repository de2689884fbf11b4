import type { AssistantMessage, Message, Part, ToolCall, ToolMessage } from '../message.ts';
import type { ModelRequest, ToolDefinition } from './provider.ts';

/** The request for a model that has no other way to call tools than in its text. */
export function asXml(request: ModelRequest): ModelRequest {
  const system = [request.system, xmlInstructions(request.tools)].filter((text) => text !== '').join('\n\n');
  return { ...request, system, messages: xmlHistory(request.messages), tools: [] };
}

/** What a model without tool calling is told: how it calls, and which tools there are. Empty when there are none. */
function xmlInstructions(tools: readonly ToolDefinition[]): string {
  if (tools.length === 0) return '';
  const list = tools.map(
    ({ name, description, inputSchema }) =>
      `## ${name}\n${description}\nArguments: ${JSON.stringify(inputSchema)}`,
  );
  return [
    '# Tools',
    'To call a tool, end your answer with this, as plain text and not in a code block:',
    callText({ id: '', name: 'the_tool', arguments: '{"key": "value"}' }),
    'The arguments are one JSON object that fits the schema of the tool. Write "\\u003c/" for "</" in them. ' +
      'You may make several calls, one after the other. Then stop: the results come in the next message, as ' +
      '<tool_result>. Never write results yourself.',
    ...list,
  ].join('\n\n');
}

/**
 * The conversation for a model without tool calling: calls and results as text, the results of one round in one
 * message.
 */
function xmlHistory(messages: readonly Message[]): Message[] {
  const told: Message[] = [];
  let results: Part[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      results.push(...resultParts(message));
      continue;
    }
    // Many chat templates want turns to alternate: results go with what the person says next.
    if (message.role === 'user') told.push({ role: 'user', content: [...results, ...message.content] });
    else
      told.push(
        ...(results.length > 0 ? [{ role: 'user' as const, content: results }] : []),
        asText(message),
      );
    results = [];
  }
  if (results.length > 0) told.push({ role: 'user', content: results });
  return told;
}

function asText(message: AssistantMessage): AssistantMessage {
  if (message.calls.length === 0) return message;
  const { native: _, ...rest } = message;
  const text = [message.text, ...message.calls.map(callText)].filter((each) => each !== '').join('\n\n');
  return { ...rest, text, calls: [], stop: 'done' };
}

const callText = ({ name, arguments: args }: ToolCall): string =>
  // In JSON `<` stands only within strings, where this is another way to write it.
  `<tool_call><name>${name}</name><arguments>${(args || '{}').replaceAll('</', '\\u003c/')}</arguments></tool_call>`;

const resultParts = ({ name, text, images, isError }: ToolMessage): Part[] => {
  // What a tool gives cannot end its own result.
  const inside = text.replaceAll('</tool_result', '<\\/tool_result');
  const status = isError ? ' error="true"' : '';
  return [
    { type: 'text', text: `<tool_result name="${name}"${status}>\n${inside}\n</tool_result>` },
    ...images,
  ];
};
