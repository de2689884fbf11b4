import { nearest } from './check-params.ts';
import { fits } from './policy.ts';

/** Far more than anybody writes; what a pattern costs grows with it. */
const longestPattern = 500;

/** What is wrong with the form of a rule's pattern; undefined when nothing is. */
export function patternProblem(pattern: string): string | undefined {
  if (pattern.length > longestPattern) return `is longer than ${longestPattern} characters`;
  if (/^[a-z0-9_*]+(?:\([^\p{Cc}]+\))?$/u.test(pattern)) return undefined;
  return 'expected a tool ("git_push"), several ("git_*"), or a tool with its command line ("run_command(npm test *)")';
}

/** Names of tools, and those of them whose calls have no command line. */
interface Tools {
  readonly tools: readonly string[];
  readonly withoutLine: readonly string[];
}

/**
 * What is wrong with a pattern that is about none of these tools, with the one that was probably meant, or about the command
 * line of one that has none; undefined when nothing is. A rule that never fits would leave open what it was written to close.
 */
export function unknownTool(pattern: string, { tools, withoutLine }: Tools): string | undefined {
  const at = pattern.indexOf('(');
  const [name, line] = at < 0 ? [pattern, ''] : [pattern.slice(0, at), pattern.slice(at)];
  if (tools.some((tool) => fits(name, { tool }))) {
    const lineless = line === '' ? undefined : withoutLine.find((tool) => fits(name, { tool }));
    return lineless && `${lineless} has no command line; a rule about it is the name of the tool alone`;
  }
  const meant = name.includes('*') ? nearestFamily(name, tools) : nearest(name, tools);
  return `there is no such tool${meant === undefined ? '; toolcrib call lists them.' : `; did you mean ${meant}${line}?`}`;
}

/** `gti_*` is most likely meant for all tools of git. */
function nearestFamily(name: string, tools: readonly string[]): string | undefined {
  const [, word] = /^([a-z0-9]+)_\*$/.exec(name) ?? [];
  const family = word && nearest(word, [...new Set(tools.map((tool) => tool.split('_')[0] ?? tool))]);
  return family && `${family}_*`;
}
