import { posix } from 'node:path';
import { inLine } from '../terminal/printable.ts';
import type { CallPlan, Tool } from '../toolbox/tool.ts';
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
 * What is to be done with a call. The order is the point: plan mode comes before any rule, deny before ask before
 * allow, what a server says last: our own by the plan of the call, any other by its annotations, when it is
 * trusted.
 */
export function decide(call: CheckedCall, context: DecisionContext): Verdict {
  const { plan } = call;
  // Nobody need be asked about it: the call itself is told why.
  if (plan?.decision === 'deny') return { effect: 'allow', why: `its server refuses it: ${plan.setting}` };
  return ruledOn(call, context) ?? (plan ? byPlan(call, plan, context) : byAnnotations(call, context));
}

/** What the mode and the rules say; undefined when they leave it to the server. */
function ruledOn(call: CheckedCall, context: DecisionContext): Verdict | undefined {
  const { mode } = context;
  if (mode === 'plan' && !readsOnly(call))
    return { effect: 'deny', why: 'plan mode: only tools that say they are read-only' };
  const rules = rulesFor(call, context);
  const denying = rules.find(({ effect }) => effect === 'deny');
  if (denying) return { effect: 'deny', why: named(denying) };
  const asking = rules.find(({ effect }) => effect === 'ask');
  if (asking) return question({ why: named(asking) }, context);
  // What was answered to a change says nothing of what our server asks about.
  const answers = (rule: Rule) => call.plan?.decision !== 'ask' || rule.at === undefined;
  const good = allowing(rules, mode).find((rule) => !changeSince(rule, call.tool) && answers(rule));
  if (good) return { effect: 'allow', why: named(good) };
  return mode === 'yolo' ? { effect: 'allow', why: 'mode yolo' } : undefined;
}

/** Our own server knows what the call would do. In `ask`, changes are asked about that it would make unasked. */
function byPlan(call: CheckedCall, plan: CallPlan, context: DecisionContext): Verdict {
  const { decision, setting, reasons } = plan;
  const asks = (why: string) => question({ why }, context, wayOutOf(call.tool, plan));
  if (decision === 'ask') return asks(reasons.map(({ says }) => says).join('; '));
  if (context.mode === 'ask' && isChange(plan) && setting === undefined) return asks('changes something');
  return { effect: 'allow', why: setting ?? `mode ${context.mode}: its server need not ask` };
}

function byAnnotations(call: CheckedCall, context: DecisionContext): Verdict {
  const { tool } = call;
  const { mode } = context;
  const [old] = allowing(rulesFor(call, context), mode);
  const since = old ? `; ${changeSince(old, tool)} since "${ruleText(old)}" was made` : '';
  const asks = (why: string, told = why) => {
    const { server, tool: name } = tool;
    const wayOut =
      mode === 'plan' ? 'trust its server, or leave plan mode' : `rerun with --allow '${server}:${name}'`;
    return question({ why: `${why}${since}`, told: `${told}${since}` }, context, wayOut);
  };
  const { destructiveHint, readOnlyHint, openWorldHint } = tool.trusted ? tool.annotations : {};
  if (destructiveHint === true) return asks('destructiveHint of a trusted server', 'can destroy something');
  if (readOnlyHint === true) return { effect: 'allow', why: 'readOnlyHint of a trusted server' };
  const auto = 'mode auto: a trusted server says that it neither destroys nor reaches out';
  if (mode === 'auto' && destructiveHint === false && openWorldHint === false)
    return { effect: 'allow', why: auto };
  if (tool.changed) return asks('the tool has changed since its server was started');
  if (!tool.trusted) return asks('no rule, and the server is not trusted', 'its server is not trusted');
  const reaches = mode === 'auto' && destructiveHint === false;
  const told = reaches ? 'reaches out to other machines' : 'may change something';
  return asks(`mode ${mode}: nothing says that it only reads`, told);
}

const readsOnly = ({ tool, plan }: CheckedCall): boolean =>
  plan ? plan.effects.length > 0 && hasOnly(plan, 'read', 'network') : tool.annotations.readOnlyHint === true;

const hasOnly = ({ effects }: CallPlan, ...allowed: readonly string[]): boolean =>
  effects.every((effect) => allowed.includes(effect));

/** Not what runs code or cannot be undone. */
const isChange = (plan: CallPlan): boolean =>
  plan.effects.includes('write') && hasOnly(plan, 'read', 'write', 'network');

const planned = { effect: 'plan', why: 'as its server plans each call' };

/** For each tool a line: what would be done with a call of it, and why. Rules about arguments are added. */
export function whyTable(tools: readonly Tool[], context: DecisionContext): string[] {
  const names = tools.map(({ server, tool }) => inLine(`${server}:${tool}`));
  const width = Math.max(0, ...names.map(({ length }) => length));
  return tools.map((tool, at) => {
    const call = { tool, args: {} };
    const { effect, why } = tool.plans ? (ruledOn(call, context) ?? planned) : decide(call, context);
    const depending = context.rules
      .filter((rule) => !isWhole(rule) && isFor(rule, tool))
      .map((rule) => `; rule: ${rule.effect} ${ruleText(rule)}`);
    return `${effect.padEnd(5)}  ${(names[at] ?? '').padEnd(width)}  ${inLine(`${why}${depending.join('')}`, 2000)}`;
  });
}

/** Whether a rule takes a tool away whatever its arguments: the model need not be told of it. */
export const isDeniedWhole = (tool: Tool, rules: readonly Rule[]): boolean =>
  rules.some((rule) => rule.effect === 'deny' && isWhole(rule) && isFor(rule, tool));

/** Whether it is about a tool whatever is done with it. */
const isWhole = ({ args, act }: Rule): boolean => args === undefined && act === undefined;

/**
 * Whether a rule is about a tool, its arguments and its changes left aside. Hosts' names, `mcp__…`, are understood,
 * too.
 */
export const isFor = (rule: Rule, tool: Tool): boolean =>
  globMatches(rule.server, tool.server) && isNamed(rule.tool, tool);

/** A rule as a person writes it, `server:tool(arg=pattern)`; without its server when it is for any. */
export function ruleText({ server, tool, args, act }: Rule): string {
  if (act !== undefined) return `run(${act})`;
  const patterns = Object.entries(args ?? {}).map(([name, pattern]) => `${name}=${pattern}`);
  return `${server === '*' ? '' : `${server}:`}${tool}${patterns.length > 0 ? `(${patterns.join(', ')})` : ''}`;
}

function named(rule: Rule): string {
  const made = rule.at === undefined ? '' : `, made ${rule.at.slice(0, 10)}`;
  return `rule: ${rule.effect} ${ruleText(rule)} (${rule.source}${made})`;
}

/** The rules about a call, those of the nearest source first. */
const rulesFor = (call: CheckedCall, context: DecisionContext): Rule[] =>
  context.rules
    .filter((rule) => isFor(rule, call.tool) && argumentsFit(rule, call))
    .sort((a, b) => sources.indexOf(a.source) - sources.indexOf(b.source));

/** An argument that is not there fits no pattern, not even `*`; nor does an act that nobody knows. */
const argumentsFit = (rule: Rule, { args, plan }: CheckedCall): boolean =>
  (rule.act === undefined || (plan !== undefined && globMatches(rule.act, plan.subject))) &&
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

/** Those that allow. One without a mode was made for work, not for plans. */
const allowing = (rules: readonly Rule[], mode: Mode): Rule[] =>
  rules.filter((rule) => rule.effect === 'allow' && modes.indexOf(rule.mode ?? 'ask') <= modes.indexOf(mode));

/** The flag that allows a call of our own server: for a change its tool, for anything else just this act. */
function wayOutOf({ server, tool }: Tool, plan: CallPlan): string | undefined {
  const { subject } = plan;
  if (isChange(plan)) return `rerun with --allow '${server}:${tool}'`;
  // A star would stand for more.
  if (subject.length > 300 || /[*\p{Cc}\p{Cf}]/u.test(subject)) return undefined;
  return `rerun with --allow ${quoted(subject.includes(' ') ? subject : `run(${subject})`)}`;
}

/** As a shell takes it for one word. */
const quoted = (text: string): string =>
  text.includes("'") && !/["$`\\!]/.test(text) ? `"${text}"` : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/**
 * What has changed since an allow rule was made; undefined when it still holds. Rules that restrict hold whatever
 * changes.
 */
function changeSince({ identity, definition, definitions }: Rule, tool: Tool): string | undefined {
  if (identity !== undefined && identity !== tool.identity) return 'the server has changed';
  if (definition !== undefined && definition !== tool.definition) return 'the tool has changed';
  if (definitions && !definitions.includes(tool.definition)) return 'the tool has changed or come';
  return undefined;
}

function question(
  reason: Pick<Verdict, 'why' | 'told'>,
  { interactive }: DecisionContext,
  wayOut = 'nobody can be asked',
): Verdict {
  return interactive
    ? { effect: 'ask', ...reason }
    : { effect: 'deny', why: `needs approval; ${wayOut} (${reason.why})`, unasked: true };
}
