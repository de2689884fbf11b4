import { ChatError } from '../errors.ts';
import type { Rule } from './approval.ts';

/**
 * The rule that `server:tool(arg=pattern, arg=pattern)` stands for. The server may be left out, for any; `*` stands for any
 * characters. Throws USAGE.
 */
export function parseRule(text: string, effect: Rule['effect'], source: Rule['source']): Rule {
  const parts = /^(?:([^:()\s]+):)?([^:()\s]+)(?:\((.*)\))?$/s.exec(text.trim());
  const [, server = '*', tool, patterns] = parts ?? [];
  if (tool === undefined) throw notARule(text, effect);
  const rule = { effect, server, tool, source };
  return patterns === undefined ? rule : { ...rule, args: parsePatterns(patterns, text, effect) };
}

/** A comma is part of a pattern unless a name and `=` follow. */
function parsePatterns(patterns: string, text: string, effect: string): Record<string, string> {
  const pairs = patterns.split(/,\s*(?=[\w.$-]+=)/).map((pair) => {
    const [, name, pattern] = /^\s*([\w.$-]+)=(.+)$/s.exec(pair) ?? [];
    if (name === undefined || pattern === undefined) throw notARule(text, effect);
    return [name, pattern] as const;
  });
  return Object.fromEntries(pairs);
}

const notARule = (text: string, effect: string): ChatError =>
  new ChatError(
    'USAGE',
    `"${text}" is no rule to ${effect}. Write server:tool or server:tool(argument=pattern), with * for any characters.`,
  );
