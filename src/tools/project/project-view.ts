import { join } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import type { Role } from '../../core/program.ts';
import { fits } from '../../core/rule.ts';
import type { CallContext, PlanContext, Tool, Result } from '../../core/tool.ts';
import { upwards } from '../../core/upwards.ts';
import { planCallOf, type PlannedCall } from '../../machine/actions/acts.ts';
import { evidenceIn, namePattern } from '../../machine/programs/evidence.ts';
import type { ToolPlanContext } from '../define-tool.ts';
import type { ToolDefinition } from '../../core/tool-definition.ts';

/** An action that plays a role in a project. */
export interface RolePlayer {
  readonly action: ToolDefinition;
  /** Of the project, by which it shows that it uses the program: `package.json`. */
  readonly sign: string;
  /** Where that is. */
  readonly folder: string;
}

/** A task of the project, and the program that runs it, which need not be here. */
export interface ProjectTask {
  readonly name: string;
  readonly command?: string | undefined;
  readonly says?: string | undefined;
  readonly program: string;
  readonly folder: string;
}

/** Where projects keep the files of their databases, beside their top. */
const databaseFolders = ['data', 'database', 'db', 'instance', 'prisma', 'storage', 'var'];

/** A folder of a project, as the tools that are made of roles see it. */
export class ProjectView {
  readonly folder: string;
  readonly context: ToolPlanContext;

  constructor(folder: string, context: ToolPlanContext) {
    this.folder = folder;
    this.context = context;
  }

  /** The folder of the parameter `cwd`, else where calls work. */
  static async of(
    { cwd }: { readonly cwd?: string | undefined },
    context: ToolPlanContext,
  ): Promise<ProjectView> {
    const { workspace } = context;
    if (cwd === undefined) return new ProjectView(workspace.home, context);
    return new ProjectView(await workspace.resolve(cwd, { kind: 'folder', mustExist: true }), context);
  }

  /**
   * The actions of a role whose programs the project uses: those of the nearest folder above that has any.
   */
  async players(role: Role): Promise<RolePlayer[]> {
    return this.#playing(role, await this.context.session.tools.callable());
  }

  /** The same of programs that are not on this machine. */
  async absent(role: Role): Promise<RolePlayer[]> {
    return this.#playing(role, await this.context.session.tools.absent());
  }

  async #playing(role: Role, tools: readonly ToolDefinition[]): Promise<RolePlayer[]> {
    const { host, catalogue } = this.context.session.environment;
    const actions = tools.filter((tool) => tool.role === role);
    const ids = new Set(actions.map(({ program }) => program));
    const programs = catalogue.programs.filter(({ id }) => ids.has(id));
    for (const here of upwards(this.folder, this.context.workspace.roots)) {
      const signs = await evidenceIn([here], programs, host);
      const found = actions.flatMap((action) => {
        const sign = signs.get(action.program);
        return sign === undefined ? [] : [{ action, sign, folder: here }];
      });
      if (found.length > 0) return found;
    }
    return [];
  }

  /**
   * The database files of a project: at its top, or in a folder that is usual. Their signs are paths from the
   * top.
   */
  async databaseFiles(role: Role): Promise<RolePlayer[]> {
    const { workspace, session } = this.context;
    const { host, catalogue } = session.environment;
    const { home } = workspace;
    const actions = (await session.tools.callable()).filter((tool) => tool.role === role && !tool.engine);
    const signs = actions.map(({ program }) =>
      (catalogue.programs.find(({ id }) => id === program)?.project ?? []).flatMap((sign) =>
        typeof sign === 'string' ? [namePattern(sign)] : [],
      ),
    );
    const names = await host.list(home);
    const folders = ['', ...databaseFolders.filter((name) => names.includes(name))];
    const lists = await Promise.all(
      folders.map((name) => (name === '' ? names : host.list(join(home, name)))),
    );
    return lists.flatMap((list, at) =>
      list.toSorted().flatMap((name) => {
        const action = actions.find((_, which) => signs[which]?.some((sign) => sign.test(name)));
        return action ? [{ action, sign: [folders[at], name].filter(Boolean).join('/'), folder: home }] : [];
      }),
    );
  }

  /**
   * The tasks that can be told without running anything, and what their files say beside: packages of a
   * workspace.
   */
  async tasks() {
    const players = await this.players('tasks');
    const absent = await this.absent('tasks');
    const lists = await Promise.all(
      [...players, ...absent.filter(({ action }) => action.reads)]
        .filter(({ action }) => action.effects.every((effect) => effect === 'read'))
        .map(async ({ action, folder }) => {
          const { program } = action;
          const { items = [], more } = ((await this.looked(action, folder))?.data ?? {}) as {
            readonly items?: readonly Pick<ProjectTask, 'name' | 'command' | 'says'>[];
            readonly more?: string;
          };
          return { tasks: items.map((task) => ({ ...task, program, folder })), more };
        }),
    );
    const tasks = onePerFile(
      lists.map((list) => list.tasks),
      players,
    );
    return { tasks, more: [...new Set(lists.flatMap(({ more }) => more ?? []))] };
  }

  /** What an action that only looks answers in a folder; undefined when it cannot. */
  async looked(action: ToolDefinition, cwd = this.folder): Promise<Result | undefined> {
    const { context } = this;
    try {
      const tool = await context.session.load(action);
      const plan = await tool.plan({ cwd }, context);
      // Nobody can be asked about a look on the way, so that what is denied or asked about is left out.
      const act = { tools: [action.name], subject: plan.subject };
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

  /** Plans an action. Throws what planning throws. */
  async act<About>(
    action: ToolDefinition,
    values: Readonly<Record<string, unknown>>,
    about: About,
  ): Promise<PlannedCall<About>> {
    return planCallOf(await this.context.session.load(action), values, this.context, about);
  }

  /** Plans what players would do with these values; `refused` are those that cannot, and why. */
  async acts<About>(
    players: readonly RolePlayer[],
    valuesFor: (
      tool: Tool,
      folder: string,
    ) => readonly [values: Readonly<Record<string, unknown>>, about: About],
  ) {
    const acts: PlannedCall<About>[] = [];
    const refused: { action: ToolDefinition; error: ToolcribError }[] = [];
    for (const { action, folder: cwd } of players) {
      try {
        const tool = await this.context.session.load(action);
        const [values, about] = valuesFor(tool, cwd);
        acts.push(await planCallOf(tool, { ...values, cwd }, this.context, about));
      } catch (error) {
        if (!(error instanceof ToolcribError)) throw error;
        refused.push({ action, error }); // Another one may be the one of this project.
      }
    }
    return { acts, refused };
  }
}

/** Those of one program, where one is named. Throws ARG_INVALID for one that has nothing to do here. */
export function rolePlayersOf(
  program: string | undefined,
  players: readonly RolePlayer[],
): readonly RolePlayer[] {
  const wanted = players.filter(({ action }) => program === undefined || action.program === program);
  if (wanted.length > 0 || players.length === 0 || program === undefined) return wanted;
  throw new ToolcribError(
    'ARG_INVALID',
    `program: the project shows no sign of ${JSON.stringify(program.slice(0, 100))}.`,
    `There is ${[...new Set(players.map(({ action }) => action.program))].join(', ')}.`,
  );
}

/** npm, pnpm and Yarn read the same scripts: those of the project's own package manager are the ones. */
function onePerFile(
  lists: readonly (readonly ProjectTask[])[],
  players: readonly RolePlayer[],
): readonly ProjectTask[] {
  const seen = new Map<string, readonly ProjectTask[]>();
  for (const list of lists) {
    const key = JSON.stringify(list.map(({ name, command }) => [name, command]));
    const player = players.find(({ action }) => action.program === list[0]?.program);
    // Who has a sign of its own beside the file that all of them read is the one, if it is here.
    if (!seen.has(key) || (player && player.sign !== 'package.json')) seen.set(key, list);
  }
  return [...seen.values()].flat();
}

/** A look on the way to something else: nobody hears of it, and nothing of it is kept. */
const quiet = (context: PlanContext): CallContext => ({
  ...context,
  progress() {},
  keepOutput: () => ({ handle: '', add() {}, end() {} }),
});
