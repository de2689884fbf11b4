import { join } from 'node:path';
import { matches } from '../../core/rule.ts';
import { ChatError } from '../errors.ts';
import { readPrivateFile, writePrivateFile } from '../files/chat-files.ts';
import { jsonIn, list, object, oneOf, text, type Guarded } from '../text/json.ts';
import type { ClientTool, CallPlan } from '../toolbox/tool.ts';

/** A call whose tool exists and whose arguments fit its schema: nothing else gets as far as a decision. */
export interface CheckedCall {
  readonly tool: ClientTool;
  readonly args: Readonly<Record<string, unknown>>;
  /** The plan of our own server. */
  readonly plan?: CallPlan;
}

const effect = oneOf('allow', 'ask', 'deny');

/** A rule as it is kept. */
const kept = object(
  /** `*` stands for any characters in each of them. */
  { effect, server: text, tool: text },
  {
    /** A pattern that the act has to fit: of our own server its one line, of others the arguments as JSON. */
    act: text,
    /**
     * Rules made at the prompt hold only for the very server and tools they were made for; written ones for
     * any.
     */
    identity: text,
    definitions: list(text),
    /** Absolute path of the project it is for; without it, everywhere. */
    project: text,
    /** ISO time it was made at the prompt. */
    at: text,
  },
);

/** A standing decision of the person. */
export type PermissionRule = Guarded<typeof kept> & {
  readonly source: 'flag' | 'session' | 'project' | 'user';
};

export interface PermissionVerdict {
  readonly effect: 'allow' | 'ask' | 'deny';
  /** The rule, the annotation or the mode that decided; why it is asked about, as the rest of "it …". */
  readonly why: string;
  /** Only a person who could be asked was missing. */
  readonly unasked?: true;
}

/** The answer of the person to a question; `instead`: not this, and words for the model. */
export type ApprovalAnswer =
  | 'once'
  | 'always'
  | 'trust'
  | 'session'
  | 'tool'
  | 'server'
  | 'no'
  | { readonly instead: string };

/**
 * The rule that a text stands for. Those of `serve --rule` are understood: `git_push`, `npm_run(npm run
 * build*)`, `run(make)`; an act in several words needs nothing around it: `npx vitest *`. For other servers:
 * `server:tool`, and `server:tool(pattern)` for the arguments as JSON. `*` stands for any characters. Throws
 * USAGE.
 */
export function parseRule(
  text: string,
  effect: PermissionRule['effect'],
  source: PermissionRule['source'],
): PermissionRule {
  const given = text.trim();
  const parts = /^(?:([^:()\s]+):)?([^:()\s=]+)(?:\((.+)\))?$/s.exec(given);
  const isAct = !parts && /\S\s+\S/.test(given);
  const [, server, tool = '', act = isAct ? given : undefined] = parts ?? [];
  const isAboutFiles = server === undefined && act !== undefined && /^(?:read|write)$/.test(tool);
  const way = isAboutFiles
    ? `Rules about files are obeyed by toolcrib's own server: --rule '${given}=${effect}'.`
    : 'Write server:tool, server:tool(pattern), or an act ("npm test*").';
  if (isAboutFiles || (!parts && !isAct))
    throw new ChatError('USAGE', `"${text}" is no rule to ${effect}. ${way}`);
  if (act === undefined) return { effect, server: server ?? '*', tool, source };
  const isAny = isAct || (tool === 'run' && (server ?? 'toolcrib') === 'toolcrib');
  return { effect, server: server ?? 'toolcrib', tool: isAny ? '*' : tool, act, source };
}

/** A rule as a person writes it; without its server when it is for any. */
export function ruleText({ server, tool, act }: PermissionRule): string {
  const isOwn = server === '*' || (server === 'toolcrib' && act !== undefined);
  const name = act !== undefined && tool === '*' ? 'run' : tool;
  return `${isOwn ? '' : `${server}:`}${name}${act === undefined ? '' : `(${act})`}`;
}

/**
 * The rules made at the prompt that hold in a project: its own, and those for everywhere. Throws
 * CONFIG_INVALID, naming the file, when it is damaged: to go on without it would lose what it denies.
 */
export const readRules = (configFolder: string, project: string): readonly PermissionRule[] =>
  allRules(configFolder).filter((rule) => rule.project === undefined || rule.project === project);

/** Keeps a rule, in place of one that says the same of an older definition. Throws CONFIG_INVALID. */
export function addRule(configFolder: string, rule: PermissionRule): void {
  const about = ({ effect, server, tool, act, project }: PermissionRule) =>
    JSON.stringify([effect, server, tool, act, project]);
  const kept = allRules(configFolder).filter((other) => about(other) !== about(rule));
  // Where a rule comes from is said by where it is.
  const rules = [...kept, rule].map((each) => ({ ...each, source: undefined }));
  writePrivateFile(fileOf(configFolder), `${JSON.stringify({ version: 1, rules }, undefined, 2)}\n`);
}

/**
 * The rule that an answer stands for. It is bound to the server as it is reached and to the tools as they are
 * described now, `tools` being all there were when it was asked: a server cannot be allowed as one thing and
 * become another.
 */
export function ruleFor(
  answer: 'session' | 'tool' | 'server',
  { tool }: CheckedCall,
  { tools, project }: { readonly tools: readonly ClientTool[]; readonly project: string },
): PermissionRule {
  const { server, identity } = tool;
  const isCovered = (other: ClientTool) => other.server === server && other.identity === identity;
  const covered = answer === 'server' ? [tool, ...tools.filter(isCovered)] : [tool];
  return {
    effect: 'allow',
    server,
    tool: answer === 'server' ? '*' : tool.tool,
    identity,
    definitions: [...new Set(covered.map(({ definition }) => definition))].sort(),
    at: new Date().toISOString(),
    ...(answer === 'session' ? { source: 'session' } : { source: 'project', project }),
  };
}

const fileOf = (configFolder: string): string => join(configFolder, 'approvals.json');

const file = object({ version: oneOf(1), rules: list(kept) });

function allRules(configFolder: string): readonly PermissionRule[] {
  const path = fileOf(configFolder);
  const written = readPrivateFile(path);
  if (written === undefined) return [];
  const value = jsonIn(written);
  if (file(value))
    return value.rules.map((rule) => ({ ...rule, source: rule.project === undefined ? 'user' : 'project' }));
  const way = 'Repair it, or delete it to be asked about everything again.';
  throw new ChatError('CONFIG_INVALID', `${path} is damaged: it is no list of rules. ${way}`);
}

/**
 * Tells whether a pattern is for a tool: `mcp__…` only by its whole name, since a server may call its tools
 * anything.
 */
export const isNamed = (pattern: string, { tool, name }: Pick<ClientTool, 'tool' | 'name'>): boolean =>
  matches(pattern, name) || (!pattern.startsWith('mcp__') && matches(pattern, tool));

/**
 * Tells whether a list of patterns wants something: `!` excludes, the last pattern that fits decides; without
 * any, all.
 */
export function isWanted(patterns: readonly string[] = [], fits: (pattern: string) => boolean): boolean {
  const last = patterns.findLast((pattern) => fits(pattern.replace(/^!/, '')));
  return last === undefined ? patterns.every((pattern) => pattern.startsWith('!')) : !last.startsWith('!');
}
