import { stat } from 'node:fs/promises';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { nearest } from '../core/nearest.ts';
import { exposeModes, questionModes } from '../core/settings.ts';
import { decisions, ruleProblem, type Rule } from '../core/rule.ts';
import type { Config } from '../core/settings.ts';

/** An error in the command line, printed in one line, with exit code 2. */
export class UsageError extends Error {}

/** Runs a command and returns its exit code. A UsageError is printed in one line, and gives 2. */
export async function exitCodeOf(command: () => Promise<number>): Promise<number> {
  // A standard error that nobody reads any more is no reason to end.
  process.stderr.on('error', () => {});
  try {
    return await command();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`toolcrib: ${error.message}\n`);
    return 2;
  }
}

/** Runs a command that writes its answer to standard output, like exitCodeOf. */
export function runCommand(command: () => Promise<number>): Promise<number> {
  // With EPIPE the reader of our output has left (`toolcrib list | head`), and nobody needs a message. 74 is
  // EX_IOERR of sysexits.h.
  process.stdout.on('error', (error) => process.exit('code' in error && error.code === 'EPIPE' ? 0 : 74));
  return exitCodeOf(command);
}

/** Parses a command line with util.parseArgs. Throws a UsageError that names the right option. */
export function parseCommandLine<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    const text = error instanceof Error ? error.message.split(/\n|\. /)[0] : String(error);
    const known = Object.keys(config.options ?? {});
    const unknown = /'(?:-\w, )?--?([^ '=,]+)/.exec(text ?? '')?.[1];
    const best = unknown && nearest(unknown, known);
    const all =
      known.length > 0
        ? `The options are ${known.map((name) => `--${name}`).join(', ')}.`
        : 'There are none.';
    throw new UsageError(`${text?.replace(/\.$/, '')}${best ? `; did you mean --${best}?` : '.'} ${all}`);
  }
}

/** The command line of this very program: the Node that runs now, and its script. */
export const ownCommand = (): { command: string; script: string } => ({
  command: process.execPath,
  script: process.argv[1] ?? '',
});

/** The current folder. Throws UsageError when somebody has removed it. */
export function workingFolder(): string {
  try {
    return process.cwd();
  } catch {
    throw new UsageError('the folder you are in is no longer there; cd into another one.');
  }
}

/**
 * Checks that roots are folders, before anything is started with them. Throws a UsageError that names the
 * root and, by `where`, its source.
 */
export async function checkRoots(roots: readonly string[], where = 'root'): Promise<void> {
  for (const root of roots) {
    const facts = await stat(root).catch(() => undefined);
    if (!facts) throw new UsageError(`${where} ${root}: there is no such folder.`);
    if (!facts.isDirectory()) throw new UsageError(`${where} ${root}: is a file; a folder is expected.`);
  }
}

/** The options that serve, call and try have in common. */
export const serveOptions = {
  root: { type: 'string', multiple: true },
  'read-only': { type: 'boolean' },
  toolsets: { type: 'string' },
  rule: { type: 'string', multiple: true },
  questions: { type: 'string' },
  expose: { type: 'string' },
  'no-checkpoints': { type: 'boolean' },
} as const satisfies ParseArgsConfig['options'];

type Values<Options extends ParseArgsConfig['options']> = ReturnType<
  typeof parseArgs<{ options: NonNullable<Options> }>
>['values'];
/** The values of some options. */
export type ValuesOf<Options extends ParseArgsConfig['options']> = {
  [Name in keyof Values<Options>]?: Values<Options>[Name] | undefined;
};
export type ServeValues = ValuesOf<typeof serveOptions>;

/** Converts options to settings. Throws a UsageError that names what is expected for an invalid value. */
export function settingsOf(values: ServeValues): Config {
  const { root, questions, expose, toolsets } = values;
  return {
    ...(root && { roots: root }),
    ...(values['read-only'] && { readOnly: true }),
    ...(toolsets !== undefined && { toolsets: toolsets.split(',').map((name) => name.trim()) }),
    rules: rulesOf(values.rule ?? []),
    ...(questions !== undefined && {
      questions: oneOf(questionModes, questions, { option: `--questions ${questions}`, noun: 'way' }),
    }),
    ...(expose !== undefined && {
      expose: oneOf(exposeModes, expose, { option: `--expose ${expose}`, noun: 'way' }),
    }),
    ...(values['no-checkpoints'] && { checkpoints: false }),
  };
}

/** Converts options back to arguments, for a server that is started. */
export function asArguments(values: ServeValues): string[] {
  return Object.keys(serveOptions).flatMap((name) => {
    const value = values[name as keyof ServeValues];
    if (value === undefined || value === false) return [];
    if (value === true) return [`--${name}`];
    // The option and its value are one argument, because a value may begin with "-".
    return [value].flat().map((each) => `--${name}=${each}`);
  });
}

/** Parses rules such as `git_push=ask`; a pattern may contain `=`. */
function rulesOf(texts: readonly string[]): Rule[] {
  return texts.map((text) => {
    const [, pattern, decision] = /^(.*)=([^=]*)$/s.exec(text) ?? [];
    if (pattern === undefined || decision === undefined)
      throw new UsageError(`--rule ${text}: PATTERN=allow, =ask or =deny is expected, like 'git_push=ask'.`);
    const setting = `--rule ${text}`;
    const rule = {
      pattern,
      setting,
      decision: oneOf(decisions, decision, { option: setting, noun: 'decision' }),
    };
    const problem = ruleProblem(pattern, rule.decision);
    if (problem !== undefined) throw new UsageError(`${setting}: ${problem}.`);
    return rule;
  });
}

/**
 * Checks that a value is one of the known words. Throws a UsageError with the closest word and all there are.
 */
export function oneOf<const T extends string>(
  known: readonly T[],
  given: string,
  { option, noun }: { option: string; noun: string },
): T {
  const match = known.find((word) => word === given);
  if (match !== undefined) return match;
  const best = nearest(given, known);
  const hint = best === undefined ? '' : ` did you mean ${best}?`;
  throw new UsageError(`${option}: there is no such ${noun};${hint} there are ${known.join(', ')}.`);
}
