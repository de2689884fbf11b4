import { timingSafeEqual } from 'node:crypto';
import type { Reason, Verdict } from '../core/policy.ts';
import { ToolcribError } from '../core/errors.ts';
import type { Plan } from '../core/tool.ts';
import type { Ask } from './ask.ts';
import { covers, type Question } from './question.ts';
import { UsedOnce } from './used-once.ts';

/** A plan, as a host gets it that asks its user by itself. */
export interface HandedPlan extends Pick<Plan, 'subject' | 'folder' | 'effects' | 'takenBack'> {
  readonly preview: string | undefined;
  readonly decision: Verdict['decision'];
  /** What decided, when a setting did. */
  readonly setting: string | undefined;
  readonly reasons: readonly Reason[];
  /** When it has to be asked about: the three lines and the preview, as they stand. */
  readonly question: string | undefined;
  /** What "always" would cover, in words. */
  readonly always: string | undefined;
  /** Handed back with the call, once, it says that a person has agreed to this plan. */
  readonly ticket: string | undefined;
}

/** What a call carries of a host that has the key. */
export interface HostWord {
  /** Only the plan is wanted. */
  readonly plansOnly: boolean;
  readonly ticket: string | undefined;
  /** `once`: nobody was asked, a rule or a flag of the host says so. Nothing is kept for it, trust neither. */
  readonly said: 'once' | 'yes' | 'always';
}

/** Plans for the one host that has the key of this server: it asks its user itself, and we never do. */
export interface HandedPlans {
  /** What a call's `_meta` says; undefined for one without the key, with which nothing is handed out or agreed to. */
  wordIn(meta: unknown): HostWord | undefined;
  hand(plan: Plan, verdict: Verdict, question: Question | undefined): HandedPlan;
  /** What the host's word is worth to a question. */
  asker(word: HostWord | undefined): Ask;
}

/** A person may come back from lunch first. */
const lifetimeMs = 600_000;
const mostOutstanding = 1000;

export function createHandedPlans(key: string): HandedPlans {
  const tickets = new UsedOnce<readonly string[]>(lifetimeMs, mostOutstanding);
  return {
    wordIn(meta) {
      const word = (meta ?? {}) as Record<string, unknown>;
      const [given, ticket, said] = ['key', 'ticket', 'said'].map((name) => word[`toolcrib/${name}`]);
      if (typeof given !== 'string' || !isSame(given, key)) return undefined;
      return {
        plansOnly: word['toolcrib/plan'] === true,
        ticket: typeof ticket === 'string' ? ticket : undefined,
        said: said === 'always' || said === 'yes' ? said : 'once',
      };
    },
    hand: ({ subject, folder, effects, takenBack, preview }, verdict, question) => ({
      subject,
      folder,
      effects,
      takenBack,
      preview,
      decision: verdict.decision,
      setting: 'setting' in verdict ? verdict.setting : undefined,
      reasons: verdict.decision === 'ask' ? verdict.reasons : [],
      question: question?.text,
      always: question?.always,
      ticket: question && tickets.issue(question.about),
    }),
    asker: (word) => (question) => {
      if (word?.ticket === undefined) return Promise.resolve({ said: 'nothing', why: 'cannot be asked' });
      if (covers(tickets.use(word.ticket) ?? [], question.about))
        return Promise.resolve({
          said: word.said === 'always' ? 'always' : 'yes',
          read: word.said !== 'once',
        });
      throw new ToolcribError(
        'NOT_CONFIRMED',
        'The call was not run: what was agreed to is not what it would do now, or is too old.',
        'Make the call again: the person is asked anew.',
      );
    },
  };
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
