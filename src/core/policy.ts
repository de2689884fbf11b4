import type { Effect } from './discoverer.ts';

export const decisions = ['allow', 'ask', 'deny'] as const;
export type Decision = (typeof decisions)[number];

/**
 * Why a person is asked.
 * - destroy    it can lose work for good
 * - execute    it runs code of a project that is not trusted as it is now
 * - protected  it changes a file that others run
 * - command    it runs a program that no action describes
 * - script     it runs text that was written for it
 * - rule       a rule of the settings says so
 */
export const askReasons = ['destroy', 'execute', 'protected', 'command', 'script', 'rule'] as const;
export type AskReason = (typeof askReasons)[number];

/** What is decided about the calls that fit a pattern. */
export interface Rule {
  /** `git_push`, `docker_*`, or with the command line: `run_command(npm test *)`. `*` is any characters. */
  readonly pattern: string;
  readonly decision: Decision;
  /** Where it is written, for people: `rules "git_*" of ~/.config/toolcrib/config.json`. */
  readonly setting: string;
}

/** What the operator allows, narrowed by the project. */
export interface Policy {
  /** Only what changes nothing; stronger than everything else. */
  readonly readOnly: boolean;
  /** What is decided about an effect, whatever has it. */
  readonly effects: Readonly<Partial<Record<Effect, Decision>>>;
  readonly rules: readonly Rule[];
  /** What is done when a person would have to be asked, and the client has no way to ask one; deny when left out. */
  readonly whenUnasked: Readonly<Partial<Record<AskReason, 'allow' | 'deny'>>>;
  /** Where a setting is written that a project has made stricter: `effects.write` in `/w/app/.toolcrib.json`. */
  readonly origins?: Readonly<Record<string, string>>;
}

/** A call that is about to be made. */
export interface Subject {
  readonly tool: string;
  readonly effects: readonly Effect[];
  /** The command line as a person would type it. */
  readonly command?: string | undefined;
  /** Why a person is to be asked whatever the effects are. */
  readonly asks?: AskReason | undefined;
  /** Whether the project is trusted with its content as it is now. */
  readonly trusted: boolean;
}

/** What becomes of a call. `setting` names what decided, when a setting did. */
export type Verdict =
  | { readonly decision: 'allow' }
  | { readonly decision: 'ask'; readonly because: AskReason; readonly setting?: string }
  | { readonly decision: 'deny'; readonly setting: string };

/**
 * What becomes of a call: the strictest of what the settings say. Where they say nothing, a person is asked about what
 * can lose work, about code of a project that nobody trusts, and about what always asks; a rule that allows the call
 * takes that question away, but no question or refusal of another setting. Pure.
 */
export function decide(subject: Subject, policy: Policy): Verdict {
  const denied = refusalOf(subject.effects, policy) ?? ruleFor(subject, policy, 'deny')?.setting;
  if (denied !== undefined) return { decision: 'deny', setting: denied };
  const questions = questionsOf(subject, policy);
  // Where nobody can be asked the strictest reason decides: one more question never lets through what another stops.
  const strictest = questions.find(({ because }) => policy.whenUnasked[because] !== 'allow') ?? questions[0];
  return strictest === undefined ? { decision: 'allow' } : { decision: 'ask', ...strictest };
}

export type Question = Omit<Extract<Verdict, { decision: 'ask' }>, 'decision'>;

/** Everything a person would be asked about, what the call itself is before what settings say. */
export function questionsOf(subject: Subject, policy: Policy): Question[] {
  const rule = ruleFor(subject, policy, 'ask');
  const usual = ruleFor(subject, policy, 'allow') === undefined ? usualReasons(subject, policy) : [];
  const asked = subject.effects.filter((effect) => policy.effects[effect] === 'ask');
  return [
    ...usual.map((because) => ({ because })),
    ...asked.map((effect): Question => ({
      because: effect === 'destroy' ? 'destroy' : 'rule',
      setting: `effects.${effect}${origin(policy, `effects.${effect}`)}`,
    })),
    ...(rule ? [{ because: 'rule' as const, setting: rule.setting }] : []),
  ];
}

function usualReasons({ effects, asks, trusted }: Subject, policy: Policy): AskReason[] {
  if (asks !== undefined) return [asks];
  const isOpen = (effect: Effect) => effects.includes(effect) && policy.effects[effect] !== 'allow';
  return [
    ...(isOpen('destroy') ? (['destroy'] as const) : []),
    ...(isOpen('execute') && !trusted ? (['execute'] as const) : []),
  ];
}

const origin = ({ origins }: Pick<Policy, 'origins'>, setting: string): string =>
  origins && Object.hasOwn(origins, setting) ? ` of ${origins[setting]}` : '';

const ruleFor = (subject: Subject, { rules }: Policy, decision: Decision): Rule | undefined =>
  rules.find((rule) => rule.decision === decision && fits(rule.pattern, subject));

/** Why nothing with these effects is ever done, naming the setting; undefined when it may be. Pure. */
export function refusalOf(
  effects: readonly Effect[],
  policy: Pick<Policy, 'readOnly' | 'effects' | 'origins'>,
): string | undefined {
  const changing = effects.filter((effect) => effect !== 'read' && effect !== 'network');
  if (policy.readOnly && changing.length > 0)
    return `the server is read-only (readOnly${origin(policy, 'readOnly') || ', --read-only'})`;
  const denied = effects.find((effect) => policy.effects[effect] === 'deny');
  return denied === undefined
    ? undefined
    : `effects.${denied} is "deny"${origin(policy, `effects.${denied}`).replace(/^ of /, ' in ')}`;
}

/** Whether a rule's pattern is about a call: about its tool, and its command line where the pattern has one. */
export function fits(pattern: string, { tool, command }: Pick<Subject, 'tool' | 'command'>): boolean {
  const open = pattern.indexOf('(');
  if (open < 0) return matches(pattern, tool);
  const line = pattern.slice(open + 1, -1);
  return command !== undefined && matches(pattern.slice(0, open), tool) && matches(line, command);
}

/** `*` stands for any characters; in time linear to the text for each star, whatever either says. */
function matches(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return text === pattern;
  if (!text.startsWith(first)) return false;
  const last = rest.pop() ?? '';
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - at >= last.length && text.endsWith(last);
}
