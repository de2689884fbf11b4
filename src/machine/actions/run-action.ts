import { delimiter, dirname } from 'node:path';
import { printable, renderArgv } from '../../core/argv.ts';
import type { AnyDiscoverer, Arg, Effect, RunAction } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { CallContext, PermitRequest, ToolResult, Workspace } from '../../core/tool.ts';
import { actionResult, failureOf } from './action-result.ts';
import type { DatabaseServices } from '../databases/target.ts';
import type { Installation } from '../programs/installation.ts';
import { localProgram } from './local-program.ts';
import { precautionsFor } from './precautions.ts';
import type { Run } from '../processes/process.ts';
import { checkRepository } from './repository.ts';
import { projectFolders } from '../programs/project-folders.ts';
import { runsAnything } from './runs-anything.ts';

/** What running actions needs of this machine. */
export interface ActionServices {
  run: Run;
  /** Undefined for what takes no program. */
  installation: Installation | undefined;
  databases: DatabaseServices;
  /** The whole environment of a child that may inherit `names` and is given `settings`. */
  childEnvironment(
    names: readonly string[],
    settings: Readonly<Record<string, string>>,
  ): Record<string, string>;
  /** Keeps the state of the work tree before the program starts; what the caller is told about that. Never rejects. */
  checkpoint?(folder: string, workspace: Workspace, signal: AbortSignal): Promise<string | undefined>;
}

/** One call of an action that runs its program, all paths in `values` checked. */
export interface ActionCall {
  readonly discoverer: AnyDiscoverer;
  readonly name: string;
  readonly action: RunAction;
  readonly values: Readonly<Record<string, unknown>>;
  /** Those of them that are paths. */
  readonly paths: readonly string[];
  readonly folder: string;
  readonly context: CallContext;
  readonly services: ActionServices;
}

/** How much of a program's output is kept: to be parsed, and to be shown. */
const parsedBytes = 8 * 1024 * 1024;
const shownBytes = 256 * 1024;
/** A question is answered at once or not at all; the action itself needs the time of the call. */
const questionLimits = { keepBytes: parsedBytes, timeoutMs: 10_000 };

/** A week, which budgets.jobMinutes can be at most. */
const longestMs = 7 * 24 * 60 * 60 * 1000;

/** A program as it would be started, and what is to be decided about that. */
interface Start {
  readonly program: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** As it is called with: without what its project makes necessary. */
  readonly asTyped: readonly string[];
  readonly notes: readonly string[];
  /** What the action does with this program, whatever its project adds. */
  readonly does: readonly Effect[];
  readonly request: PermitRequest & { readonly command: string };
}

/** Runs an action's program, with what its project makes necessary, and tells what came of it. */
export async function runAction(call: ActionCall): Promise<ToolResult> {
  const { discoverer, action, folder, context, services } = call;
  const { signal, workspace, permit } = context;
  const decided = async (): Promise<Start> => {
    const start = await startOf(call);
    await permit(start.request);
    return start;
  };
  let start = await decided();
  let kept: string | undefined;
  // All that can be refused has been: nothing is kept for a program that will not start.
  if (services.checkpoint && canDoAnything(start.does)) {
    kept = await services.checkpoint(folder, workspace, signal);
    // Long enough to change what was agreed to.
    start = await decided();
  }
  const { program, asTyped, notes, request } = start;
  const { command, effects } = request;
  const sink = context.keepOutput(command, folder);
  const outcome = await services.run({
    program,
    argv: start.argv,
    cwd: folder,
    env: start.env,
    signal,
    afterWait: () => permit(request),
    onLine: context.progress,
    // What tests print may be a report, which is only understood whole.
    keepBytes: action.parse || effects.includes('execute') ? parsedBytes : shownBytes,
    // What ends a call that takes longer than a client waits is the limit of its job.
    timeoutMs: action.timeoutMs ?? longestMs,
    lasts: effects.some((effect) => effect === 'execute' || effect === 'network'),
    sink,
    ...(context.takeInput && { takeInput: context.takeInput }),
  });
  sink.end();
  const said = [...notes, ...(kept === undefined ? [] : [kept])];
  const telling = { notes: said, handle: sink.handle };
  const named = { ...outcome, command: printable([program, ...asTyped]) };
  return (
    (await failureOf(named, action, discoverer.hints, telling)) ??
    actionResult(action, outcome.stdout.text, telling, outcome)
  );
}

/** Finds out what would be started, as things are now. Changes nothing; throws what precautionsFor() does. */
async function startOf(call: ActionCall): Promise<Start> {
  const { discoverer, name, action, values, paths, folder, context, services } = call;
  const { signal, workspace } = context;
  const { whenTrusted = [] } = action;
  // Before anything is started: a value that would be read as an option is refused here.
  const asTyped = [...(discoverer.prefix ?? []), ...renderArgv(action.argv, values)];
  const { repository, ceiling } = discoverer;
  const [found, { program, leading, env: given, notes, does }, trusted, isAnything] = await Promise.all([
    repository && checkRepository(repository, folder, action.effects, workspace),
    startingPoint(call),
    whenTrusted.length > 0 && context.trusts(folder),
    runsAnything(action, values, { folder, workspace }),
  ]);
  // Not above the repository that was looked at: one that is broken would be passed over for another.
  const tops = [...workspace.roots, ...(found ? [found.top] : [])].map((top) => dirname(top));
  const env = ceiling ? { ...given, [ceiling]: tops.join(delimiter) } : given;
  const precautions = await precautionsFor(discoverer, {
    name,
    action,
    folder,
    found,
    workspace,
    trusted,
    values,
    isTrusted: () => context.trusts(folder),
    ask: (question, cwd, first = {}) =>
      services.run({
        program,
        signal,
        cwd,
        argv: [...leading, ...question],
        // In English and byte by byte: what a name matches must not depend on the locale.
        env: { ...env, ...first, LC_ALL: 'C' },
        ...questionLimits,
      }),
  });
  const argv = [...leading, ...precautions.argv, ...asTyped];
  // By its usual name, so that a rule about it fits wherever it was found.
  const command = printable([discoverer.programs[0] ?? discoverer.id, ...withoutEnd(asTyped)]);
  const asks = precautions.asks ?? (isAnything ? 'command' : undefined);
  const always =
    precautions.always ?? (isAnything || takesAny(action) ? thisOnly(program, argv, folder) : undefined);
  return {
    program,
    argv,
    env: { ...env, ...precautions.env },
    asTyped,
    notes: [...notes, ...precautions.notes],
    does,
    request: {
      effects: [...new Set([...does, ...(trusted ? whenTrusted : []), ...(precautions.adds ?? [])])],
      folder,
      touches: paths,
      command,
      shows: [
        { title: 'Exactly', text: printable([program, ...argv]) },
        ...[...(precautions.tells ?? []), ...(precautions.shows ?? [])].map((shown) => ({
          ...shown,
          whole: true,
        })),
      ],
      ...(asks && { asks }),
      ...(always && { always }),
    },
  };
}

/** Whether it hands arguments over as they are to what it runs, which can be told anything by them. */
const takesAny = ({ argv }: RunAction): boolean =>
  argv.some((arg: Arg) => typeof arg === 'object' && 'rest' in arg);

const thisOnly = (program: string, argv: readonly string[], folder: string) => ({
  key: JSON.stringify([program, argv, folder]),
  says: 'this very command in this folder',
});

/** A "--" with nothing behind it: nobody would type it, or write it into a rule. */
const withoutEnd = (args: readonly string[]): readonly string[] =>
  args.at(-1) === '--' ? args.slice(0, -1) : args;

const canDoAnything = (effects: readonly Effect[]): boolean =>
  effects.includes('execute') || effects.includes('destroy');

/** Which program is started with which first arguments and environment, what that does, and what the caller is told. */
async function startingPoint({ discoverer, action, folder, context, services }: ActionCall) {
  const { roots } = context.workspace;
  const { installation, childEnvironment } = services;
  const given = childEnvironment(discoverer.environment ?? [], discoverer.settings ?? {});
  const project = await projectFolders(roots);
  const env = { ...given, PATH: project.pathWithout(given['PATH'] ?? '') };
  const hardening = discoverer.hardening ?? [];
  const local = await localProgram(discoverer.local, folder, roots, env);
  if (local !== undefined) {
    return { program: local, leading: hardening, env, notes: [`ran ${local}`], does: action.effects };
  }
  if (!installation) throw new ToolcribError('PROGRAM_NOT_FOUND', `${discoverer.title} was not found.`);
  const { program, leading, shim } = installation;
  if (await project.holds(program)) {
    throw new ToolcribError(
      'PROGRAM_NOT_FOUND',
      `${program} lies in the project, which must not choose what ${discoverer.title} is.`,
      'Take its folder off the PATH of the server; toolcrib doctor lists it.',
    );
  }
  // A shim asks the project which program it stands for.
  const { effects = action.effects, settings } = (shim === undefined && action.withoutLocal) || {};
  return {
    program,
    leading: [...leading, ...hardening],
    env: { ...env, ...settings },
    notes: [],
    does: effects,
  };
}
