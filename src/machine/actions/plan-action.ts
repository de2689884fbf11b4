import { renderArgv, printable } from '../../core/argv.ts';
import type { AnyDiscoverer, Effect, Inspection, RunAction } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { Plan, PlanContext } from '../../core/tool.ts';
import { rooted } from '../paths/workspace.ts';
import { projectFolders } from '../programs/project-folders.ts';
import type { ActionServices } from './action-services.ts';
import { localProgram } from './local-program.ts';
import { look } from './look.ts';
import type { PreparedProgram } from './run-program.ts';

/** One call of an action that runs its program, all paths in `values` checked. */
export interface ActionCall {
  /** Of the tool. */
  readonly name: string;
  /** Of the action, as its program has it. */
  readonly key: string;
  readonly discoverer: AnyDiscoverer;
  readonly action: RunAction;
  readonly values: Readonly<Record<string, unknown>>;
  /** Those of them that are paths. */
  readonly paths: readonly string[];
  readonly folder: string;
  readonly context: PlanContext;
  readonly services: ActionServices;
}

/** Finds out what would be started, and what has to be known about that. Starts nothing. */
export async function planAction(call: ActionCall): Promise<Plan<PreparedProgram>> {
  const { name, discoverer, action, values, paths, folder } = call;
  // Before anything else: a value that would be read as an option is refused here.
  const asTyped = [...(discoverer.prefix ?? []), ...renderArgv(action.argv, values)];
  const start = await startOf(call);
  const { effects } = action;
  const { trust, argv = [], trailing = [], env } = await inspected(call);
  // By its usual name, so that a rule about it fits wherever it was found.
  const command = printable([discoverer.programs[0] ?? discoverer.id, ...withoutEnd(asTyped)]);
  const takenBack = await isTakenBack(call);
  const whole = [...start.leading, ...argv, ...asTyped, ...trailing];
  const needs = trust ?? trustFor(effects);
  return {
    effects,
    subject: command,
    folder,
    touches: [...paths, ...start.own],
    ...(needs !== undefined && { trust: needs }),
    lasting: { kind: 'action', tool: name },
    takenBack,
    exactly: JSON.stringify([start.program, whole, folder, env]),
    work: {
      program: start.program,
      argv: whole,
      folder,
      env: { ...start.env, ...env },
      command,
      notes: start.notes,
      keeps: takenBack ? 'must' : canDoAnything(effects) ? 'first' : 'no',
      lasts: effects.some((effect) => effect === 'execute' || effect === 'network'),
      looksOnly: effects.every((effect) => effect === 'read'),
      ...(action.timeoutMs !== undefined && { timeoutMs: action.timeoutMs }),
    },
  };
}

/** Why the folder has to be trusted for what an action does there. */
function trustFor(effects: readonly Effect[]): string | undefined {
  if (effects.includes('execute')) return 'runs code of this folder';
  // Whom it talks to, and what it brings, is up to the files of the project.
  return effects.includes('network') ? 'talks to other machines as this folder says' : undefined;
}

const canDoAnything = (effects: readonly Effect[]): boolean =>
  effects.includes('execute') || effects.includes('destroy');

async function isTakenBack({ action, paths, folder, context, services }: ActionCall): Promise<boolean> {
  if (!action.takenBack || !services.checkpoint) return false;
  return services.checkpoint.isReady(folder, paths, context.workspace);
}

async function inspected({
  discoverer,
  key,
  action,
  values,
  folder,
  context,
}: ActionCall): Promise<Inspection> {
  if (!discoverer.inspect) return {};
  const { roots } = context.workspace;
  const { denied } = rooted(context.workspace);
  const trusted = () => context.trusts(folder);
  const { effects } = action;
  return discoverer.inspect(look, { action: key, folder, roots, effects, values, denied, trusted });
}

/** A "--" with nothing behind it: nobody would type it, or write it into a rule. */
const withoutEnd = (args: readonly string[]): readonly string[] =>
  args.at(-1) === '--' ? args.slice(0, -1) : args;

/** Which program is started, with which first arguments and environment, and what the caller is told about that. */
async function startOf({ discoverer, folder, context, services }: ActionCall) {
  const { roots } = context.workspace;
  const { installation, childEnvironment } = services;
  const given = childEnvironment(discoverer.environment ?? [], discoverer.settings ?? {});
  const project = await projectFolders(roots);
  const env: Record<string, string> = { ...given, PATH: project.pathWithout(given['PATH'] ?? '') };
  const hardening = discoverer.hardening ?? [];
  const local = await localProgram(discoverer.local, folder, roots, env);
  if (local !== undefined)
    return { program: local, leading: hardening, env, own: [local], notes: [`ran ${local}`] };
  if (!installation) throw new ToolcribError('PROGRAM_NOT_FOUND', `${discoverer.title} was not found.`);
  const { program, leading } = installation;
  if (await project.holds(program)) {
    throw new ToolcribError(
      'PROGRAM_NOT_FOUND',
      `${program} lies in the project, which must not choose what ${discoverer.title} is.`,
      'Take its folder off the PATH of the server; toolcrib doctor lists it.',
    );
  }
  return { program, leading: [...leading, ...hardening], env, own: [], notes: [] };
}
