import { ChatError } from '../errors.ts';
import type { Rule } from './approval.ts';

/** What our own server says of an act; earlier versions had rules about these. */
const effectWord = /^(?:read|write|execute|network|publish|destroy)(?:=|$)/;

/**
 * The rule that `server:tool(arg=pattern, arg=pattern)` stands for, or an act in a line, `npx vitest *` or `run(make)`.
 * The server may be left out, for any; `*` stands for any characters. Throws USAGE.
 */
export function parseRule(text: string, effect: Rule['effect'], source: Rule['source']): Rule {
  const given = text.trim();
  if (effectWord.test(given))
    throw new ChatError(
      'USAGE',
      `"${text}" is no rule to ${effect} any more: name an act ("npm test*") or a tool, or use toolcrib trust.`,
    );
  const parts = /^(?:([^:()\s]+):)?([^:()\s]+)(?:\((.*)\))?$/s.exec(given);
  const [, server = '*', tool, patterns] = parts ?? [];
  const act = parts ? /^run\((.+)\)$/s.exec(given)?.[1] : /\S\s+\S/.test(given) ? given : undefined;
  if (act) return { effect, server: 'toolcrib', tool: '*', act, source };
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
    `"${text}" is no rule to ${effect}. Write server:tool(argument=pattern), server:tool, or an act ("npm test*").`,
  );
