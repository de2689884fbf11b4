import { sep } from 'node:path';
import { printable, write, type Line } from '../../core/command-line.ts';
import type { Effect } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { Program, ProgramAction, Values } from '../../core/program.ts';
import type { Plan, PlanContext } from '../../core/tool.ts';
import { realPath } from '../paths/real-path.ts';
import { rooted } from '../paths/workspace.ts';
import { sanitize } from '../sanitize.ts';
import { ownProgram, projectFolders } from '../programs/project-folders.ts';
import { look } from '../project-files.ts';
import type { ActionServices, PreparedProgram } from './run-program.ts';

/** One call of an action, all paths in `values` checked. */
export interface ActionCall {
  readonly of: Program;
  /** Of the action, as its program has it. */
  readonly key: string;
  readonly action: ProgramAction;
  readonly values: Values;
  /** Those of them that are paths. */
  readonly paths: readonly string[];
  readonly folder: string;
  readonly context: PlanContext;
  readonly services: ActionServices;
}

/** What is started, and what of it is not the action's own. */
export interface Start {
  readonly program: string;
  /** Arguments before those of the action. */
  readonly leading: readonly string[];
  /** Arguments behind them. */
  readonly trailing: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A call that could be run. */
export interface PreparedCall extends PreparedProgram {
  readonly call: ActionCall;
  readonly start: Start;
  /** The line that is run; of an action with several ways, that of the one whose program is there. */
  readonly line: Line<never>;
}

/**
 * Finds out what would be started, and what has to be known about that. Starts only what shows what would happen, and
 * that in a trusted folder only. Throws ARG_FLAG, PROGRAM_NOT_FOUND, PROGRAM_FAILED, and what the program's own
 * inspection throws.
 */
export async function planCall(call: ActionCall, line: Line<never>): Promise<Plan<PreparedCall>> {
  const { of, key, action, values, paths, folder, context } = call;
  const { effects } = action;
  const has = (effect: Effect) => effects.includes(effect);
  // Before anything else: a value that would be read as an option is refused here.
  const { argv, env, input } = write(of, action, line, values);
  const found = await startOf(call);
  const { workspace } = context;
  const trusted = () => context.trusts(folder);
  const project = { action: key, folder, roots: workspace.roots, effects, values, trusted };
  const inspected = await of.inspect?.(look, { ...project, denied: rooted(workspace).denied });
  const start: Start = {
    program: found.program,
    leading: [...found.leading, ...(of.before ?? []), ...(inspected?.argv ?? []), ...found.words],
    trailing: inspected?.trailing ?? [],
    env: { ...found.env, ...inspected?.env },
  };
  const command = asTyped(of, argv);
  const preview = await previewOf(call, start);
  const told = context.preview ? await answersTo(call, start, action.wording?.tells) : {};
  const isUndoable = await canBeUndone(call, start);
  const whole = [...start.leading, ...argv, ...start.trailing];
  const prepared = action.prepare && write(of, action, action.prepare, values).argv;
  const known = await answersTo(call, start, action.wording?.asks);
  const variables = [inspected?.env, env, input, known];
  const fingerprint = JSON.stringify([start.program, whole, prepared, folder, ...variables]);
  const needs = inspected?.trust ?? whyTrust(effects, found.own);
  return {
    effects,
    subject: command,
    folder,
    paths: [...paths, ...found.own],
    ...(needs !== undefined && { trust: needs }),
    grant: { act: JSON.stringify([fingerprint, realPath(folder)]), words: `exactly ${command}` },
    title: titleOf(call, argv, { ...known, ...told }),
    ...(preview !== undefined && { preview }),
    isUndoable,
    ...(action.serves && { background: true }),
    fingerprint,
    work: {
      call,
      start,
      line,
      program: start.program,
      argv: whole,
      folder,
      env: { ...start.env, ...env },
      command,
      input,
      notes: [...(inspected?.notes ?? []), ...found.own.map((own) => `ran ${own}`)],
      keeps: isUndoable ? 'must' : has('execute') || has('destroy') ? 'first' : 'no',
      lasts: has('execute') || has('network'),
      looksOnly: effects.every((effect) => effect === 'read'),
      // Whatever else is started ends with its call, or is a job.
      ...(action.window && of.category === 'editor' && { isWindow: true }),
    },
  };
}

/** Why the folder of an action has to be trusted; undefined: it need not be. */
function whyTrust(effects: readonly Effect[], own: readonly string[]): string | undefined {
  if (effects.includes('execute') || own.length > 0) return 'runs code of this folder';
  // Whom it talks to, and what it brings, is up to the files of the project.
  return effects.includes('network') ? 'talks to other machines as this folder says' : undefined;
}

/** The command line by the program's usual name, so that a rule about it fits wherever it was found. */
export const asTyped = (of: Program, argv: readonly string[]): string => {
  // A "--" with nothing behind it: nobody would type it, or write it into a rule.
  const typed = argv.at(-1) === '--' ? argv.slice(0, -1) : argv;
  return printable([...(of.called?.[0] ?? of.id).split(' '), ...typed]);
};

/** An argument that is a path below the folder as it is typed there. */
function fromFolder(arg: string, folder: string): string {
  if (!arg.startsWith(folder + sep)) return arg;
  const relative = arg.slice(folder.length + 1);
  return relative.startsWith('-') ? `.${sep}${relative}` : relative;
}

/** Starts a line beside the action's own: what would happen, or what is now. */
export const runBeside = (
  { of, action, values, folder, context, services }: ActionCall,
  { program, leading, trailing, env }: Start,
  line: Line<never>,
  signal = context.signal,
) => {
  const { argv, ...more } = write(of, action, line, values);
  return services.run({
    program,
    argv: [...leading, ...argv, ...trailing],
    cwd: folder,
    env: { ...env, ...more.env },
    signal,
  });
};

/** What the program says would happen. Throws PROGRAM_FAILED where it says that it would fail. */
async function previewOf(call: ActionCall, start: Start): Promise<string | undefined> {
  const { action, folder, context } = call;
  if (!action.first || !(await context.trusts(folder))) return undefined;
  const { exitCode, stdout, stderr } = await runBeside(call, start, action.first);
  const said = sanitize(stdout.text || stderr.text).trim();
  if ((action.firstOk ?? [0]).includes(exitCode ?? -1)) return said || 'It says that nothing would change.';
  const complaint = sanitize(stderr.text || stdout.text).trim();
  const hint = call.of.hints?.find(({ says }) => says.test(complaint));
  throw new ToolcribError('PROGRAM_FAILED', `It would fail: ${complaint}`, hint?.wayOut);
}

/** What lines print that only look, by name. Asked in a trusted folder only. */
async function answersTo(
  call: ActionCall,
  start: Start,
  lines: Readonly<Record<string, Line<never>>> = {},
): Promise<Readonly<Record<string, string>>> {
  const known: Record<string, string> = {};
  const asked = Object.entries(lines);
  if (asked.length === 0 || !(await call.context.trusts(call.folder))) return known;
  for (const [name, line] of asked) {
    const { exitCode, stdout } = await runBeside(call, start, line);
    if (exitCode === 0) known[name] = sanitize(stdout.text).trim();
  }
  return known;
}

/** The act in a person's words, or as it is typed in its folder. */
function titleOf(
  { of, action, values, folder }: ActionCall,
  argv: readonly string[],
  known: Readonly<Record<string, string>>,
): string {
  if (action.wording) return action.wording.says(values, known);
  return asTyped(
    of,
    argv.map((arg) => fromFolder(arg, folder)),
  );
}

/** Whether undo would bring back all that the program says it could change. It is asked in a trusted folder only. */
async function canBeUndone(call: ActionCall, start: Start): Promise<boolean> {
  const { action, folder, context, services } = call;
  if (!action.takenBack || !services.checkpoint || !(await context.trusts(folder))) return false;
  const unkept = await runBeside(call, start, action.takenBack.unless);
  if (unkept.exitCode !== 0 || unkept.stdout.bytes.length > 0) return false;
  const { exitCode, stdout } = await runBeside(call, start, action.takenBack.changes);
  if (exitCode !== 0 || stdout.omittedBytes > 0) return false;
  const names = stdout.bytes
    .toString()
    .split('\0')
    .filter((name) => name !== '');
  return services.checkpoint.isReady(folder, names, context.workspace);
}

/** Which program is started, with which first arguments and environment; `own`: that it is the project's own copy. */
async function startOf({ of, folder, context, services }: ActionCall) {
  const { roots } = context.workspace;
  const { installation, env: given } = services;
  const project = projectFolders(roots);
  const env: Record<string, string> = { ...given, PATH: project.pathWithout(given['PATH'] ?? '') };
  const places = of.own?.[process.platform === 'win32' ? 'win32' : 'posix'] ?? [];
  const local = ownProgram(places, folder, roots, env);
  const words = (of.called?.[0] ?? of.id).split(' ').slice(1);
  if (local !== undefined) return { program: local, leading: [], words, env, own: [local] };
  if (!installation) throw new ToolcribError('PROGRAM_NOT_FOUND', `${of.title} was not found.`);
  if (!project.holds(installation.program)) return { ...installation, env, own: [] };
  if (installation.own)
    throw new ToolcribError(
      'PROGRAM_NOT_FOUND',
      `${of.title} is not installed for ${folder}, only as ${installation.program}.`,
      'Give a folder of that project as cwd.',
    );
  throw new ToolcribError(
    'PROGRAM_NOT_FOUND',
    `${installation.program} lies in the project, which must not choose what ${of.title} is.`,
    'Take its folder off the PATH of the server; toolcrib doctor lists it.',
  );
}
