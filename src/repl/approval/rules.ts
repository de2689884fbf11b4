import { join } from 'node:path';
import { ChatError } from '../errors.ts';
import { readPrivateFile, writePrivateFile } from '../files/private-file.ts';
import { list, object, oneOf, record, text } from '../text/guard.ts';
import type { Tool } from '../toolbox/tool.ts';
import type { Mode } from '../turn/turn-event.ts';
import type { CheckedCall, Rule } from './approval.ts';

/**
 * The rules made at the prompt that hold in a project: its own, and those for everywhere. Throws CONFIG_INVALID,
 * naming the file, when it is damaged: to go on without it would lose what it denies.
 */
export const readRules = (configFolder: string, project: string): readonly Rule[] =>
  allRules(configFolder).filter((rule) => rule.project === undefined || rule.project === project);

/** Keeps a rule, in place of one that says the same of an older definition. Throws CONFIG_INVALID. */
export function addRule(configFolder: string, rule: Rule): void {
  const kept = allRules(configFolder).filter((other) => !isSame(other, rule));
  // Where a rule comes from is said by where it is.
  const rules = [...kept, rule].map((each) => ({ ...each, source: undefined }));
  writePrivateFile(fileOf(configFolder), `${JSON.stringify({ version: 1, rules }, undefined, 2)}\n`);
}

export interface RuleContext {
  readonly mode: Mode;
  /** All tools there were when it was asked: those of the call's server are the ones a rule for it covers. */
  readonly tools: readonly Tool[];
  /** Absolute path. */
  readonly project: string;
}

/**
 * The rule that an answer stands for. It is bound to the server as it is reached and to the tools as they are described
 * now: a server cannot be allowed as one thing and become another.
 */
export function ruleFor(
  answer: 'session' | 'tool' | 'server',
  { tool }: CheckedCall,
  { mode, tools, project }: RuleContext,
): Rule {
  const { server, identity } = tool;
  const kept = { source: 'project' as const, project };
  const common = { effect: 'allow' as const, server, mode, identity, at: new Date().toISOString() };
  if (answer === 'server') {
    const own = tools.filter((other) => other.server === server && other.identity === identity);
    const definitions = [...new Set([tool, ...own].map(({ definition }) => definition))].sort();
    return { ...common, tool: '*', definitions, ...kept };
  }
  const rule = { ...common, tool: tool.tool, definition: tool.definition };
  return answer === 'session' ? { ...rule, source: 'session' } : { ...rule, ...kept };
}

const fileOf = (configFolder: string): string => join(configFolder, 'approvals.json');

/** Two rules are the same when they say the same of the same: definitions and times do not matter. */
function isSame(a: Rule, b: Rule): boolean {
  const key = ({ effect, server, tool, args, act, mode, project }: Rule) =>
    JSON.stringify([effect, server, tool, Object.entries(args ?? {}).sort(), act, mode, project]);
  return key(a) === key(b);
}

const keptRules = object({
  version: oneOf(1),
  rules: list(
    object(
      { effect: oneOf('allow', 'ask', 'deny'), server: text, tool: text },
      {
        args: record(text),
        act: text,
        mode: oneOf('plan', 'ask', 'auto', 'yolo'),
        identity: text,
        definition: text,
        definitions: list(text),
        project: text,
        at: text,
      },
    ),
  ),
});

function allRules(configFolder: string): readonly Rule[] {
  const path = fileOf(configFolder);
  const written = readPrivateFile(path);
  if (written === undefined) return [];
  let value: unknown;
  try {
    value = JSON.parse(written);
  } catch {
    // Said below, as for what is JSON but no rules.
  }
  if (keptRules(value))
    return value.rules.map((rule) => ({ ...rule, source: rule.project === undefined ? 'user' : 'project' }));
  const way = 'Repair it, or delete it to be asked about everything again.';
  throw new ChatError('CONFIG_INVALID', `${path} is damaged: it is no list of rules. ${way}`);
}
