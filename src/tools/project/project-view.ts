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

/** An action of a program that the project uses: the one that runs its tests, installs its packages. */
export interface ProjectAction {
  readonly action: ToolDefinition;
  /** The file that shows that the project uses the program: `package.json`. */
  readonly evidence: string;
  /** The folder of that file. */
  readonly folder: string;
}

/** A task of the project, and the program that runs it, which need not be on this machine. */
export interface ProjectTask {
  readonly name: string;
  readonly command?: string | undefined;
  readonly says?: string | undefined;
  readonly program: string;
  readonly folder: string;
}

/** Folders in which projects keep the files of their databases; others lie in the top folder. */
const databaseFolders = ['data', 'database', 'db', 'instance', 'prisma', 'storage', 'var'];

/** The calls that could be planned, and the actions that could not be. */
interface PlannedCalls<About> {
  readonly calls: readonly PlannedCall<About>[];
  readonly refused: readonly { readonly action: ToolDefinition; readonly error: ToolcribError }[];
}

/** A folder of a project, with the actions, tasks and databases that were found for it. */
export class ProjectView {
  readonly folder: string;
  readonly context: ToolPlanContext;

  constructor(folder: string, context: ToolPlanContext) {
    this.folder = folder;
    this.context = context;
  }

  /** The view of the folder in the parameter `cwd`, or of the first root without one. */
  static async of(
    { cwd }: { readonly cwd?: string | undefined },
    context: ToolPlanContext,
  ): Promise<ProjectView> {
    const { workspace } = context;
    if (cwd === undefined) return new ProjectView(workspace.home, context);
    return new ProjectView(await workspace.resolve(cwd, { kind: 'folder', mustExist: true }), context);
  }

  /**
   * Finds the actions with a role whose programs the project uses, by the nearest folder that shows evidence,
   * from this one upwards.
   */
  async actionsFor(role: Role): Promise<ProjectAction[]> {
    return this.#usedActions(role, await this.context.session.tools.callable());
  }

  /** Finds such actions of programs that are not on this machine. */
  async missingActionsFor(role: Role): Promise<ProjectAction[]> {
    return this.#usedActions(role, await this.context.session.tools.absent());
  }

  async #usedActions(role: Role, tools: readonly ToolDefinition[]): Promise<ProjectAction[]> {
    const { host, catalogue } = this.context.session.environment;
    const actions = tools.filter((tool) => tool.role === role);
    const ids = new Set(actions.map(({ program }) => program));
    const programs = catalogue.programs.filter(({ id }) => ids.has(id));
    for (const folder of upwards(this.folder, this.context.workspace.roots)) {
      const evidenceOf = await evidenceIn([folder], programs, host);
      const used = actions.flatMap((action) => {
        const evidence = evidenceOf.get(action.program);
        return evidence === undefined ? [] : [{ action, evidence, folder }];
      });
      if (used.length > 0) return used;
    }
    return [];
  }

  /**
   * Finds the database files in the top folder of the project and in the usual folders below it. The evidence
   * is the path of the file from the top folder.
   */
  async databaseFiles(role: Role): Promise<ProjectAction[]> {
    const { workspace, session } = this.context;
    const { host, catalogue } = session.environment;
    const { home } = workspace;
    const actions = (await session.tools.callable()).filter((tool) => tool.role === role && !tool.engine);
    const patterns = actions.map(({ program }) =>
      (catalogue.programs.find(({ id }) => id === program)?.project ?? []).flatMap((evidence) =>
        typeof evidence === 'string' ? [namePattern(evidence)] : [],
      ),
    );
    const names = await host.list(home);
    const folders = ['', ...databaseFolders.filter((name) => names.includes(name))];
    const lists = await Promise.all(
      folders.map((name) => (name === '' ? names : host.list(join(home, name)))),
    );
    return lists.flatMap((list, at) =>
      list.toSorted().flatMap((name) => {
        const action = actions.find((_, index) => patterns[index]?.some((pattern) => pattern.test(name)));
        if (!action) return [];
        return [{ action, evidence: [folders[at], name].filter(Boolean).join('/'), folder: home }];
      }),
    );
  }

  /**
   * Lists the tasks that can be read without running code of the project; `more` is what their files say
   * besides, such as the packages of a workspace.
   */
  async tasks(): Promise<{ readonly tasks: readonly ProjectTask[]; readonly more: readonly string[] }> {
    const actions = await this.actionsFor('tasks');
    const missing = await this.missingActionsFor('tasks');
    const lists = await Promise.all(
      [...actions, ...missing.filter(({ action }) => action.reads)]
        .filter(({ action }) => action.effects.every((effect) => effect === 'read'))
        .map(async ({ action, folder }) => {
          const { program } = action;
          const { items = [], more } = ((await this.readWith(action, folder))?.data ?? {}) as {
            readonly items?: readonly Pick<ProjectTask, 'name' | 'command' | 'says'>[];
            readonly more?: string;
          };
          return { tasks: items.map((task) => ({ ...task, program, folder })), more };
        }),
    );
    const tasks = onePerFile(
      lists.map((list) => list.tasks),
      actions,
    );
    return { tasks, more: [...new Set(lists.flatMap(({ more }) => more ?? []))] };
  }

  /**
   * Runs an action that only reads in a folder; undefined when it fails, or when somebody would have to be
   * asked.
   */
  async readWith(action: ToolDefinition, cwd = this.folder): Promise<Result | undefined> {
    const { context } = this;
    try {
      const tool = await context.session.load(action);
      const plan = await tool.plan({ cwd }, context);
      // Nobody can be asked in the middle of another call, so that what is denied or asked about is left out.
      const act = { tools: [action.name], subject: plan.subject };
      if (context.rules.some(({ decision, pattern }) => decision !== 'allow' && fits(pattern, act)))
        return undefined;
      if (plan.trust !== undefined && !(await context.trusts(plan.folder))) return undefined;
      const result = await tool.run(plan, silent(context));
      return result.isError ? undefined : result;
    } catch (error) {
      if (!(error instanceof ToolcribError)) throw error;
      // An action that cannot be used here has nothing to contribute.
      return undefined;
    }
  }

  /** Plans a call of an action. Throws what planning throws. */
  async planCall<About>(
    action: ToolDefinition,
    values: Readonly<Record<string, unknown>>,
    about: About,
  ): Promise<PlannedCall<About>> {
    return planCallOf(await this.context.session.load(action), values, this.context, about);
  }

  /**
   * Plans calls of actions, each in its folder; `refused` has those that cannot be planned, with the reason.
   */
  async planCalls<About>(
    actions: readonly ProjectAction[],
    valuesFor: (
      tool: Tool,
      folder: string,
    ) => readonly [values: Readonly<Record<string, unknown>>, about: About],
  ): Promise<PlannedCalls<About>> {
    const calls: PlannedCall<About>[] = [];
    const refused: { action: ToolDefinition; error: ToolcribError }[] = [];
    for (const { action, folder: cwd } of actions) {
      try {
        const tool = await this.context.session.load(action);
        const [values, about] = valuesFor(tool, cwd);
        calls.push(await planCallOf(tool, { ...values, cwd }, this.context, about));
      } catch (error) {
        if (!(error instanceof ToolcribError)) throw error;
        // Another action of the list may be the right one for this project.
        refused.push({ action, error });
      }
    }
    return { calls, refused };
  }
}

/**
 * The actions of one program, or all without a name. Throws ARG_INVALID for a program the project does not
 * use.
 */
export function actionsOfProgram(
  program: string | undefined,
  actions: readonly ProjectAction[],
): readonly ProjectAction[] {
  const matching = actions.filter(({ action }) => program === undefined || action.program === program);
  if (matching.length > 0 || actions.length === 0 || program === undefined) return matching;
  throw new ToolcribError(
    'ARG_INVALID',
    `program: the project shows no sign of ${JSON.stringify(program.slice(0, 100))}.`,
    `There is ${[...new Set(actions.map(({ action }) => action.program))].join(', ')}.`,
  );
}

/**
 * Leaves out tasks that several programs list from one file. npm, pnpm and Yarn read the same scripts: those
 * of the project's own package manager count.
 */
function onePerFile(
  lists: readonly (readonly ProjectTask[])[],
  actions: readonly ProjectAction[],
): readonly ProjectTask[] {
  const seen = new Map<string, readonly ProjectTask[]>();
  for (const list of lists) {
    const key = JSON.stringify(list.map(({ name, command }) => [name, command]));
    const user = actions.find(({ action }) => action.program === list[0]?.program);
    // A program with a file of its own, such as a lock file, beside the one that all read is the project's.
    if (!seen.has(key) || (user && user.evidence !== 'package.json')) seen.set(key, list);
  }
  return [...seen.values()].flat();
}

/** The context of a call that is made for another one: it reports no progress, and its output is not kept. */
const silent = (context: PlanContext): CallContext => ({
  ...context,
  progress() {},
  keepOutput: () => ({ handle: '', add() {}, end() {} }),
});
