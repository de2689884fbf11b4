import { stat } from 'node:fs/promises';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { nearest } from '../core/nearest.ts';
import { exposeModes, questionModes } from '../core/settings.ts';
import { decisions, ruleProblem, type Rule } from '../core/rule.ts';
import type { Config } from '../core/settings.ts';

/** A wrong command line: said in one line, exit code 2. */
export class UsageError extends Error {}

/** The exit code of a command: 2, and one line, for a wrong command line. */
export async function exitCodeOf(command: () => Promise<number>): Promise<number> {
  // A log that nobody reads any more is no reason to end.
  process.stderr.on('error', () => {});
  try {
    return await command();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`toolcrib: ${error.message}\n`);
    return 2;
  }
}

/** The same for a command that writes its answer to standard output. */
export function runCommand(command: () => Promise<number>): Promise<number> {
  // Whoever read our output has left (`toolcrib list | head`): nobody is there to be told.
  process.stdout.on('error', (error) => process.exit('code' in error && error.code === 'EPIPE' ? 0 : 74));
  return exitCodeOf(command);
}

/** util.parseArgs, with its complaints turned into a UsageError that names the right option. */
export function parseCommandLine<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    const text = error instanceof Error ? error.message.split(/\n|\. /)[0] : String(error);
    const known = Object.keys(config.options ?? {});
    const given = /'(?:-\w, )?--?([^ '=,]+)/.exec(text ?? '')?.[1];
    const best = given && nearest(given, known);
    const all =
      known.length > 0
        ? `The options are ${known.map((name) => `--${name}`).join(', ')}.`
        : 'There are none.';
    throw new UsageError(`${text?.replace(/\.$/, '')}${best ? `; did you mean --${best}?` : '.'} ${all}`);
  }
}

/** How a host starts this very program: the Node that runs now, and its script. */
export const ownCommand = (): { command: string; script: string } => ({
  command: process.execPath,
  script: process.argv[1] ?? '',
});

/** The folder we are in. Throws UsageError when somebody has removed it. */
export function workingFolder(): string {
  try {
    return process.cwd();
  } catch {
    throw new UsageError('the folder you are in is no longer there; cd into another one.');
  }
}

/** Says so when a root is no folder, before anything is started with it, and where it is named. */
export async function checkRoots(roots: readonly string[], where = 'root'): Promise<void> {
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
  rule: { type: 'string', multiple: true },
  questions: { type: 'string' },
  expose: { type: 'string' },
  'no-checkpoints': { type: 'boolean' },
} as const satisfies ParseArgsConfig['options'];

type Values<Options extends ParseArgsConfig['options']> = ReturnType<
  typeof parseArgs<{ options: NonNullable<Options> }>
>['values'];
/** What was given of some options. */
export type ValuesOf<Options extends ParseArgsConfig['options']> = {
  [Name in keyof Values<Options>]?: Values<Options>[Name] | undefined;
};
export type ServeValues = ValuesOf<typeof serveOptions>;

/**
 * The settings that the options stand for. Throws UsageError for a value that is none, naming what is
 * expected.
 */
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

/** `git_push=ask`; a pattern may have `=` in it. */
function rulesOf(given: readonly string[]): Rule[] {
  return given.map((text) => {
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
 * The known word that a value is. Throws UsageError with the one that was probably meant, and all there are.
 */
export function oneOf<const T extends string>(
  known: readonly T[],
  given: string,
  { option, noun }: { option: string; noun: string },
): T {
  const found = known.find((word) => word === given);
  if (found !== undefined) return found;
  const best = nearest(given, known);
  const hint = best === undefined ? '' : ` did you mean ${best}?`;
  throw new UsageError(`${option}: there is no such ${noun};${hint} there are ${known.join(', ')}.`);
}
