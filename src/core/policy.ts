import type { Effect } from './discoverer.ts';
import { fits, isAboutPaths, type Rule } from './rule.ts';
import type { Settings } from './settings.ts';
import type { Grant, Plan, ProtectedPath } from './tool.ts';

/** A plan, as far as it is decided about. */
export interface Act extends Pick<
  Plan,
  'effects' | 'subject' | 'host' | 'trust' | 'approval' | 'isUndoable' | 'grant' | 'paths'
> {
  /** The tools that are called; several when one stands for another. */
  readonly tools: readonly string[];
  /** The toolset the tool belongs to; undefined for those that belong to each. */
  readonly toolset?: string | undefined;
  readonly protects: readonly ProtectedPath[];
}

/** The settings that decide. */
export type Policy = Pick<
  Settings,
  'readOnly' | 'toolsets' | 'rules' | 'questions' | 'origins' | 'unreadable'
>;

/** Lasting answers of a person. */
export interface LastingAnswers {
  /** True when the folder of the act is trusted. */
  readonly trusted: boolean;
  /** "Always" was said to the act's grant, at effects no weaker than these. */
  readonly always: boolean;
}

export const askReasons = [
  'trust',
  'destroy',
  'publish',
  'program',
  'database',
  'protected',
  'rule',
] as const;
export type AskReason = (typeof askReasons)[number];

/** A reason to ask a person, as the rest of a sentence. */
export interface Reason {
  readonly because: AskReason;
  readonly says: string;
  /** A clause of its own, for who shows little. */
  readonly short?: string;
}

/** The subject of trust: a folder that a yes would be about. */
export interface TrustScope {
  /**
   * Real path: the top of the nearest repository inside the root that holds it; else that root; else the
   * folder.
   */
  readonly folder: string;
  /**
   * The address of the repository's remote "origin", without credentials in it; undefined when it has none.
   */
  readonly origin?: string;
  /**
   * The reason why it can never be trusted, as the rest of a sentence: it is or holds the home folder, or is
   * the root.
   */
  readonly refused?: string;
}

/** The decision about a call. */
export type Verdict = (
  | { readonly decision: 'ask'; readonly reasons: readonly Reason[] }
  /** `unasked`: there were reasons to ask, but nobody is. */
  | { readonly decision: 'allow'; readonly unasked?: readonly Reason[]; readonly setting?: string }
  /** `unasked`: a person could have allowed it, and nobody is asked. */
  | { readonly decision: 'deny'; readonly setting: string; readonly unasked?: readonly Reason[] }
) & {
  /** The folder that a yes could trust; left out when trust is no reason to ask, or of several folders. */
  readonly trustScope?: TrustScope;
};

/** The reasons for which a person was to be asked, whoever asks. */
export const reasonsFor = (verdict: Verdict): readonly Reason[] =>
  verdict.decision === 'ask' ? verdict.reasons : (verdict.unasked ?? []);

/**
 * Decides about a call: the strictest of what the settings say; where they say nothing, the table of
 * questions. A rule that allows a call takes the usual questions away, but for protected files only one about
 * that path does. Pure.
 */
export function decide(act: Act, policy: Policy, known: LastingAnswers): Verdict {
  const denied = refusalOf(act, policy) ?? ruleFor(act, policy, 'deny')?.setting;
  if (denied !== undefined) return { decision: 'deny', setting: denied };
  const asking = ruleFor(act, policy, 'ask');
  const reasons = [
    ...usualReasons(act, policy, known),
    ...(asking ? [{ because: 'rule' as const, says: `fits a rule that asks (${asking.setting})` }] : []),
  ];
  const allowing = ruleFor(act, policy, 'allow')?.setting;
  if (reasons.length === 0)
    return { decision: 'allow', ...(allowing !== undefined && { setting: allowing }) };
  // To mend that file, or another that others run, is all that a person is still asked about.
  if (policy.unreadable !== undefined && reasons.some(({ because }) => because !== 'protected'))
    return { decision: 'deny', setting: policy.unreadable };
  if (policy.questions === 'server') return { decision: 'ask', reasons };
  return unasked(act, policy, reasons);
}

/** The verdict on a call that consists of several acts: the strictest. Pure. */
export function strictest(verdicts: readonly Verdict[]): Verdict {
  const denied = verdicts.find(({ decision }) => decision === 'deny');
  if (denied) return denied;
  const reasons = verdicts.flatMap((one) => (one.decision === 'ask' ? one.reasons : []));
  const distinct = [...new Map(reasons.map((reason) => [reason.says, reason])).values()];
  if (distinct.length > 0) return { decision: 'ask', reasons: distinct };
  const unasked = verdicts.flatMap((one) => (one.decision === 'allow' ? (one.unasked ?? []) : []));
  const [first] = verdicts;
  return {
    decision: 'allow',
    ...(unasked.length > 0 && { unasked }),
    ...(first?.decision === 'allow' && first.setting !== undefined && { setting: first.setting }),
  };
}

/**
 * The one table of questions; docs/safety.md has it in words. Where several rows apply, one question says
 * all.
 */
function usualReasons(act: Act, { rules }: Policy, { trusted, always }: LastingAnswers): Reason[] {
  const { effects, approval, trust, protects, grant } = act;
  const isAgreed = always && grant !== undefined;
  // What it could lose or publish is no further question.
  const can = (effect: Effect) => effects.includes(effect) && approval !== 'program' && !isAgreed;
  const effect = protects[0]?.effect ?? '';
  const table: readonly (readonly [applies: boolean, because: AskReason, says: string, short?: string])[] = [
    [
      trust !== undefined && !trusted,
      'trust',
      `${trust}, and this folder is not trusted yet`,
      'this folder is not trusted',
    ],
    [can('destroy') && !act.isUndoable, 'destroy', 'can lose work that nothing brings back'],
    [can('publish'), 'publish', 'changes what others see'],
    [
      approval === 'program' && !isAgreed,
      'program',
      'runs a command that trust in the folder does not cover',
      'it is more than trust in the folder covers',
    ],
    [approval === 'database' && !isAgreed, 'database', databaseSays(effects)],
    [
      // A dry run changes nothing.
      protects.length > 0 && !looksOnly(effects),
      'protected',
      `changes a file that matters elsewhere: ${effect}`,
      effect,
    ],
  ];
  // A rule about its path opens a protected file, and opens nothing else; every other rule opens all but
  // that.
  const allowing = rules.filter(({ decision, pattern }) => decision === 'allow' && fits(pattern, act));
  const isOpen = (because: AskReason) =>
    !(because === 'protected' && isAboutSettings(act)) &&
    allowing.some(({ pattern }) => isAboutPaths(pattern) === (because === 'protected'));
  return table.flatMap(([applies, because, says, short]) =>
    applies && !isOpen(because) ? [{ because, says, ...(short && { short }) }] : [],
  );
}

const databaseSays = (effects: readonly Effect[]): string =>
  looksOnly(effects) ? 'reads with a login that may also write' : 'can change a database';

/** The settings of a project are mended by a person's yes, and opened by no rule or mode. */
const isAboutSettings = ({ protects }: Act): boolean => protects.some(({ isSettings }) => isSettings);

/** The reasons for which a host's own question before the call stands, when the person has let it ask. */
const askedByHost: ReadonlySet<AskReason> = new Set(['trust', 'program']);

/** Decides where we ask nobody: the host has asked, or nobody is there. */
function unasked(act: Act, { questions: mode }: Policy, reasons: readonly Reason[]): Verdict {
  const setting = `--questions ${mode}`;
  const refused = reasons.filter(({ because }) =>
    mode === 'host'
      ? !askedByHost.has(because)
      : because === 'rule' || (because === 'protected' && isAboutSettings(act)),
  );
  // Hosts do not ask about what the annotations call read-only.
  const open = looksOnly(act.effects) ? reasons : refused;
  if (open.length === 0) return { decision: 'allow', unasked: reasons, setting };
  const why = open.map(({ says }) => says).join('; it ');
  return { decision: 'deny', setting: `it ${why}, and ${setting} asks nobody about that`, unasked: open };
}

/** An act that a person allows from now on, at the effects that it had when it was read. */
export interface GrantWithEffects extends Grant {
  readonly effects: readonly Effect[];
}

/** All that "always" would be kept for; undefined where not all that is asked each time can last. */
export function grantsOf({ parts, ...plan }: Plan): readonly GrantWithEffects[] | undefined {
  const asked = (parts ?? [plan]).filter(asksEachTime);
  const granted = asked.flatMap(({ grant, effects }) => (grant ? [{ ...grant, effects }] : []));
  return granted.length > 0 && granted.length === asked.length ? granted : undefined;
}

/** True for an act about which there could be more to ask than trust in its folder. */
export const asksEachTime = ({ approval, effects }: Pick<Plan, 'approval' | 'effects'>): boolean =>
  approval !== undefined || effects.includes('destroy') || effects.includes('publish');

/** True for effects that change nothing here, though they may ask another machine. */
export const looksOnly = (effects: readonly Effect[]): boolean =>
  effects.every((effect) => effect === 'read' || effect === 'network');

const ruleFor = (act: Act, { rules }: Policy, decision: Rule['decision']): Rule | undefined =>
  rules.find((rule) => rule.decision === decision && fits(rule.pattern, act));

/** The setting by which nothing of this kind is ever done; undefined when it may be. Pure. */
export function refusalOf(
  { effects, toolset }: Pick<Act, 'effects' | 'toolset'>,
  { readOnly, toolsets, origins }: Pick<Policy, 'readOnly' | 'toolsets' | 'origins'>,
): string | undefined {
  const where = (setting: string, otherwise: string) => origins?.[setting] ?? otherwise;
  if (readOnly && !looksOnly(effects))
    return `the server is read-only (${where('readOnly', 'readOnly, --read-only')})`;
  if (toolset === undefined || toolsets === undefined || toolsets.includes(toolset)) return undefined;
  return `the toolsets are ${toolsets.join(', ') || 'none'} (${where('toolsets', '--toolsets')})`;
}
