import { printable } from '../core/command-line.ts';
import { ToolcribError } from '../core/errors.ts';
import { lastingOf, type Reason } from '../core/policy.ts';
import type { Plan } from '../core/tool.ts';
import type { AuditDecision } from '../machine/audit/audit.ts';
import type { Answer } from './ask.ts';
import { consider, type CheckedCall, type Considered, type Deciding } from './consider.ts';
import { ownCommandLine } from './own-command.ts';
import { covers, questionOf, type Question } from './question.ts';
import { changedMeanwhile, refused, unanswered } from './refusals.ts';

/** For the record of a call. */
export interface Decided {
  decision?: AuditDecision;
  setting?: string;
  folder?: string;
}

/** Gives up the place among the calls that are made at a time, for as long as a person thinks. */
export type Pause = <T>(wait: () => Promise<T>) => Promise<T>;

export type Permission =
  | { readonly kind: 'allowed'; readonly considered: Considered }
  /** The client asks, and makes the call again. */
  | { readonly kind: 'later'; readonly result: Extract<Answer, { said: 'later' }>['result'] };

/**
 * Whether a call may be made, having asked a person if it must. Throws EFFECT_DENIED, NEEDS_CONFIRM, NOT_CONFIRMED, and
 * what planning throws.
 */
export async function permission(
  call: CheckedCall,
  deciding: Deciding,
  decided: Decided,
  pause: Pause,
): Promise<Permission> {
  const { name } = call.published;
  const considered = await consider(call, deciding, false);
  const { plan, verdict } = considered;
  decided.folder = plan.folder;
  if (verdict.decision === 'allow') {
    decided.decision = verdict.unasked ? 'unasked' : 'allow';
    if (verdict.setting !== undefined) decided.setting = verdict.setting;
    return { kind: 'allowed', considered };
  }
  decided.decision = 'denied';
  if (verdict.decision === 'deny') {
    decided.setting = verdict.setting;
    throw new ToolcribError(
      'EFFECT_DENIED',
      `${name} is not allowed: ${verdict.setting}.`,
      trusting(verdict, plan),
    );
  }
  const { shown, question, reasons } = await asked(call, deciding);
  const answer = await pause(() => call.caller.ask(question));
  if (answer.said === 'later') return { kind: 'later', result: answer.result };
  decided.decision = outcomeOf(answer);
  if (answer.said === 'nothing') throw unanswered(name, { ...shown, reasons }, answer.why);
  if (answer.said === 'no') throw refused(name);
  // Long enough to change what was agreed to.
  const now = await asked(call, deciding);
  if (!covers(question.about, now.question.about)) throw changedMeanwhile(name);
  const isAlways = answer.said === 'always' && question.always !== undefined;
  if (answer.read) await keep(now, isAlways, call, deciding);
  return { kind: 'allowed', considered: now.shown };
}

/** What a person would be asked now: about the act alone when there is no reason any more. Throws when it is denied. */
async function asked(
  call: CheckedCall,
  deciding: Deciding,
): Promise<{ shown: Considered; question: Question; reasons: readonly Reason[] }> {
  const shown = await consider(call, deciding, true);
  const { verdict } = shown;
  if (verdict.decision === 'deny') throw changedMeanwhile(call.published.name);
  const reasons = verdict.decision === 'ask' ? verdict.reasons : [];
  return { shown, question: questionOf({ ...shown, reasons }), reasons };
}

/** For the record: what nobody has read is told apart from what a person said. */
/** What lets a call through that only lacks trust, where nobody is asked. */
const trusting = ({ setting }: { readonly setting: string }, { folder, trust }: Plan): string =>
  trust !== undefined && setting.includes('is not trusted yet')
    ? `A person can trust the folder: ${ownCommandLine()} trust ${printable([folder])}`
    : '';

function outcomeOf(answer: Exclude<Answer, { said: 'later' }>): AuditDecision {
  if (answer.said === 'nothing') return 'unanswered';
  return answer.said !== 'no' && !answer.read ? 'asked:once' : `asked:${answer.said}`;
}

/** Keeps what was said for longer. That it cannot be kept is no reason to refuse what was agreed to. */
async function keep(
  { shown: { plan, subject }, question }: { shown: Considered; question: Question },
  isAlways: boolean,
  { caller }: CheckedCall,
  deciding: Deciding,
): Promise<void> {
  const trust = await deciding.trust();
  try {
    if (subject && question.trusts) {
      await trust.trust(subject.folder);
      deciding.trusted(plan.folder, caller.workspace);
    }
    if (!isAlways) return;
    const { folder } = subject ?? (await trust.subjectOf(plan.folder, caller.workspace.roots));
    for (const lasting of lastingOf(plan) ?? [])
      if (!(await trust.always.has(folder, lasting))) await trust.always.add(folder, lasting);
  } catch (error) {
    process.stderr.write(`toolcrib: the answer could not be kept: ${String(error)}\n`);
  }
}
