import { join } from 'node:path';
import { renderArgv, printable } from '../../core/argv.ts';
import { toolName, type AnyDiscoverer, type Effect, type RunAction } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { Plan, PlanContext } from '../../core/tool.ts';
import { rooted } from '../paths/workspace.ts';
import { isExecutable } from '../programs/is-executable.ts';
import { projectFolders } from '../programs/project-folders.ts';
import { upwards } from '../../core/upwards.ts';
import { look } from './look.ts';
import type { ActionServices, PreparedProgram } from './run-program.ts';

/** One call of an action that runs its program, all paths in `values` checked. */
export interface ActionCall {
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
  const { key, discoverer, action, values, paths, folder, context } = call;
  const { effects } = action;
  const has = (effect: Effect) => effects.includes(effect);
  // Before anything else: a value that would be read as an option is refused here.
  const asTyped = [...(discoverer.prefix ?? []), ...renderArgv(action.argv, values)];
  const start = await startOf(call);
  const { workspace } = context;
  const { roots } = workspace;
  const { denied } = rooted(workspace);
  const trusted = () => context.trusts(folder);
  const project = { action: key, folder, roots, effects, values, denied, trusted };
  const { trust, argv = [], trailing = [], env } = (await discoverer.inspect?.(look, project)) ?? {};
  // By its usual name, so that a rule about it fits wherever it was found.
  const command = printable([discoverer.programs[0] ?? discoverer.id, ...withoutEnd(asTyped)]);
  const takenBack = await isTakenBack(call, start);
  const whole = [...start.leading, ...argv, ...asTyped, ...trailing];
  // Whom it talks to, and what it brings, is up to the files of the project.
  const talks = has('network') ? 'talks to other machines as this folder says' : undefined;
  const needs = trust ?? (has('execute') ? 'runs code of this folder' : talks);
  return {
    effects,
    subject: command,
    folder,
    touches: [...paths, ...start.own],
    ...(needs !== undefined && { trust: needs }),
    lasting: { kind: 'action', tool: toolName(discoverer, key) },
    takenBack,
    exactly: JSON.stringify([start.program, whole, folder, env]),
    work: {
      program: start.program,
      argv: whole,
      folder,
      env: { ...start.env, ...env },
      command,
      notes: start.own.map((program) => `ran ${program}`),
      keeps: takenBack ? 'must' : has('execute') || has('destroy') ? 'first' : 'no',
      lasts: has('execute') || has('network'),
      looksOnly: effects.every((effect) => effect === 'read'),
      ...(action.timeoutMs !== undefined && { timeoutMs: action.timeoutMs }),
    },
  };
}

/** Whether undo would bring back all that the program says it could change. It is asked in a trusted folder only. */
async function isTakenBack(
  { action, values, folder, context, services: { run, checkpoint } }: ActionCall,
  { program, leading, env }: Awaited<ReturnType<typeof startOf>>,
): Promise<boolean> {
  if (!action.takenBack || !checkpoint || !(await context.trusts(folder))) return false;
  const ask = (args: readonly string[]) =>
    run({ program, argv: [...leading, ...args], cwd: folder, env, signal: context.signal });
  const unkept = await ask(action.takenBack.unless);
  if (unkept.exitCode !== 0 || unkept.stdout.bytes.length > 0) return false;
  const { exitCode, stdout } = await ask(renderArgv(action.takenBack.changes, values));
  if (exitCode !== 0 || stdout.omittedBytes > 0) return false;
  const names = stdout.bytes
    .toString()
    .split('\0')
    .filter((name) => name !== '');
  return checkpoint.isReady(folder, names, context.workspace);
}

/** A "--" with nothing behind it: nobody would type it, or write it into a rule. */
const withoutEnd = (args: readonly string[]): readonly string[] =>
  args.at(-1) === '--' ? args.slice(0, -1) : args;

/** Which program is started, with which first arguments and environment; `own`: that it is the project's own copy. */
async function startOf({ discoverer, folder, context, services }: ActionCall) {
  const { roots } = context.workspace;
  const { installation, env: given } = services;
  const project = await projectFolders(roots);
  const env: Record<string, string> = { ...given, PATH: project.pathWithout(given['PATH'] ?? '') };
  const hardening = discoverer.hardening ?? [];
  const local = await localProgram(discoverer.local, folder, roots, env);
  if (local !== undefined) return { program: local, leading: hardening, env, own: [local] };
  if (!installation) throw new ToolcribError('PROGRAM_NOT_FOUND', `${discoverer.title} was not found.`);
  const { program, leading } = installation;
  if (!(await project.holds(program))) return { program, leading: [...leading, ...hardening], env, own: [] };
  throw new ToolcribError(
    'PROGRAM_NOT_FOUND',
    `${program} lies in the project, which must not choose what ${discoverer.title} is.`,
    'Take its folder off the PATH of the server; toolcrib doctor lists it.',
  );
}

/** A project's own copy of a program: the first place that there is, from the folder upwards, then by a variable. */
async function localProgram(
  local: AnyDiscoverer['local'],
  folder: string,
  roots: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const places = local?.[process.platform === 'win32' ? 'win32' : 'posix'] ?? [];
  const below = upwards(folder, roots).flatMap((here) =>
    places.filter((place) => !place.startsWith('$')).map((place) => join(here, place)),
  );
  const named = places.flatMap((place) => {
    const [, name = '', rest] = /^\$(\w+)\/(.+)$/.exec(place) ?? [];
    return rest && env[name] ? [join(env[name], rest)] : [];
  });
  for (const place of [...below, ...named]) if (await isExecutable(place)) return place;
  return undefined;
}
