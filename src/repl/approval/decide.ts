import { matches } from '../../core/rule.ts';
import { inLine } from '../terminal/printable.ts';
import { isNamed, type CheckedCall, type PermissionRule, type PermissionVerdict, ruleText } from './rules.ts';
import type { CallPlan, ClientTool } from '../toolbox/tool.ts';
import type { Mode } from '../turn/turn-event.ts';

export interface DecisionContext {
  readonly mode: Mode;
  /** All rules that hold; of several of one effect that fit, the first is named. */
  readonly rules: readonly PermissionRule[];
  /** Somebody can be asked. */
  readonly interactive: boolean;
}

/**
 * Decides what is to be done with a call. The order is the point: plan mode comes before any rule, deny
 * before ask before allow, what a server says last: our own by the plan of the call, any other by its
 * annotations, when it is trusted.
 */
export function decide(call: CheckedCall, context: DecisionContext): PermissionVerdict {
  const { plan } = call;
  // Nobody need be asked about it: the call itself is told why.
  if (plan?.decision === 'deny') return { effect: 'allow', why: `its server refuses it: ${plan.setting}` };
  return ruledOn(call, context) ?? (plan ? byPlan(call, plan, context) : byAnnotations(call, context));
}

/** Reads the verdict from the mode and the rules; undefined when they leave it to the server. */
function ruledOn(call: CheckedCall, context: DecisionContext): PermissionVerdict | undefined {
  const { mode } = context;
  if (mode === 'plan' && !readsOnly(call))
    return { effect: 'deny', why: 'plan mode: only tools that say they are read-only' };
  const rules = context.rules.filter((rule) => isFor(rule, call.tool) && fits(rule, call));
  const denying = rules.find(({ effect }) => effect === 'deny');
  if (denying) return { effect: 'deny', why: named(denying) };
  const asking = rules.find(({ effect }) => effect === 'ask');
  if (asking) return question(named(asking), context);
  // What was answered to a change says nothing of what our server asks about.
  const answers = (rule: PermissionRule) => call.plan?.decision !== 'ask' || rule.at === undefined;
  const allowing = rules.find(
    (rule) => rule.effect === 'allow' && !changeSince(rule, call.tool) && answers(rule),
  );
  if (allowing) return { effect: 'allow', why: named(allowing) };
  return mode === 'yolo' ? { effect: 'allow', why: 'mode yolo' } : undefined;
}

/**
 * Our own server knows what the call would do. In `ask`, changes are asked about that it would make unasked.
 */
function byPlan({ tool }: CheckedCall, plan: CallPlan, context: DecisionContext): PermissionVerdict {
  const { decision, setting, reasons, subject } = plan;
  // Not what runs code or cannot be undone.
  const isChange = plan.effects.includes('write') && hasOnly(plan, 'read', 'write', 'network');
  const act = subject.includes(' ') ? subject : `run(${subject})`;
  // For a change its tool, for anything else just this act; a star would stand for more.
  const allowed = isChange ? `${tool.server}:${tool.tool}` : /[*\p{Cc}\p{Cf}]/u.test(act) ? '' : act;
  const asks = (why: string) => question(why, context, allowed);
  if (decision === 'ask') return asks(reasons.map(({ says }) => says).join('; '));
  if (context.mode === 'ask' && isChange && setting === undefined) return asks('changes something');
  return { effect: 'allow', why: setting ?? `mode ${context.mode}: its server need not ask` };
}

function byAnnotations({ tool }: CheckedCall, context: DecisionContext): PermissionVerdict {
  const { mode, rules } = context;
  const old = rules.find((rule) => rule.effect === 'allow' && isFor(rule, tool) && changeSince(rule, tool));
  const since = old ? `; ${changeSince(old, tool)} since "${ruleText(old)}" was made` : '';
  const asks = (why: string) => question(`${why}${since}`, context, `${tool.server}:${tool.tool}`);
  const { destructiveHint, readOnlyHint, openWorldHint } = tool.trusted ? tool.annotations : {};
  if (destructiveHint === true) return asks('can destroy something');
  if (readOnlyHint === true) return { effect: 'allow', why: 'readOnlyHint of a trusted server' };
  const auto = 'mode auto: a trusted server says that it neither destroys nor reaches out';
  if (mode === 'auto' && destructiveHint === false && openWorldHint === false)
    return { effect: 'allow', why: auto };
  if (tool.changed) return asks('the tool has changed since its server was started');
  return asks(tool.trusted ? 'may change something' : 'its server is not trusted');
}

const readsOnly = ({ tool, plan }: CheckedCall): boolean =>
  plan ? plan.effects.length > 0 && hasOnly(plan, 'read', 'network') : tool.annotations.readOnlyHint === true;

const hasOnly = ({ effects }: CallPlan, ...allowed: readonly string[]): boolean =>
  effects.every((effect) => allowed.includes(effect));

/** Lists for each tool the verdict on a call that no rule about acts fits, its name, and why. */
export const whyRows = (tools: readonly ClientTool[], context: DecisionContext): string[][] =>
  tools.map((tool) => {
    const call = { tool, args: {} };
    const planned = { effect: 'plan', why: 'as its server plans each call' };
    const { effect, why } = tool.plans ? (ruledOn(call, context) ?? planned) : decide(call, context);
    return [effect, inLine(`${tool.server}:${tool.tool}`), inLine(why, 2000)];
  });

/** Tells whether a rule takes a tool away whatever its arguments: the model need not be told of it. */
export const isDeniedWhole = (tool: ClientTool, rules: readonly PermissionRule[]): boolean =>
  rules.some((rule) => rule.effect === 'deny' && rule.act === undefined && isFor(rule, tool));

/**
 * Tells whether a rule is about a tool, what is done with it left aside. Hosts' names, `mcp__…`, are
 * understood, too.
 */
const isFor = (rule: PermissionRule, tool: ClientTool): boolean =>
  matches(rule.server, tool.server) && isNamed(rule.tool, tool);

function named(rule: PermissionRule): string {
  const made = rule.at === undefined ? '' : `, made ${rule.at.slice(0, 10)}`;
  return `rule: ${rule.effect} ${ruleText(rule)} (${rule.source}${made})`;
}

/** Tells whether a call does what a rule is about. */
function fits({ effect, act }: PermissionRule, { args, plan }: CheckedCall): boolean {
  if (act === undefined) return true;
  const done = plan?.subject ?? JSON.stringify(args);
  // A `*` was not written for steps up to other folders.
  if (effect === 'allow' && !plan && done.includes('..') && !act.includes('..')) return false;
  return matches(act, done);
}

/** Names the change since an allow rule was made; undefined when it still holds. */
function changeSince(
  { identity, definitions, tool: name }: PermissionRule,
  tool: ClientTool,
): string | undefined {
  if (identity !== undefined && identity !== tool.identity) return 'the server has changed';
  const isKnown = definitions?.includes(tool.definition) ?? true;
  return isKnown ? undefined : `the tool has changed${name === '*' ? ' or come' : ''}`;
}

/** `allowed`: the rule that would allow it, for whoever starts it again. */
function question(why: string, { interactive, mode }: DecisionContext, allowed = ''): PermissionVerdict {
  if (interactive) return { effect: 'ask', why };
  // As a shell takes it for one word.
  const flag = `rerun with --allow '${allowed.replaceAll("'", String.raw`'\''`)}'`;
  const wayOut = mode === 'plan' || allowed === '' ? 'nobody can be asked' : flag;
  return { effect: 'deny', why: `needs approval; ${wayOut} (${why})`, unasked: true };
}
