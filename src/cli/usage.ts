import { stat } from 'node:fs/promises';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { nearest } from '../core/check-params.ts';
import { effects, type Effect } from '../core/discoverer.ts';
import { askReasons, decisions, type AskReason, type Decision, type Rule } from '../core/policy.ts';
import { patternProblem } from '../core/rule-pattern.ts';
import { usualSettings, type Settings } from '../core/settings.ts';

/** A wrong command line: said in one line, exit code 2. */
export class UsageError extends Error {}

/** util.parseArgs, with its complaints turned into a UsageError that names the right option. */
export function parseCommandLine<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    const text = error instanceof Error ? error.message.split(/\n|\. /)[0] : String(error);
    const known = Object.keys(config.options ?? {});
    const given = /'--?([^ '=]+)/.exec(text ?? '')?.[1];
    const best = given && nearest(given, known);
    const all =
      known.length > 0
        ? `The options are ${known.map((name) => `--${name}`).join(', ')}.`
        : 'There are none.';
    throw new UsageError(`${text?.replace(/\.$/, '')}${best ? `; did you mean --${best}?` : '.'} ${all}`);
  }
}

/** The folder we are in. Throws UsageError when somebody has removed it. */
export function workingFolder(): string {
  try {
    return process.cwd();
  } catch {
    throw new UsageError('the folder you are in is no longer there; cd into another one.');
  }
}

/** Says so when a root is no folder, before anything is started with it; and in which file it is named, when it is in one. */
export async function checkRoots(roots: readonly string[], file?: string): Promise<void> {
  const where = file === undefined ? 'root' : `${file}: roots:`;
  for (const root of roots) {
    const found = await stat(root).catch(() => undefined);
    if (!found) throw new UsageError(`${where} ${root}: there is no such folder.`);
    if (!found.isDirectory()) throw new UsageError(`${where} ${root}: is a file; a folder is expected.`);
  }
}

/** What serve, call and try have in common. */
export const serveOptions = {
  root: { type: 'string', multiple: true },
  'read-only': { type: 'boolean' },
  toolsets: { type: 'string' },
  allow: { type: 'string', multiple: true },
  ask: { type: 'string', multiple: true },
  deny: { type: 'string', multiple: true },
  rule: { type: 'string', multiple: true },
  'when-unasked': { type: 'string', multiple: true },
  scripts: { type: 'boolean' },
  'no-checkpoints': { type: 'boolean' },
} as const satisfies ParseArgsConfig['options'];

type ServeValues = {
  [name in keyof typeof serveOptions]?:
    | ((typeof serveOptions)[name] extends { multiple: true }
        ? string[]
        : (typeof serveOptions)[name]['type'] extends 'boolean'
          ? boolean
          : string)
    | undefined;
};

/** The settings that the options stand for. Throws UsageError for a value that is none, naming what is expected. */
export function settingsOf(values: ServeValues): Settings {
  return {
    ...usualSettings,
    roots: values.root ?? [],
    readOnly: values['read-only'] ?? false,
    toolsets: values.toolsets?.split(',').map((name) => name.trim()),
    effects: effectsOf(values),
    rules: rulesOf(values.rule ?? []),
    whenUnasked: whenUnaskedOf(values['when-unasked'] ?? []),
    checkpoints: values['no-checkpoints'] ? false : undefined,
    scripts: values.scripts,
  };
}

/** The same options again, to hand them to a server that is started. */
export function asArguments(values: ServeValues): string[] {
  return Object.keys(serveOptions).flatMap((name) => {
    const value = values[name as keyof ServeValues];
    if (value === undefined || value === false) return [];
    if (value === true) return [`--${name}`];
    // In one piece: a value may begin with "-".
    return [value].flat().map((each) => `--${name}=${each}`);
  });
}

function effectsOf(values: ServeValues): Settings['effects'] {
  const decided: Partial<Record<Effect, Decision>> = {};
  for (const decision of decisions)
    for (const name of (values[decision] ?? []).flatMap((list) => list.split(','))) {
      const effect = oneOf(effects, name.trim(), { option: `--${decision} ${name}`, noun: 'effect' });
      const before = decided[effect] ?? decision;
      if (before !== decision)
        throw new UsageError(`--${before} ${effect} and --${decision} ${effect}: only one of them.`);
      decided[effect] = decision;
    }
  return decided;
}

/** `git_push=ask`; a pattern may have `=` in it. */
function rulesOf(given: readonly string[]): Rule[] {
  const rules = given.map((text) => {
    const [, pattern, decision] = /^(.*)=([^=]*)$/s.exec(text) ?? [];
    if (pattern === undefined || decision === undefined)
      throw new UsageError(`--rule ${text}: PATTERN=allow, =ask or =deny is expected, like 'git_push=ask'.`);
    const problem = patternProblem(pattern);
    if (problem !== undefined) throw new UsageError(`--rule ${text}: ${problem}.`);
    const setting = `--rule ${text}`;
    return { pattern, setting, decision: oneOf(decisions, decision, { option: setting, noun: 'decision' }) };
  });
  for (const rule of rules) {
    const other = rules.find(
      ({ pattern, decision }) => pattern === rule.pattern && decision !== rule.decision,
    );
    if (other) throw new UsageError(`${rule.setting} and ${other.setting}: only one of them.`);
  }
  return rules;
}

/** `allow` or `deny` for all reasons; `execute=allow` for one, which counts more. */
function whenUnaskedOf(given: readonly string[]): Settings['whenUnasked'] {
  const answers: Partial<Record<AskReason | 'all', 'allow' | 'deny'>> = {};
  for (const text of given) {
    const option = `--when-unasked ${text}`;
    const [reason, answer] = text.includes('=') ? text.split('=', 2) : ['all', text];
    const known = oneOf(text.includes('=') ? askReasons : ['all' as const], reason ?? '', {
      option,
      noun: 'reason',
    });
    const value = oneOf(['allow', 'deny'], answer ?? '', { option, noun: 'answer' });
    const before = answers[known] ?? value;
    if (before !== value) throw new UsageError(`${option}: the opposite is said as well; only one of them.`);
    answers[known] = value;
  }
  const { all, ...single } = answers;
  return all === undefined
    ? single
    : { ...Object.fromEntries(askReasons.map((reason) => [reason, all])), ...single };
}

/** The known word that a value is. Throws UsageError with the one that was probably meant, and all there are. */
function oneOf<const T extends string>(
  known: readonly T[],
  given: string,
  { option, noun }: { option: string; noun: string },
): T {
  const found = known.find((word) => word === given);
  if (found !== undefined) return found;
  const best = nearest(given, known);
  throw new UsageError(
    `${option}: there is no such ${noun}${best === undefined ? ';' : `; did you mean ${best}?`} there are ${known.join(', ')}.`,
  );
}
