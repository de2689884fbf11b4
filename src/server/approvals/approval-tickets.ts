import { timingSafeEqual } from 'node:crypto';
import type { Verdict } from '../../core/policy.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { Plan } from '../../core/tool.ts';
import type { AskPerson } from './ask.ts';
import { covers, type LastingAnswer, type Question } from './question.ts';
import { OneTimeTokens } from './one-time-tokens.ts';

/** The word of a host that has the key, as a call carries it. */
export interface HostApproval {
  /** Only the plan is wanted. */
  readonly plansOnly: boolean;
  readonly ticket: string | undefined;
  /**
   * `once`: nobody was asked, a rule or a flag of the host says so. Nothing is kept for it, trust neither.
   */
  readonly said: 'once' | 'yes' | LastingAnswer;
}

/** Plans for the one host that has the key of this server: it asks its user itself, and we never do. */
export interface ApprovalTickets {
  /**
   * The word in a call's `_meta`; undefined for one without the key, with which nothing is handed out or
   * agreed to.
   */
  wordIn(meta: unknown): HostApproval | undefined;
  /** A plan, as a host gets it that asks its user by itself. */
  hand(plan: Plan, verdict: Verdict, question: Question | undefined): object;
  /** Takes the ticket of a call for the person's answer. */
  asker(word: HostApproval | undefined): AskPerson;
}

/** A person may come back from lunch first. */
const lifetimeMs = 600_000;
const mostOutstanding = 1000;

export function createApprovalTickets(key: string): ApprovalTickets {
  const tickets = new OneTimeTokens<readonly string[]>(lifetimeMs, mostOutstanding);
  return {
    wordIn(meta: unknown): HostApproval | undefined {
      const word = (meta ?? {}) as Record<string, unknown>;
      const [given, ticket, said] = ['key', 'ticket', 'said'].map((name) => word[`toolcrib/${name}`]);
      if (typeof given !== 'string' || !isSame(given, key)) return undefined;
      return {
        plansOnly: word['toolcrib/plan'] === true,
        ticket: typeof ticket === 'string' ? ticket : undefined,
        said: said === 'always' || said === 'trust' || said === 'yes' ? said : 'once',
      };
    },
    hand: (
      { subject, folder, effects, isUndoable, preview }: Plan,
      verdict: Verdict,
      question: Question | undefined,
    ) => ({
      subject,
      folder,
      effects,
      takenBack: isUndoable,
      preview,
      decision: verdict.decision,
      /** The setting that decided, when one did. */
      setting: 'setting' in verdict ? verdict.setting : undefined,
      reasons: verdict.decision === 'ask' ? verdict.reasons : [],
      /** The three lines and the preview, as they stand, of a plan that has to be asked about. */
      question: question?.text,
      /** Answers that last, and what each covers, in words. */
      offers: question?.offers ?? {},
      /** Handed back with the call, once, it says that a person has agreed to this plan. */
      ticket: question && tickets.issue(question.about),
    }),
    asker:
      (word: HostApproval | undefined): AskPerson =>
      (question) => {
        if (word?.ticket === undefined) return Promise.resolve({ kind: 'nothing', why: 'cannot be asked' });
        if (covers(tickets.use(word.ticket) ?? [], question.about))
          return Promise.resolve({ kind: 'yes', keep: keptOf(word.said, question) });
        throw new ToolcribError(
          'NOT_CONFIRMED',
          'The call was not run: what was agreed to is not what it would do now, or is too old.',
          'Make the call again: the person is asked anew.',
        );
      },
  };
}

/** The lasting parts of an answer: those of a yes to the question, and those chosen of its offers. */
function keptOf(said: HostApproval['said'], { keeps, offers }: Question): readonly LastingAnswer[] {
  if (said === 'once') return [];
  return said !== 'yes' && offers[said] !== undefined ? [...keeps, said] : keeps;
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
