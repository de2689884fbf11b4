import { homedir } from 'node:os';
import { sep } from 'node:path';
import { grantsOf, looksOnly, type Reason, type TrustScope, type Verdict } from '../../core/policy.ts';
import type { Plan } from '../../core/tool.ts';
import { isInside } from '../../machine/paths/inside.ts';
import { columnsOf, cutLine, displayLine, quoted, wrapped } from './display-text.ts';

/** An answer that lasts: trust in the folder, or "always" for the act. */
export type LastingAnswer = 'trust' | 'always';

/** A question to a person about a call. */
export interface Question {
  /**
   * Three lines: the act, why it is asked about, where; and then, for who can see more, what would come of
   * it.
   */
  readonly text: string;
  /** Lasting parts of a plain yes: to a question about trust itself, or about reading a database. */
  readonly keeps: readonly LastingAnswer[];
  /**
   * Lasting answers that can be given beside a yes, in words. Nothing is offered for what the lines do not
   * show whole.
   */
  readonly offers: Readonly<Partial<Record<LastingAnswer, string>>>;
  /** The act, and each reason: what the answer is about. */
  readonly about: readonly string[];
}

/** The room that a host has for a question, and the form that it needs. */
export interface QuestionScreen {
  /** Characters of a line; the host cuts off what is longer. */
  readonly width: number;
  /** The host wraps no line. */
  readonly cuts: boolean;
  /** The host accepts a form without a field by itself when it was told to ask nobody. */
  readonly wantsField: boolean;
}

/** Two rows of a narrow terminal: hosts wrap. */
const usual: QuestionScreen = { width: 160, cuts: false, wantsField: false };
/** Screens by the names that clients give themselves. */
const screens: Readonly<Record<string, QuestionScreen>> = {
  // It shows three lines, cuts each at the width of the terminal less four, and wraps none.
  'claude-code': { width: 72, cuts: true, wantsField: false },
  // `codex exec --dangerously-bypass-approvals-and-sandbox` declines a form with a field.
  'codex-mcp-client': { ...usual, wantsField: true },
};
export const screenOf = (client = ''): QuestionScreen =>
  (Object.hasOwn(screens, client) && screens[client]) || usual;

/**
 * True where the second question asks nothing that the first did not: what has been answered meanwhile is
 * asked no more.
 */
export const covers = (asked: readonly string[], now: readonly string[]): boolean =>
  now.every((one) => asked.includes(one));

/** Clients show a message as a whole, and nobody reads more before answering. */
const previewCharacters = 4000;

/** The consequences of trust, in words. */
const opens = 'Its code may run, install packages, use the network, write with git.';

/** A plan, the reasons to ask about it, and the folder that a yes could trust. */
interface QuestionSubject {
  readonly plan: Plan;
  readonly reasons: readonly Reason[];
  readonly scope: TrustScope | undefined;
}

/**
 * The question about a plan, as a person reads it on that screen: about the act alone when there is no reason
 * to ask.
 */
export function questionOf(plan: Plan, verdict: Verdict, screen: QuestionScreen = usual): Question {
  const reasons = verdict.decision === 'ask' ? verdict.reasons : [];
  const { trustScope: scope } = verdict;
  const asked: QuestionSubject = { plan, reasons, scope };
  const canTrust = scope !== undefined && scope.refused === undefined;
  const isTrust = canTrust && reasons.every(({ because }) => because === 'trust');
  const shown = (isTrust ? trustLines(asked, scope, screen) : undefined) ?? actLines(asked, screen);
  const isReading = readingOf(plan, reasons) !== undefined;
  const grants = grantsOf(plan);
  const canLast =
    reasons.some(({ because }) => because !== 'trust') &&
    reasons.every(({ because }) => because !== 'protected' && because !== 'rule');
  const isAlways = shown.isWhole && grants !== undefined && canLast && shown.about === 'act';
  const keeps: LastingAnswer[] =
    shown.about === 'trust' ? ['trust'] : isAlways && isReading ? ['always'] : [];
  return {
    text: [...shown.lines, ...previewLines(plan)].join('\n'),
    keeps,
    offers: {
      ...(shown.about === 'act' &&
        shown.showsFolder &&
        canTrust &&
        !isTrust && { trust: opens.toLowerCase().replace(/\.$/, '') }),
      ...(isAlways && !isReading && { always: alwaysOf(grants.map(({ words }) => words)) }),
    },
    about: [
      JSON.stringify([plan.subject, plan.fingerprint, plan.effects, grants]),
      ...reasons.map(({ because }) => JSON.stringify([because, because === 'trust' && scope])),
    ],
  };
}

interface Lines {
  readonly lines: readonly string[];
  readonly about: 'trust' | 'act';
  /** The act is shown whole, and its folder. */
  readonly isWhole: boolean;
  readonly showsFolder: boolean;
}

/** The question about trust itself; undefined where the folder cannot be shown whole. */
function trustLines(
  { plan }: QuestionSubject,
  subject: TrustScope,
  { width, cuts }: QuestionScreen,
): Lines | undefined {
  const folder = atHome(displayLine(subject.folder));
  const from = subject.origin === undefined ? '' : `from ${displayLine(subject.origin)}`;
  const first = `Trust ${folder}?`;
  const whole = `Trust ${folder}${from && ` ${from}`}?`;
  const why = [...new Set([plan, ...(plan.parts ?? [])].flatMap(({ trust }) => trust ?? []))];
  const act = displayLine(`For ${actOf(plan)}: it ${why.join('; it ')}`);
  const lines = { about: 'trust', isWhole: true, showsFolder: true } as const;
  if (columnsOf(whole) <= width) return { ...lines, lines: [whole, opens, cutLine(act, width)] };
  if (columnsOf(first) <= width)
    return { ...lines, lines: [first, opens, cutLine(from === '' ? act : `${from}. ${act}`, width)] };
  if (!cuts || columnsOf(first) > 2 * width) return undefined;
  return { ...lines, lines: [...wrapped(first, width), opens, ...(from === '' ? [] : [from]), act] };
}

/** The question about the act: this one, this time. */
function actLines({ plan, reasons, scope }: QuestionSubject, { width, cuts }: QuestionScreen): Lines {
  const act = displayLine(actOf(plan));
  const why = displayLine(sentence(reasons, cuts));
  const reading = readingOf(plan, reasons);
  const where = displayLine(reading ? `Yes allows all ${reading}` : `In ${whereOf(plan, scope)}`);
  const fits = (line: string) => columnsOf(line) <= width;
  if (!cuts || fits(act))
    return {
      lines: [act, why, where].map((line) => cutLine(line, width)),
      about: 'act',
      isWhole: (reading !== undefined || fits(act)) && fits(where),
      showsFolder: fits(where),
    };
  // Two lines for the act; folder and reason share the third.
  const last = `${reading ? where : displayLine(`In ${atHome(plan.folder)}`)}. ${why}`;
  const isWhole = (reading !== undefined || columnsOf(act) <= 2 * width) && fits(last);
  return {
    lines: [...wrapped(act, width), cutLine(last, width)],
    about: 'act',
    isWhole,
    showsFolder: fits(last),
  };
}

/** The scope of a yes to a question about reading a database: `reading in ada@db.example.org:5432/shop`. */
const readingOf = ({ effects, grant }: Plan, reasons: readonly Reason[]): string | undefined =>
  looksOnly(effects) && reasons.some(({ because }) => because === 'database') ? grant?.words : undefined;

/**
 * The reasons, what would be lost or seen by others before trust. `isShort`: on a screen that cuts lines off.
 */
function sentence(reasons: readonly Reason[], isShort: boolean): string {
  const isTrust = ({ because }: Reason) => because === 'trust';
  const ordered = [...reasons.filter((one) => !isTrust(one)), ...reasons.filter(isTrust)];
  const clauses = ordered.map(({ says, short }) => (isShort && short) || `it ${says}`);
  const text = `${clauses.join('; ')}.`;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A path as people write it below their home folder. */
function atHome(path: string): string {
  const home = homedir();
  return path.startsWith(home + sep) ? `~${path.slice(home.length)}` : path;
}

const actOf = ({ title, subject }: Plan): string => title ?? subject;

const previewLines = ({ preview }: Plan): string[] =>
  preview === undefined ? [] : ['', quoted(preview, previewCharacters)];

/** The scope of "always"; the act itself stands in the question already. */
const alwaysOf = (words: readonly string[]): string =>
  words.every((one) => one.startsWith('exactly '))
    ? 'exactly this, in this folder'
    : [...new Set(words)].join(' and ');

/** The folder, and what it is: the same path can be another project tomorrow. */
function whereOf({ folder }: Plan, subject: TrustScope | undefined): string {
  if (subject === undefined) return atHome(folder);
  const origin = subject.origin === undefined ? '' : ` from ${subject.origin}`;
  if (folder === subject.folder) return `${atHome(folder)}${origin}`;
  const relation = isInside(folder, subject.folder) ? 'of' : 'with';
  return `${atHome(folder)}, ${relation} ${atHome(subject.folder)}${origin}`;
}
