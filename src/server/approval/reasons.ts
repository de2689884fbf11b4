import { questionsOf, type AskReason, type Policy, type Question, type Subject } from '../../core/policy.ts';

/** Why a person has to be asked, and the setting that says so when it is one. */
export type Reason = Question;

/** These stand for all that the call can do: who lets any program run has let it destroy and execute. */
const covering: ReadonlySet<AskReason> = new Set(['command', 'script']);

/**
 * All there is to ask a person about a call that is not denied, each reason once: an answer, and the leave to go on when
 * nobody can be asked, has to be about all of it. Pure.
 */
export function reasonsToAsk(subject: Subject, policy: Policy): Reason[] {
  const { asks, ...itself } = subject;
  const hidden = asks === undefined || covering.has(asks) ? [] : questionsOf(itself, policy);
  const found = [...questionsOf(subject, policy), ...hidden];
  return [...new Map(found.map((reason) => [nameOf(reason), reason])).values()];
}

/** Two settings that ask are two reasons, since each may be there for another one. */
export const nameOf = ({ because, setting = '' }: Reason): string =>
  because === 'rule' ? `rule ${setting}` : because;

const words: Readonly<Record<AskReason, string>> = {
  destroy: 'it can lose work for good',
  execute: 'it runs code of this project, and nobody trusts the project as it is now',
  protected: 'it changes a file that other programs run or obey',
  command: 'it runs a program that none of the actions describes',
  script: 'it runs a script that was written for it',
  rule: 'the settings say so',
};

/** Why a person is asked, as the second half of a sentence. */
export const reasonsInWords = (reasons: readonly AskReason[]): string =>
  [...new Set(reasons)].map((because) => words[because]).join('; ');
