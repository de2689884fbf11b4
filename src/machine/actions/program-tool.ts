import type { Platform } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import { pathFacts } from '../../core/params.ts';
import type { Param } from '../../core/parameter.ts';
import type { Program, ProgramAction, Values, Way } from '../../core/program.ts';
import type { Report } from '../../core/report.ts';
import type { Plan, PlanContext, Tool, Result } from '../../core/tool.ts';
import { upwards } from '../../core/upwards.ts';
import { rooted } from '../paths/workspace.ts';
import { headAndTail, sanitize } from '../sanitize.ts';
import { reported } from './action-result.ts';
import { describeAction } from './describe.ts';
import { planCall, type ActionCall, type PreparedCall } from './plan-call.ts';
import { runCall } from './run-call.ts';
import type { ActionServices } from './run-program.ts';

/** An action of an installed program as a tool. */
export function programTool(of: Program, key: string, action: ProgramAction, services: ActionServices): Tool {
  const facts = describeAction(of, key, action);
  const { name } = facts;
  if (action.databaseQuestion) {
    const databases = () => import('../databases/ask-database.ts');
    return {
      ...facts,
      plan: async (values, context) =>
        (await databases()).planQuery({ tool: name, action, values, services }, context),
      run: async ({ work }, context) => (await databases()).queryDatabase(work, context),
    };
  }
  const called = async (values: Record<string, unknown>, context: PlanContext): Promise<ActionCall> => ({
    of,
    key,
    action,
    ...(await placed(action, values, context)),
    context,
    services,
  });
  if (action.reads) return { ...facts, ...readingTool(action, called) };
  if (action.client) {
    const databases = () => import('../databases/database-program.ts');
    return {
      ...facts,
      plan: async (values, context) => (await databases()).planDatabaseProgram(await called(values, context)),
      run: async ({ work }, context) => (await databases()).runDatabaseProgram(work, context),
    };
  }
  if (action.ways) return { ...facts, ...wayTool(action.ways, called) };
  return {
    ...facts,
    plan: async (values, context) => planCall(await called(values, context), action.run),
    run: ({ work }: Plan<PreparedCall>, context) => runCall(work, action, context),
  };
}

type Halves = Pick<Tool, 'plan' | 'run'>;
type Called = (values: Record<string, unknown>, context: PlanContext) => Promise<ActionCall>;

/** Roles of actions that find nothing wrong with a file that is not there. A glob may find something. */
const looking: ReadonlySet<string | undefined> = new Set(['test', 'lint', 'types', 'format']);

/** The folder of a call, every path parameter replaced by an absolute path inside the roots, and these paths. */
async function placed(
  { params, role }: ProgramAction,
  { cwd, ...values }: Record<string, unknown>,
  { workspace }: PlanContext,
) {
  const folder =
    cwd === undefined
      ? workspace.home
      : await workspace.resolve(String(cwd), { kind: 'folder', mustExist: true });
  const resolved: Record<string, unknown> = { ...values };
  const paths: string[] = [];
  for (const [name, { schema }] of Object.entries<Param>(params)) {
    const facts = pathFacts(schema);
    if (!facts) continue;
    const { kind, written } = facts;
    const inside = async (path: unknown) => {
      const mustExist = !written && looking.has(role) && !/[*?[{]/.test(String(path));
      const found = await workspace.resolve(String(path), { from: folder, kind, mustExist });
      // The gate looks at what a program will write as it does at what we write; it makes the folders that are missing.
      const place = written ? await unlessMissing(rooted(workspace).openPlace(found)) : undefined;
      await place?.folder.handle.close();
      paths.push(found);
      return found;
    };
    const value = values[name];
    if (typeof value === 'string') resolved[name] = await inside(value);
    if (Array.isArray(value)) resolved[name] = await Promise.all(value.map(inside));
  }
  return { folder, values: resolved, paths };
}

/** Reads a file of the project, from the folder upwards, because asking the program would run the project's code. */
const readingTool = (
  { reads, out }: ProgramAction & { reads: readonly string[] },
  called: Called,
): Halves => ({
  async plan(given, context): Promise<Plan<Pick<ActionCall, 'folder' | 'values'>>> {
    const { key, of, folder, values } = await called(given, context);
    const subject = `reads ${reads.join(', ')}`;
    const fingerprint = JSON.stringify([of.id, key, folder]);
    const work = { folder, values };
    return { effects: ['read'], subject, folder, paths: [], isUndoable: false, fingerprint, work };
  },
  async run({ work: { folder, values } }: Plan<Pick<ActionCall, 'folder' | 'values'>>, { workspace }) {
    for (const here of upwards(folder, workspace.roots))
      for (const name of reads) {
        const opened = await unlessMissing(rooted(workspace).open('file', name, { from: here }));
        if (!opened) continue;
        try {
          const text = (await opened.handle.read(0, readBytes)).toString('utf8');
          return answerFrom(name, text, out, values);
        } finally {
          await opened.handle.close();
        }
      }
    throw new ToolcribError(
      'PATH_NOT_FOUND',
      `${folder}: there is no ${reads.join(', ')} here or above, up to the root.`,
      'Give the folder that has one as cwd.',
    );
  },
});

/** A file of a project that is larger was not written by hand. */
const readBytes = 1024 * 1024;

function answerFrom(name: string, text: string, out: Report | undefined, values: Values): Result {
  const output = { stdout: text, stderr: '', exitCode: 0, files: { [name]: text }, after: {}, values };
  try {
    if (out) return reported(out, out.read(output), '', { command: name, notes: [] });
  } catch {
    // It is not written as usual: what it says is shown.
  }
  return { content: [{ type: 'text', text: headAndTail(sanitize(text), 4000, 0, ' …') }] };
}

interface PreparedWay {
  readonly way: Way;
  readonly prepared: PreparedCall;
}

/** The same act by other programs: the first that this system has. */
const wayTool = (ways: readonly Way[], called: Called): Halves => ({
  async plan(values, context): Promise<Plan<PreparedWay>> {
    const call = await called(values, context);
    const { which } = call.services.databases;
    for (const way of ways) {
      if (!way.on.includes(process.platform as Platform)) continue;
      const program = await which(way.by);
      if (program === undefined) continue;
      const installation = { id: way.by, program, leading: [], words: [], source: '', others: [] };
      const action = { ...call.action, dashes: way.dashes } as ProgramAction;
      const of = { ...call.of, called: [way.by] };
      const plan = await planCall(
        { ...call, of, action, services: { ...call.services, installation } },
        way.run,
      );
      return { ...plan, work: { way, prepared: plan.work } };
    }
    const names = ways.map(({ by }) => by).join(', ');
    throw new ToolcribError('PROGRAM_NOT_FOUND', `None of ${names} is on this machine.`);
  },
  run: ({ work: { way, prepared } }: Plan<PreparedWay>, context) => runCall(prepared, way, context),
});

const unlessMissing = <T>(opened: Promise<T>): Promise<T | undefined> =>
  opened.catch((error: unknown) => {
    if (error instanceof ToolcribError && error.code === 'PATH_NOT_FOUND') return undefined;
    throw error;
  });
