import type { ToolCall } from '../message.ts';
import { objectOf, tooDeep } from '../text/json.ts';
import type { ToolDefinition } from './provider.ts';

/**
 * What stands between the tags of a call, as name and JSON arguments: JSON with both, as the system prompt asks for it,
 * or elements of their own for function and parameters. What cannot be read keeps its raw text.
 */
export function callOf(open: string, body: string, tools: readonly ToolDefinition[]): Omit<ToolCall, 'id'> {
  const raw = open + body;
  const [, name = '', inside = ''] =
    /^(?:<tool_call>\s*)?<function=([\w.-]{1,128})>([^]*?)(?:<\/function>\s*)?$/.exec(raw) ?? [];
  if (name !== '') return { name, arguments: parameters(inside, name, tools) ?? raw };
  const { name: called, arguments: args, parameters: given = {} } = objectOf(jsonIn(body));
  if (typeof called !== 'string') {
    // The name in a call that cannot be read tells the model which of them it was.
    const guessed = /"name"\s*:\s*"([\w.-]{1,128})"/.exec(body.slice(0, 1000))?.[1];
    return { name: guessed ?? 'tool_call', arguments: raw };
  }
  const value = args ?? given;
  return { name: called, arguments: typeof value === 'string' ? value : JSON.stringify(value) };
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
