import { join } from 'node:path';
import { ChatError } from '../errors.ts';
import { makePrivateFolder, readPrivateFile, writePrivateFile } from '../files/private-file.ts';
import { takeLock } from '../session/lock.ts';
import { isObject } from '../text/json.ts';
import type { Tool } from '../toolbox/tool.ts';
import type { Mode } from '../turn/turn-event.ts';
import type { CheckedCall, Rule } from './approval.ts';

/** Far longer than another process needs for one small write. */
const patienceMs = 5000;

/**
 * The rules made at the prompt that hold in a project: its own, and those for everywhere. Throws CONFIG_INVALID,
 * naming the file, when it is damaged: to go on without it would lose what it denies.
 */
export function readRules(configFolder: string, project: string): readonly Rule[] {
  return allRules(configFolder).filter((rule) => rule.project === undefined || rule.project === project);
}

/** Keeps a rule, in place of one that says the same of an older definition. Throws CONFIG_INVALID. */
export function addRule(configFolder: string, rule: Rule): void {
  changeRules(configFolder, (rules) => [...rules.filter((kept) => !isSame(kept, rule)), rule]);
}

export interface RuleContext {
  readonly mode: Mode;
  /** All tools there were when it was asked: those of the call's server are the ones a rule for it covers. */
  readonly tools: readonly Tool[];
  /** Absolute path; without it, the rule is for everywhere. */
  readonly project?: string;
  /** ISO time. */
  readonly at?: string;
}

/**
 * The rule that an answer stands for. It is bound to the server as it is reached and to the tools as they are described
 * now: a server cannot be allowed as one thing and become another.
 */
export function ruleFor(
  answer: 'session' | 'tool' | 'server',
  { tool }: CheckedCall,
  { mode, tools, project, at = new Date().toISOString() }: RuleContext,
): Rule {
  const { server, identity } = tool;
  const kept = project === undefined ? { source: 'user' as const } : { source: 'project' as const, project };
  const common = { effect: 'allow' as const, server, mode, identity, at };
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

/** Two processes may remember an answer at the same moment: one of them waits. */
function changeRules(configFolder: string, change: (rules: readonly Rule[]) => readonly Rule[]): void {
  makePrivateFolder(configFolder);
  const path = fileOf(configFolder);
  const end = performance.now() + patienceMs;
  let lock = takeLock(path);
  for (; !lock; lock = takeLock(path)) {
    if (performance.now() > end)
      throw new ChatError('CONFIG_INVALID', `${path} is locked by another toolcrib.`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  }
  try {
    // Where a rule comes from is said by where it is.
    const rules = change(allRules(configFolder)).map((rule) => ({ ...rule, source: undefined }));
    writePrivateFile(path, `${JSON.stringify({ version: 1, rules }, undefined, 2)}\n`);
  } finally {
    lock.release();
  }
}

function allRules(configFolder: string): readonly Rule[] {
  const path = fileOf(configFolder);
  const text = readPrivateFile(path);
  if (text === undefined) return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw damaged(path, 'it is no JSON', error);
  }
  if (!isObject(value) || value['version'] !== 1 || !Array.isArray(value['rules'])) {
    throw damaged(path, 'it is no list of rules of version 1');
  }
  return value['rules'].map((rule: unknown, at) => {
    if (!isKeptRule(rule)) throw damaged(path, `its rule ${at + 1} cannot be understood`);
    return { ...rule, source: rule.project === undefined ? 'user' : 'project' };
  });
}

function isKeptRule(rule: unknown): rule is Omit<Rule, 'source'> {
  if (!isObject(rule)) return false;
  const { effect, server, tool, args, definitions } = rule;
  const optional = [rule['act'], rule['identity'], rule['definition'], rule['project'], rule['at']];
  return (
    ['allow', 'ask', 'deny'].includes(String(effect)) &&
    [server, tool].every(isText) &&
    optional.every((value) => value === undefined || isText(value)) &&
    [undefined, 'plan', 'ask', 'auto', 'yolo'].includes(rule['mode'] as Mode | undefined) &&
    (args === undefined || (isObject(args) && Object.values(args).every(isText))) &&
    (definitions === undefined || (Array.isArray(definitions) && definitions.every(isText)))
  );
}

const isText = (value: unknown): value is string => typeof value === 'string';

const damaged = (path: string, why: string, cause?: unknown): ChatError =>
  new ChatError(
    'CONFIG_INVALID',
    `${path} is damaged: ${why}. Repair it, or delete it to be asked about everything again.`,
    { cause },
  );
