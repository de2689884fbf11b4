import { join } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import type { Role } from '../../core/program.ts';
import { fits } from '../../core/rule.ts';
import type { CallContext, PlanContext, Tool } from '../../core/tool.ts';
import { upwards } from '../../core/upwards.ts';
import type { Host } from '../../machine/host.ts';
import type { Catalogue } from '../catalogue/find-actions.ts';
import { signsIn } from '../exposure.ts';
import type { PublishedTool } from '../published.ts';

/** What the tools that are made of roles need. */
export interface RoleServices {
  readonly catalogue: Pick<Catalogue, 'manifest' | 'offered' | 'refresh'>;
  readonly host: Host;
  /** An action by the name of its tool. */
  load(name: string): Promise<Tool>;
}

/** An action that plays a role in a project. */
export interface Player {
  readonly action: PublishedTool;
  /** Of the project, by which it shows that it uses the program: `package.json`. */
  readonly sign: string;
  /** Where that is. */
  readonly folder: string;
}

/** The actions of a role whose programs a project uses: those of the nearest folder, up to the root, that has any. */
export const playersOf: PlayersOf = async (role, folder, roots, services) =>
  playing(role, await services.catalogue.offered.callable(), { folder, roots, services });

/** The same of programs that are not on this machine. */
export const absentOf: PlayersOf = async (role, folder, roots, services) =>
  playing(role, await services.catalogue.offered.absent(), { folder, roots, services });

type PlayersOf = (
  role: Role,
  folder: string,
  roots: readonly string[],
  services: RoleServices,
) => Promise<Player[]>;

async function playing(
  role: Role,
  tools: readonly PublishedTool[],
  { folder, roots, services }: { folder: string; roots: readonly string[]; services: RoleServices },
): Promise<Player[]> {
  const { manifest } = services.catalogue;
  const actions = tools.filter((tool) => tool.role === role);
  const ids = new Set(actions.map(({ program }) => program));
  const programs = manifest.programs.filter(({ id }) => ids.has(id));
  for (const here of upwards(folder, roots)) {
    const signs = await signsIn([here], programs, services.host);
    const found = actions.flatMap((action) => {
      const sign = signs.get(action.program);
      return sign === undefined ? [] : [{ action, sign, folder: here }];
    });
    if (found.length > 0) return found;
  }
  return [];
}

/** Where projects keep the files of their databases, beside their top. */
const databaseFolders = ['data', 'database', 'db', 'instance', 'prisma', 'storage', 'var'];

/** The database files of a project: at its top, or in a folder that is usual. Their signs are paths from the top. */
export async function databaseFiles(
  role: Role,
  { home, roots }: Pick<PlanContext['workspace'], 'home' | 'roots'>,
  services: Pick<RoleServices, 'catalogue' | 'host' | 'load'>,
): Promise<Player[]> {
  const names = await services.host.list(home);
  const folders = ['', ...databaseFolders.filter((name) => names.includes(name))];
  const found = await Promise.all(
    folders.map(async (name) => {
      const at = join(home, name);
      const players = await playersOf(role, at, roots, services);
      return players
        .filter(({ folder }) => folder === at)
        .map((player) => ({ ...player, sign: name === '' ? player.sign : `${name}/${player.sign}` }));
    }),
  );
  return found.flat();
}

/** A task of the project, and the program that runs it, which need not be here. */
export interface Task {
  readonly name: string;
  readonly command?: string | undefined;
  readonly says?: string | undefined;
  readonly program: string;
  readonly folder: string;
}

interface Tasks {
  readonly tasks: readonly Task[];
  /** What their files say beside: the packages of a workspace. */
  readonly more: readonly string[];
}

/** The tasks of a project that can be told without running anything: scripts, targets. */
export async function tasksOf(folder: string, context: PlanContext, services: RoleServices): Promise<Tasks> {
  const { roots } = context.workspace;
  const players = await playersOf('tasks', folder, roots, services);
  const absent = await absentOf('tasks', folder, roots, services);
  const lists = await Promise.all(
    [...players, ...absent.filter(({ action }) => action.reads)]
      .filter(({ action }) => action.effects.every((effect) => effect === 'read'))
      .map(async (player) => {
        const found = await looked(player.action.name, { cwd: player.folder }, context, services);
        const { items = [], more } = (found?.data ?? {}) as {
          readonly items?: readonly Pick<Task, 'name' | 'command' | 'says'>[];
          readonly more?: string;
        };
        const of = { program: player.action.program, folder: player.folder };
        return { tasks: items.map((task) => ({ ...task, ...of })), more };
      }),
  );
  return {
    tasks: onePerFile(
      lists.map(({ tasks }) => tasks),
      players,
    ),
    more: [...new Set(lists.flatMap(({ more }) => more ?? []))],
  };
}

/** npm, pnpm and Yarn read the same scripts: those of the project's own package manager are the ones. */
function onePerFile(lists: readonly (readonly Task[])[], players: readonly Player[]): readonly Task[] {
  const seen = new Map<string, readonly Task[]>();
  for (const list of lists) {
    const key = JSON.stringify(list.map(({ name, command }) => [name, command]));
    const player = players.find(({ action }) => action.program === list[0]?.program);
    // Who has a sign of its own beside the file that all of them read is the one, if it is here.
    if (!seen.has(key) || (player && player.sign !== 'package.json')) seen.set(key, list);
  }
  return [...seen.values()].flat();
}

/** What an action that only looks answers; undefined when it cannot. */
export async function looked(
  name: string,
  values: Record<string, unknown>,
  context: PlanContext,
  { load }: Pick<RoleServices, 'load'>,
) {
  try {
    const tool = await load(name);
    const plan = await tool.plan(values, context);
    // Nobody can be asked about a look on the way, so that what is denied or asked about is left out.
    const act = { tools: [name], subject: plan.subject };
    if (context.rules.some(({ decision, pattern }) => decision !== 'allow' && fits(pattern, act)))
      return undefined;
    if (plan.trust !== undefined && !(await context.trusts(plan.folder))) return undefined;
    const result = await tool.run(plan, quiet(context));
    return result.isError ? undefined : result;
  } catch (error) {
    if (!(error instanceof ToolcribError)) throw error;
    return undefined; // What it would have said is left out.
  }
}

/** A look on the way to something else: nobody hears of it, and nothing of it is kept. */
const quiet = (context: PlanContext): CallContext => ({
  ...context,
  progress() {},
  keepOutput: () => ({ handle: '', add() {}, end() {} }),
});
