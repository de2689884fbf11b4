import { printable } from '../../core/command-line.ts';
import { asksEachTime, reasonsFor, type Reason, type TrustScope, type Verdict } from '../../core/policy.ts';
import type { Plan } from '../../core/tool.ts';
import { ToolcribError } from '../../core/errors.ts';
import { ownCommandLine } from './own-command.ts';

/** The reason why nobody has answered. */
export type NoAnswerReason = 'cannot be asked' | 'answered at once';

/** Nobody was there to ask; names what a person can do about it, as it is typed on this installation. */
export function unansweredError(
  tool: string,
  plan: Plan,
  verdict: Verdict,
  why: NoAnswerReason,
): ToolcribError {
  const reasons = reasonsFor(verdict);
  const said =
    why === 'cannot be asked'
      ? 'a person has to be asked, and this client cannot ask one'
      : 'a person has to be asked, and nobody was there: the answer came faster than anybody reads';
  return new ToolcribError(
    'NEEDS_CONFIRM',
    `${tool} was not run: ${said}. It ${reasons.map(({ says }) => says).join('; it ')}.`,
    `What a person can do: ${waysOut(plan, reasons, verdict.trustScope).join('; and ')}.`,
  );
}

/**
 * The refusal of a call that the settings deny; where a person could have been asked, it says what allows it.
 */
export function deniedError(
  tool: string,
  plan: Plan,
  { setting, unasked = [], trustScope }: Extract<Verdict, { decision: 'deny' }>,
): ToolcribError {
  const ways = unasked.length > 0 ? waysOut(plan, unasked, trustScope) : [];
  return new ToolcribError(
    'EFFECT_DENIED',
    `${tool} is not allowed: ${setting}.`,
    ways.length > 0 ? `What a person can do: ${ways.join('; and ')}.` : '',
  );
}

/** The commands that help a person with each reason, as they are typed on this installation. */
function waysOut(plan: Plan, reasons: readonly Reason[], scope: TrustScope | undefined): string[] {
  const { protects = [] } = plan;
  const trusts = scope !== undefined && scope.refused === undefined;
  // Nothing allows what a rule says to ask about.
  if (reasons.some(({ because }) => because === 'rule'))
    return ['take that rule away, or use a client that can ask'];
  const others = reasons.filter(({ because }) => because !== 'trust' || !trusts);
  // A rule for an act allows all of it, but for a protected file.
  if (others.length > 0 && plan.wayOut === undefined && protects.length === 0) return [ruleFor(plan)];
  const ways =
    trusts && others.length < reasons.length
      ? [`${ownCommandLine()} trust ${printable([scope.folder])}`]
      : [];
  if (others.length === 0) return ways;
  return [...ways, plan.wayOut ?? ruleFor(plan)];
}

/** The rule that fits exactly this act; where none would, the person does it. */
function ruleFor(plan: Plan): string {
  const [first] = plan.protects ?? [];
  const acts = (plan.parts ?? []).filter(asksEachTime);
  const subject = acts[0]?.subject ?? plan.subject;
  const pattern = first ? `write(${first.path})` : `run(${subject})`;
  // Of several acts each rule would fit one alone; a star or a line break cannot be written into one.
  const isExact = acts.length < 2 && pattern.length <= 300 && !/[*\p{Cc}\p{Cf}]/u.test(pattern);
  if (!isExact || first?.isSettings) return 'do it in a terminal, or use a client that can ask';
  return `start the server with --rule ${printable([`${pattern}=allow`])}, or use a client that can ask`;
}

export const refusedError = (tool: string): ToolcribError =>
  new ToolcribError(
    'NOT_CONFIRMED',
    `${tool} was not run: the person was asked, and did not say yes.`,
    'Do not try it another way; ask what they would rather have.',
  );

export const changedError = (tool: string): ToolcribError =>
  new ToolcribError(
    'NOT_CONFIRMED',
    `${tool} was not run: what it would do changed while the person was asked.`,
    'Make the call again: the person is asked anew.',
  );
