import { grantsOf, looksOnly, type Reason } from '../core/policy.ts';
import type { Plan } from '../core/tool.ts';
import { isInside } from '../machine/paths/inside.ts';
import type { Protected } from '../machine/paths/protected-paths.ts';
import type { TrustSubject } from '../machine/trust/trust.ts';
import { cutLine, inOneLine, quoted, wrapped } from './shown-text.ts';

/** An answer that lasts: trust in the folder, or "always" for the act. */
export type Keep = 'trust' | 'always';

/** What a person is asked about a call. */
export interface Question {
  /** Three lines: the act, why it is asked about, where; and then, for who can see more, what would come of it. */
  readonly text: string;
  /** What a plain yes keeps: of a question that is about trust itself, or about reading a database. */
  readonly keeps: readonly Keep[];
  /** What can be said beside a yes, in words. Nothing is offered for what the lines do not show whole. */
  readonly offers: Readonly<Partial<Record<Keep, string>>>;
  /** The act, and each reason: what the answer is about. */
  readonly about: readonly string[];
}

export interface Asked {
  readonly plan: Plan;
  readonly reasons: readonly Reason[];
  /** What a yes could trust; undefined when trust is no reason to ask. */
  readonly subject: TrustSubject | undefined;
  /** What it writes although others run or obey it. */
  readonly protects: readonly Protected[];
}

/** How much of a question a host shows. */
export interface Screen {
  /** Characters of a line; the host cuts off what is longer. */
  readonly width: number;
  /** The host wraps no line. */
  readonly cuts: boolean;
}

/** Claude Code shows three lines, cuts each at the width of the terminal less four, and wraps none. */
const narrow: Screen = { width: 72, cuts: true };
/** Two rows of a narrow terminal: other hosts wrap. */
const usual: Screen = { width: 160, cuts: false };

/** The screen of a client, by how it calls itself. */
export const screenOf = (client: string | undefined): Screen => (client === 'claude-code' ? narrow : usual);

/** Whether who was asked one thing was asked the other as well: what has been answered meanwhile is asked no more. */
export const covers = (asked: readonly string[], now: readonly string[]): boolean =>
  now.every((one) => asked.includes(one));

/** Clients show a message as a whole, and nobody reads more before answering. */
const previewCharacters = 4000;

/** What trust opens. */
const opens = 'Its code may run, install packages, use the network, write with git.';

/** The question about a call, as a person reads it on that screen. */
export function questionOf(asked: Asked, screen: Screen = usual): Question {
  const { plan, reasons, subject } = asked;
  const canTrust = subject !== undefined && subject.refused === undefined;
  const isTrust = canTrust && reasons.every(({ because }) => because === 'trust');
  const shown = (isTrust ? trustLines(asked, subject, screen) : undefined) ?? actLines(asked, screen);
  const isReading = reasons.some(({ because }) => because === 'database') && looksOnly(plan.effects);
  const grants = grantsOf(plan);
  const canLast =
    reasons.some(({ because }) => because !== 'trust') &&
    reasons.every(({ because }) => because !== 'protected' && because !== 'rule');
  const isAlways = shown.isWhole && grants !== undefined && canLast && shown.about === 'act';
  const keeps: Keep[] = shown.about === 'trust' ? ['trust'] : isAlways && isReading ? ['always'] : [];
  return {
    text: [...shown.lines, ...previewLines(plan)].join('\n'),
    keeps,
    offers: {
      ...(shown.about === 'act' &&
        canTrust &&
        !isTrust && { trust: `trust ${subject.folder}: ${opens.toLowerCase()}` }),
      ...(isAlways && !isReading && { always: alwaysOf(grants.map(({ words }) => words)) }),
    },
    about: [
      JSON.stringify([plan.subject, plan.exactly, plan.effects, grants]),
      ...reasons.map(({ because }) => JSON.stringify([because, because === 'trust' && subject])),
    ],
  };
}

interface Lines {
  readonly lines: readonly string[];
  readonly about: 'trust' | 'act';
  /** The act is shown whole. */
  readonly isWhole: boolean;
}

/** The question about trust itself; undefined where the folder cannot be shown whole. */
function trustLines({ plan, reasons }: Asked, subject: TrustSubject, { width }: Screen): Lines | undefined {
  const folder = inOneLine(subject.folder);
  const from = subject.origin === undefined ? '' : `from ${inOneLine(subject.origin)}`;
  if (`Trust ${folder}?`.length > width) return undefined;
  const whole = `Trust ${folder}${from && ` ${from}`}?`;
  const isJoined = whole.length <= width;
  const act = `For ${inOneLine(actOf(plan))}. ${sentence(reasons)}`;
  const lines = [
    isJoined ? whole : `Trust ${folder}?`,
    opens,
    cutLine(isJoined ? act : `${from}. ${act}`, width),
  ];
  return { lines, about: 'trust', isWhole: true };
}

/** The question about the act: this one, this time. */
function actLines({ plan, reasons, subject }: Asked, { width, cuts }: Screen): Lines {
  const act = inOneLine(actOf(plan));
  const why = inOneLine(sentence(reasons));
  const where = inOneLine(`In ${whereOf(plan, subject)}`);
  const isLong = cuts && act.length > width;
  const lines = isLong
    ? // Two lines for the act; reason and folder share the third.
      [...wrapped(cutLine(act, 2 * width), width), cutLine(`${why} ${where}`, width)]
    : [act, why, where].map((line) => cutLine(line, width));
  return { lines, about: 'act', isWhole: act.length <= (isLong ? 2 : 1) * width };
}

const sentence = (reasons: readonly Reason[]): string =>
  `It ${reasons.map(({ says }) => says).join('; it ')}.`;

const actOf = ({ title, subject }: Plan): string => title ?? subject;

const previewLines = ({ preview }: Plan): string[] =>
  preview === undefined ? [] : ['', quoted(preview, previewCharacters)];

/** What "always" would be kept for; the act itself stands in the question already. */
const alwaysOf = (words: readonly string[]): string =>
  words.every((one) => one.startsWith('exactly '))
    ? 'exactly this, in this folder'
    : [...new Set(words)].join(' and ');

/** The folder, and what it is: the same path can be another project tomorrow. */
function whereOf({ folder }: Plan, subject: TrustSubject | undefined): string {
  if (subject === undefined) return folder;
  const origin = subject.origin === undefined ? '' : ` from ${subject.origin}`;
  if (folder === subject.folder) return `${folder}${origin}`;
  return `${folder}, ${isInside(folder, subject.folder) ? 'of' : 'with'} ${subject.folder}${origin}`;
}
