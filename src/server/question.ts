import { lastingOf, type Reason } from '../core/policy.ts';
import type { Plan } from '../core/tool.ts';
import { isInside } from '../machine/paths/inside.ts';
import type { Protected } from '../machine/paths/protected-paths.ts';
import { lastingInWords, type TrustSubject } from '../machine/trust/trust.ts';
import { inOneLine, quoted } from './shown-text.ts';

/** What a person is asked about a call. */
export interface Question {
  /** Three lines: the act, why it is asked about, where; and then, for who can see more, what would come of it. */
  readonly text: string;
  /** What "always" would cover, in words; undefined when nothing lasting can be said. */
  readonly always?: string;
  /** Whether a yes trusts the folder from then on. */
  readonly trusts: boolean;
  /** The act, and each reason: what the answer is about. */
  readonly about: readonly string[];
}

export interface Asked {
  readonly plan: Plan;
  readonly reasons: readonly Reason[];
  /** What a yes trusts; undefined when trust is not what is asked for. */
  readonly subject: TrustSubject | undefined;
  /** What it writes although others run or obey it. */
  readonly protects: readonly Protected[];
}

/** Whether who was asked one thing was asked the other as well: what has been answered meanwhile is asked no more. */
export const covers = (asked: readonly string[], now: readonly string[]): boolean =>
  now.every((one) => asked.includes(one));

/** Two rows of a narrow terminal: hosts show three lines, and nothing expands them. */
const actCharacters = 160;
const reasonCharacters = 200;
const folderCharacters = 160;
/** Clients show a message as a whole, and nobody reads more before answering. */
const previewCharacters = 4000;

/** The question about a call, as a person reads it. */
export function questionOf({ plan, reasons, subject }: Asked): Question {
  const act = inOneLine(plan.subject, Infinity);
  const shown = inOneLine(plan.subject, actCharacters);
  const onlyTrust = reasons.every(({ because }) => because === 'trust');
  const whole = subject?.folder ?? plan.folder;
  const folder = inOneLine(whole, folderCharacters);
  const trusting =
    subject !== undefined && subject.refused === undefined && folder === inOneLine(whole, Infinity);
  const first = onlyTrust && trusting ? `trust ${folder}, to run: ${shown}` : shown;
  const lasting = lastingOf(plan);
  // Nothing is kept for what the lines do not show.
  const canLast =
    lasting !== undefined &&
    shown === act &&
    reasons.every(({ because }) => because !== 'protected' && because !== 'rule') &&
    !onlyTrust;
  return {
    text: [
      first,
      inOneLine(whyOf(reasons, trusting && folder), reasonCharacters),
      inOneLine(`in ${whereOf(plan, subject)}`, folderCharacters),
      ...(plan.preview ? ['', quoted(plan.preview, previewCharacters)] : []),
    ].join('\n'),
    ...(canLast && { always: lasting.map(lastingInWords).join(' and ') }),
    trusts: trusting,
    about: [
      JSON.stringify([plan.subject, plan.exactly, plan.effects, lasting]),
      ...reasons.map(({ because }) => JSON.stringify([because, because === 'trust' && subject])),
    ],
  };
}

const whyOf = (reasons: readonly Reason[], trusting: string | false): string =>
  `It ${reasons.map(({ says }) => says).join('; it ')}.${trusting ? ' Yes trusts it from now on.' : ''}`;

/** The folder, and what it is: the same path can be another project tomorrow. */
function whereOf({ folder }: Plan, subject: TrustSubject | undefined): string {
  if (subject === undefined) return folder;
  const origin = subject.origin === undefined ? '' : ` (${subject.origin})`;
  if (folder === subject.folder) return `${folder}${origin}`;
  return `${folder}, ${isInside(folder, subject.folder) ? 'of' : 'with'} ${subject.folder}${origin}`;
}
