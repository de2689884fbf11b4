import { posix } from 'node:path';
import type { Tool } from '../toolbox/tool.ts';
import type { Mode } from '../turn/turn-event.ts';
import type { CheckedCall, Rule, Verdict } from './approval.ts';
import { globMatches, isNamed } from '../text/glob.ts';

export interface DecisionContext {
  readonly mode: Mode;
  readonly rules: readonly Rule[];
  /** Somebody can be asked. */
  readonly interactive: boolean;
}

const modes: readonly Mode[] = ['plan', 'ask', 'auto', 'yolo'];
/** Where several rules of one effect fit, the one that is told of. */
const sources: readonly Rule['source'][] = ['flag', 'session', 'project', 'user'];

/**
 * What is to be done with a call. The order is the point: plan mode comes before any rule, deny before ask before allow,
 * and what a server says of its tools counts last, and only when the server is trusted.
 */
export function decide(call: CheckedCall, context: DecisionContext): Verdict {
  const { tool } = call;
  const { mode } = context;
  if (mode === 'plan' && tool.annotations.readOnlyHint !== true) {
    return { effect: 'deny', why: 'plan mode: only tools that say they are read-only' };
  }
  const rules = [...context.rules]
    .sort((a, b) => sources.indexOf(a.source) - sources.indexOf(b.source))
    .filter((rule) => isFor(rule, tool) && argumentsFit(rule, call));
  const denying = rules.find(({ effect }) => effect === 'deny');
  if (denying) return { effect: 'deny', why: named(denying) };
  const asking = rules.find(({ effect }) => effect === 'ask');
  if (asking) return question({ why: named(asking) }, context);
  const allowing = rules.filter((rule) => rule.effect === 'allow' && holdsIn(rule, mode));
  const good = allowing.find((rule) => changeSince(rule, tool) === undefined);
  if (good) return { effect: 'allow', why: named(good) };
  if (mode === 'yolo') return { effect: 'allow', why: 'mode yolo' };

  const since = allowing[0]
    ? `; ${changeSince(allowing[0], tool)} since "${ruleText(allowing[0])}" was made`
    : '';
  const { destructiveHint, readOnlyHint, openWorldHint } = tool.trusted ? tool.annotations : {};
  if (destructiveHint === true) {
    return unlessItAsks(
      { why: `destructiveHint of a trusted server${since}`, told: `can destroy something${since}` },
      call,
      context,
    );
  }
  if (readOnlyHint === true) return { effect: 'allow', why: 'readOnlyHint of a trusted server' };
  if (mode === 'auto' && destructiveHint === false && openWorldHint === false) {
    return {
      effect: 'allow',
      why: 'mode auto: a trusted server says that it neither destroys nor reaches out',
    };
  }
  const [why, told] = tool.trusted
    ? [
        `mode ${mode}: nothing says that it only reads`,
        mode === 'auto' && destructiveHint === false
          ? 'reaches out to other machines'
          : 'may change something',
      ]
    : tool.changed
      ? ['the tool has changed since its server was started']
      : ['no rule, and the server is not trusted', 'its server is not trusted'];
  return unlessItAsks({ why: `${why}${since}`, told: `${told ?? why}${since}` }, call, context);
}

/** Whether a rule takes a tool away whatever its arguments: the model need not be told of it. */
export const isDeniedWhole = (tool: Tool, rules: readonly Rule[]): boolean =>
  rules.some((rule) => rule.effect === 'deny' && rule.args === undefined && isFor(rule, tool));

/** Whether a rule is about a tool, its arguments and its changes left aside. Hosts' names, `mcp__…`, are understood, too. */
export const isFor = (rule: Rule, tool: Tool): boolean =>
  globMatches(rule.server, tool.server) && isNamed(rule.tool, tool);

/** A rule as a person writes it, `server:tool(arg=pattern)`; without its server when it is for any. */
export function ruleText({ server, tool, args }: Rule): string {
  const patterns = Object.entries(args ?? {}).map(([name, pattern]) => `${name}=${pattern}`);
  return `${server === '*' ? '' : `${server}:`}${tool}${patterns.length > 0 ? `(${patterns.join(', ')})` : ''}`;
}

const named = (rule: Rule): string =>
  `rule: ${rule.effect} ${ruleText(rule)} (${rule.source}${rule.at === undefined ? '' : `, made ${rule.at.slice(0, 10)}`})`;

/** An argument that is not there fits no pattern, not even `*`. */
const argumentsFit = (rule: Rule, { args }: CheckedCall): boolean =>
  Object.entries(rule.args ?? {}).every(([name, pattern]) => {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    if (value === undefined) return false;
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    if (globMatches(pattern, text))
      return rule.effect !== 'allow' || pattern === '*' || stepsUp(text) <= stepsUp(pattern);
    // Written another way, a path is still the one that was not to be.
    return rule.effect !== 'allow' && globMatches(pattern, posix.normalize(text.replaceAll('\\', '/')));
  });

/** How many `..` a path or URL has: a `*` was not written for those. */
const stepsUp = (text: string): number =>
  [
    ...text
      .replaceAll(/%2e/gi, '.')
      .replaceAll(/%2f|%5c/gi, '/')
      .matchAll(/(?<![\w.])\.\.(?![\w.])/g),
  ].length;

/** A rule without a mode was made for work, not for plans. */
const holdsIn = (rule: Rule, mode: Mode): boolean => modes.indexOf(rule.mode ?? 'ask') <= modes.indexOf(mode);

/** What has changed since an allow rule was made; undefined when it still holds. Rules that restrict hold whatever changes. */
function changeSince({ identity, definition, definitions }: Rule, tool: Tool): string | undefined {
  if (identity !== undefined && identity !== tool.identity) return 'the server has changed';
  if (definition !== undefined && definition !== tool.definition) return 'the tool has changed';
  if (definitions && !definitions.includes(tool.definition)) return 'the tool has changed or come';
  return undefined;
}

/** A trusted server that puts its own question to the person spares them ours. */
function unlessItAsks(
  reason: Pick<Verdict, 'why' | 'told'>,
  call: CheckedCall,
  context: DecisionContext,
): Verdict {
  if (context.interactive && call.tool.trusted && call.tool.asksItself === true) {
    return { effect: 'allow', why: `the server asks by itself (${reason.why})` };
  }
  const { server, tool } = call.tool;
  const rerun = `rerun with --allow '${server}:${tool}'`;
  return question(reason, context, context.mode === 'plan' ? 'trust its server, or leave plan mode' : rerun);
}

function question(
  reason: Pick<Verdict, 'why' | 'told'>,
  { interactive }: DecisionContext,
  wayOut = 'nobody can be asked',
): Verdict {
  return interactive
    ? { effect: 'ask', ...reason }
    : { effect: 'deny', why: `needs approval; ${wayOut} (${reason.why})` };
}
