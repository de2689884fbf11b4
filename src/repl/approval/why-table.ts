import { inLine } from '../terminal/printable.ts';
import type { Tool } from '../toolbox/tool.ts';
import { decide, isFor, ruleText, type DecisionContext } from './decide.ts';

/** For each tool a line: what would be done with a call of it in this mode, and why. Rules about arguments are added. */
export function whyTable(tools: readonly Tool[], context: DecisionContext): string[] {
  const names = tools.map(({ server, tool }) => inLine(`${server}:${tool}`));
  const width = Math.max(0, ...names.map(({ length }) => length));
  return tools.map((tool, at) => {
    const { effect, why } = decide({ tool, args: {} }, context);
    const depending = context.rules
      .filter((rule) => rule.args !== undefined && isFor(rule, tool))
      .map((rule) => `; rule: ${rule.effect} ${ruleText(rule)}`);
    return `${effect.padEnd(5)}  ${(names[at] ?? '').padEnd(width)}  ${inLine(`${why}${depending.join('')}`, 2000)}`;
  });
}
