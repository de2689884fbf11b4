import { sep } from 'node:path';
import { printable, type CommandLine, type Values } from '../../core/command-line.ts';
import { isDatabaseProgram, type AnyProgram } from '../../core/database-program.ts';
import type { Effect, Platform } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { Alternative, Program, ProgramAction } from '../../core/program.ts';
import type { Plan, PlanContext, Tool } from '../../core/tool.ts';
import { rooted } from '../paths/workspace.ts';
import { realPath } from '../paths/real-path.ts';
import { ownProgram, projectFolders } from '../programs/project-folders.ts';
import { look } from '../project-files.ts';
import { sanitize } from '../sanitize.ts';
import type { Session } from '../session.ts';
import { checkPaths } from './check-paths.ts';
import { compileAction, type CompiledAction, type CompiledStep, type NamedLines } from './compiled-action.ts';
import { databaseTool } from './database-tool.ts';
import { describeAction } from './describe.ts';
import { planRead, runRead } from './read-action.ts';
import { argvOf, runAction, runLine } from './run-action.ts';
import type { ActionCall, ActionProgram, Launch, PreparedAction } from './run-action.ts';

/**
 * An action of an installed program as a tool, its lines compiled. Throws for an action that there is not.
 */
export function programTool(of: AnyProgram, key: string, session: Session, own: ActionProgram): Tool {
  if (isDatabaseProgram(of)) return databaseTool(of, key, session, own);
  const action = of.actions[key];
  if (!action) throw new Error(`${of.id} has no action ${key}`);
  const facts = describeAction(of, key, action);
  const { run } = action;
  if ('reads' in run) {
    const reading = { name: facts.name, action, files: run.reads };
    return {
      ...facts,
      plan: (values: Values, context) => planRead(reading, values, context),
      run: ({ work }, { workspace }) => runRead(reading, work, workspace),
    };
  }
  if ('alternatives' in run)
    return { ...facts, ...alternativeTool(of, key, action, run.alternatives, session, own) };
  const compiled = compileAction(of, key, action, run);
  return {
    ...facts,
    plan: (values: Values, context) => planAction(compiled, values, context, session, own),
    run: ({ work }: Plan<PreparedAction>, context) => runAction(work, context),
  };
}

/** The same act by other programs: the first that this system has. */
function alternativeTool(
  of: Program,
  key: string,
  action: ProgramAction,
  alternatives: readonly Alternative<never>[],
  session: Session,
  own: ActionProgram,
): Pick<Tool, 'plan' | 'run'> {
  const here = alternatives
    .filter(({ on }) => on.includes(process.platform as Platform))
    .map((own) => ({
      by: own.by,
      compiled: compileAction({ ...of, called: [own.by] }, key, { ...action, ...own }, own.run),
    }));
  return {
    async plan(values: Values, context): Promise<Plan<PreparedAction>> {
      for (const { by, compiled } of here) {
        const program = await session.environment.which(by);
        if (program === undefined) continue;
        const installation = { id: by, program, leading: [], words: [], source: '', others: [] };
        return planAction(compiled, values, context, session, { ...own, installation });
      }
      const names = alternatives.map(({ by }) => by).join(', ');
      throw new ToolcribError('PROGRAM_NOT_FOUND', `None of ${names} is on this machine.`);
    },
    run: ({ work }: Plan<PreparedAction>, context) => runAction(work, context),
  };
}

/**
 * Finds out what would be started, and what has to be known about that. Starts only what shows what would
 * happen, and that in a trusted folder only. Throws ARG_FLAG, PROGRAM_NOT_FOUND, PROGRAM_FAILED, and what the
 * program's own inspection throws.
 */
async function planAction(
  compiled: CompiledAction,
  given: Values,
  context: PlanContext,
  session: Session,
  own: ActionProgram,
): Promise<Plan<PreparedAction>> {
  const { of, key, action, preview, before, undo, wording } = compiled;
  const { workspace } = context;
  const { folder, values, paths } = await checkPaths(compiled.paths, action.role, given, workspace);
  // Before anything else: a value that would be read as an option is refused here.
  const line = compiled.run.write(values);
  const more = action.moreEffects?.(values) ?? [];
  const effects = [...new Set([...action.effects, ...more])];
  const found = findProgram(of, folder, workspace.roots, own);
  const trusted = () => context.trusts(folder);
  const project = { action: key, folder, roots: workspace.roots, effects, values, trusted };
  const inspected = await of.inspect?.(look, { ...project, denied: rooted(workspace).denied });
  const call: ActionCall = {
    compiled,
    session,
    values,
    folder,
    program: found.program,
    leading: [...found.leading, ...(of.before ?? []), ...(inspected?.argv ?? []), ...found.words],
    trailing: inspected?.trailing ?? [],
    env: { ...found.env, ...inspected?.env },
  };
  const shown = preview && (await previewOf(call, preview, context));
  const told = wording && context.preview ? await answersOf(call, wording.told, context) : {};
  const isUndoable = undo !== undefined && (await canBeUndone(call, undo, context));
  const agreed = wording ? await answersOf(call, wording.agreed, context) : {};
  const first = before?.line.write(values).argv;
  const argv = argvOf(call, line.argv);
  const parts = [call.program, argv, first, folder, inspected?.env, line.env, line.input, agreed];
  const fingerprint = JSON.stringify(parts);
  const needs = inspected?.trust ?? whyTrust(effects, found.own);
  const notes = [...(inspected?.notes ?? []), ...found.own.map((own) => `ran ${own}`)];
  const command = commandOf(of, line.argv);
  const below = folder + sep;
  const namesFiles = line.argv.some((arg) => arg.startsWith(below));
  const typed = namesFiles ? fromFolder(of, line.argv, below) : command;
  return {
    effects,
    subject: command,
    folder,
    paths: [...paths, ...found.own],
    ...(needs !== undefined && { trust: needs }),
    grant: { act: JSON.stringify([fingerprint, realPath(folder)]), words: `exactly ${command}` },
    title: action.steps?.wording?.says(values, { ...agreed, ...told }) ?? typed,
    ...(shown !== undefined && { preview: shown }),
    isUndoable,
    ...(action.stays === 'job' && { background: true }),
    fingerprint,
    work: { call, launch: launchOf(call, line, { argv, command, notes, isUndoable, effects }) },
  };
}

/** The start of the action's own line. */
function launchOf(
  { compiled: { of, action }, program, folder, env }: ActionCall,
  line: CommandLine,
  known: Pick<Launch, 'argv' | 'command' | 'notes'> & Pick<Plan, 'effects' | 'isUndoable'>,
): Launch {
  const { isUndoable, effects, ...rest } = known;
  const mayLose = effects.includes('execute') || effects.includes('destroy');
  return {
    ...rest,
    program,
    folder,
    env: { ...env, ...line.env },
    input: line.input,
    keeps: isUndoable ? 'must' : mayLose ? 'first' : 'no',
    lasts: effects.includes('execute') || effects.includes('network'),
    readsOnly: effects.every((effect) => effect === 'read'),
    // Whatever else is started ends with its call, or is a job.
    isWindow: action.stays === 'window' && of.category === 'editor',
  };
}

/**
 * The program that is started, its first arguments and environment; `own`: that it is the project's own copy.
 */
function findProgram(
  of: Program,
  folder: string,
  roots: readonly string[],
  { installation, env: given }: ActionProgram,
) {
  const project = projectFolders(roots);
  const env: Record<string, string> = { ...given, PATH: project.pathWithout(given['PATH'] ?? '') };
  const places = of.own?.[process.platform === 'win32' ? 'win32' : 'posix'];
  const local = places && ownProgram(places, folder, roots, env);
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

/**
 * The text by which the program says what would happen. Throws PROGRAM_FAILED where it says that it would
 * fail.
 */
async function previewOf(
  call: ActionCall,
  { line, ok }: CompiledStep,
  context: PlanContext,
): Promise<string | undefined> {
  if (!(await context.trusts(call.folder))) return undefined;
  const { exitCode, stdout, stderr } = await runLine(call, line, context.signal);
  const said = sanitize(stdout.text || stderr.text).trim();
  if (ok.includes(exitCode ?? -1)) return said || 'It says that nothing would change.';
  const complaint = sanitize(stderr.text || stdout.text).trim();
  const hint = call.compiled.of.hints?.find(({ says }) => says.test(complaint));
  throw new ToolcribError('PROGRAM_FAILED', `It would fail: ${complaint}`, hint?.wayOut);
}

/** The output of lines that only look, by name. They run in a trusted folder only. */
async function answersOf(
  call: ActionCall,
  lines: NamedLines,
  context: PlanContext,
): Promise<Readonly<Record<string, string>>> {
  const known: Record<string, string> = {};
  if (lines.length === 0 || !(await context.trusts(call.folder))) return known;
  for (const [name, line] of lines) {
    const { exitCode, stdout } = await runLine(call, line, context.signal);
    if (exitCode === 0) known[name] = sanitize(stdout.text).trim();
  }
  return known;
}

/**
 * Tells whether undo would bring back all that the program says it could change: asked in a trusted folder
 * only.
 */
async function canBeUndone(
  call: ActionCall,
  { changes, unkept }: NonNullable<CompiledAction['undo']>,
  context: PlanContext,
): Promise<boolean> {
  const { folder, session } = call;
  if (!session.checkpoints || !(await context.trusts(folder))) return false;
  const lost = await runLine(call, unkept, context.signal);
  if (lost.exitCode !== 0 || lost.stdout.bytes.length > 0) return false;
  const { exitCode, stdout } = await runLine(call, changes, context.signal);
  if (exitCode !== 0 || stdout.omittedBytes > 0) return false;
  const names = stdout.bytes.toString().split('\0');
  const changed = names.filter((name) => name !== '');
  return session.checkpoints.isReady(folder, changed, context.workspace);
}

/** The reason why the folder of an action has to be trusted; undefined: it need not be. */
function whyTrust(effects: readonly Effect[], own: readonly string[]): string | undefined {
  if (effects.includes('execute') || own.length > 0) return 'runs code of this folder';
  // Whom it talks to, and what it brings, is up to the files of the project.
  return effects.includes('network') ? 'talks to other machines as this folder says' : undefined;
}

/** The command line by the program's usual name, so that a rule about it fits wherever it was found. */
function commandOf(of: Program, argv: readonly string[]): string {
  // A "--" with nothing behind it: nobody would type it, or write it into a rule.
  const typed = argv.at(-1) === '--' ? argv.slice(0, -1) : argv;
  return printable([...(of.called?.[0] ?? of.id).split(' '), ...typed]);
}

/** The command line as it is typed in its folder: paths below it are named from there. */
function fromFolder(of: Program, argv: readonly string[], below: string): string {
  const typed = argv.map((arg) => {
    if (!arg.startsWith(below)) return arg;
    const relative = arg.slice(below.length);
    return relative.startsWith('-') ? `.${sep}${relative}` : relative;
  });
  return commandOf(of, typed);
}
