import { resolve } from 'node:path';
import * as z from 'zod';
import { also } from '../core/accepted.ts';
import { ToolcribError } from '../core/errors.ts';
import { pathFacts } from '../core/params.ts';
import type { Result, Tool } from '../core/tool.ts';
import { combinePlans, type PlannedCall } from '../machine/actions/acts.ts';
import { sanitize } from '../machine/sanitize.ts';
import type { Problem, Session } from '../machine/session.ts';
import { defineTool, type ToolCallContext, type ToolPlanContext } from './define-tool.ts';
import { chooseActions } from './project/choose-actions.ts';
import { toOneLine } from './output/job-text.ts';
import {
  checkKinds,
  formatChecks,
  problemsOf,
  type CheckKind,
  type CheckOutcome,
} from './project/check-report.ts';
import { ProjectView, type ProjectAction, type ProjectTask } from './project/project-view.ts';

const params = z.strictObject({
  what: also(
    z
      .enum([...checkKinds, 'all'])
      .default('test')
      .describe('test when left out; all: types, lint, test'),
    'kind',
    { values: { tests: 'test', typecheck: 'types', 'type-check': 'types', compile: 'build', fmt: 'format' } },
  ),
  only: z.array(z.string().min(1)).optional().describe('These files or tests: ["src/cart.test.ts"]'),
  again: z.boolean().optional().describe('Only what failed last time'),
  cwd: z.string().min(1).optional().describe('Folder of one package: "packages/api"'),
});
type CheckParams = z.output<typeof params>;

/** The facts of a planned check that its report needs. */
interface CheckTarget {
  readonly kind: CheckKind;
  readonly folder: string;
  /** The extent of the check: everything, only what failed last time, or these files or tests. */
  readonly part: 'all' | 'failed' | readonly string[];
  /** A script of the project does the check, so that only its exit code is known. */
  readonly isScript: boolean;
}

interface CheckWork {
  readonly calls: readonly PlannedCall<CheckTarget>[];
  readonly notes: readonly string[];
}

/** Tests, lints, type-checks or builds the way the project does it, and reports what failed. */
export default defineTool({
  name: 'check',
  title: 'Check the project',
  description:
    'Run tests, lint, type check or build of the project. ' +
    'Green is one line; failures come as file:line and message.',
  hint: 'run tests, lint, type check, build',
  listed: 'first',
  startsPrograms: true,
  inEveryToolset: true,
  effects: ['write', 'execute', 'network'],
  params,
  async plan(request, context) {
    const work = await planChecks(request, context);
    return { ...combinePlans(work.calls), work };
  },
  run: ({ work }, context) => runChecks(work, context),
});

/** The project and the request that the checks of one call are planned for. */
interface CheckScope {
  readonly request: CheckParams;
  readonly view: ProjectView;
  readonly tasks: readonly ProjectTask[];
  /** Remarks on what does not run although a caller could expect it. */
  readonly notes: string[];
}

async function planChecks(request: CheckParams, context: ToolPlanContext): Promise<CheckWork> {
  const view = await ProjectView.of(request, context);
  // A program that was installed a moment ago counts.
  await context.session.environment.refresh();
  const { tasks } = await view.tasks();
  const notes: string[] = [];
  const scope = { request, view, tasks, notes };
  const calls: PlannedCall<CheckTarget>[] = [];
  const kinds = request.what === 'all' ? (['types', 'lint', 'test'] as const) : [request.what];
  for (const kind of kinds) calls.push(...(await planKind(kind, scope)));
  // A language without a type checker of its own is compiled.
  if (request.what === 'all' && calls.every(({ about }) => about.kind !== 'types'))
    calls.unshift(...(await planKind('build', scope)));
  if (calls.length > 0) return { calls, notes };
  const names = tasks.map(({ name }) => name).join(', ');
  const problem = `what: ${view.folder} shows no program for ${request.what}, and has no task of that name`;
  throw new ToolcribError(
    'NOT_FOUND',
    `${[problem, ...notes].join('; ')}.`,
    names ? `run_task runs one of its tasks: ${names}.` : 'run runs any program; cwd names another folder.',
  );
}

async function planKind(kind: CheckKind, scope: CheckScope): Promise<readonly PlannedCall<CheckTarget>[]> {
  const { request, view, tasks, notes } = scope;
  const { actions, task } = await chooseActions(kind, view, tasks);
  if (!task) return planActions(kind, actions, scope);
  if (request.only) {
    notes.push(`${kind}: left out, as the script ${toOneLine(task.name, 200)} takes no names`);
    return [];
  }
  const taskView = new ProjectView(task.folder, view.context);
  const runners = [...(await taskView.actionsFor('task')), ...(await taskView.missingActionsFor('task'))];
  const runner = runners.find(({ action }) => action.program === task.program);
  if (!runner) return [];
  const target = { kind, folder: task.folder, part: 'all', isScript: true } as const;
  return [await view.planCall(runner.action, { task: task.name, cwd: task.folder }, target)];
}

async function planActions(
  kind: CheckKind,
  actions: readonly ProjectAction[],
  { request, view, notes }: CheckScope,
): Promise<readonly PlannedCall<CheckTarget>[]> {
  const { problems } = view.context.session;
  const { calls, refused } = await view.planCalls(actions, (tool, folder) => {
    const failed = request.again ? namesOfProblems(problems.get(toolKey(kind, tool, folder))) : undefined;
    const only = request.again ? failed : request.only;
    if (request.again && !failed) notes.push(`${kind}: nothing that failed is remembered, so all of it ran`);
    const values = only === undefined ? {} : onlyValues(tool, kind, only, view.folder);
    // A formatter is only to say which files are not formatted.
    if (kind === 'format' && 'check' in tool.params.shape) values['check'] = true;
    const part: CheckTarget['part'] = failed === undefined ? (only ?? 'all') : 'failed';
    return [values, { kind, folder, part, isScript: false }];
  });
  for (const { action, error } of refused)
    notes.push(`${kind}: ${action.program} left out: ${error.message}`);
  if (request.what !== 'all' && calls.length === 0 && refused[0]) throw refused[0].error;
  return calls;
}

/** The tests or files that problems are about, each once; undefined when there are none. */
function namesOfProblems(problems: readonly Problem[] = []): readonly string[] | undefined {
  const names = problems.flatMap(({ name, file }) => name ?? file ?? []);
  return names.length > 0 ? [...new Set(names)] : undefined;
}

/** The parameter that limits a tool to some tests, or to some paths, which callers give from their folder. */
function onlyValues(
  { params: { shape }, name }: Tool,
  kind: CheckKind,
  only: readonly string[],
  folder: string,
): Record<string, unknown> {
  const arePaths = only.every((item) => /[/\\]|\.\w{1,4}$/.test(item) && !/\s/.test(item));
  const key = kind === 'test' && arePaths && 'files' in shape ? 'files' : 'only';
  const schema = shape[key] as z.ZodType | undefined;
  if (!schema)
    throw new ToolcribError('ARG_INVALID', `only: ${name} always takes the whole project.`, 'Leave it out.');
  return { [key]: only.map((item) => (pathFacts(schema) ? resolve(folder, item) : item)) };
}

async function runChecks({ calls, notes }: CheckWork, context: ToolCallContext): Promise<Result> {
  const { problems: memory } = context.session;
  const outcomes: CheckOutcome[] = [];
  for (const { tool, plan, about } of calls) {
    if (context.signal.aborted) break;
    const { kind, folder, part, isScript } = about;
    const result = await tool.run(plan, context);
    const key = toolKey(kind, tool, folder);
    const reported = problemsOf(result, folder, context.workspace.home);
    const last = memory.get(part === 'failed' ? key : partKey(key, part));
    const problems =
      last && reported
        ? reported.map((problem) => ({ ...problem, isNew: !includes(last, problem) }))
        : reported;
    const fixed = last && reported ? without(last, reported).length : 0;
    if (reported) remember(reported, key, part, memory);
    outcomes.push({ kind, program: tool.program, isScript, subject: plan.subject, result, problems, fixed });
  }
  const isError = outcomes.length === 1 && outcomes[0]?.result.isError === true;
  return {
    content: [{ type: 'text', text: sanitize([formatChecks(outcomes), ...notes].join('\n')) }],
    ...(isError && { isError }),
  };
}

/** Remembers the problems of a check, by which `again` and the next comparison know what failed. */
function remember(
  problems: readonly Problem[],
  key: string,
  part: CheckTarget['part'],
  memory: Session['problems'],
): void {
  const allKey = partKey(key, 'all');
  if (part === 'all' || part === 'failed') {
    memory.set(key, problems);
    // After a run of what failed last, these are all problems there are: the rest had passed.
    if (part === 'all' || memory.has(allKey)) memory.set(allKey, problems);
    return;
  }
  // A check of some files says nothing about the problems of the others.
  memory.set(key, [...problems, ...without(memory.get(key) ?? [], problems)]);
  memory.set(partKey(key, part), problems);
}

const toolKey = (kind: CheckKind, { program }: Tool, folder: string): string =>
  `${kind} ${program} ${folder}`;

const partKey = (key: string, part: 'all' | readonly string[]): string =>
  `${key} ${part === 'all' ? part : JSON.stringify([...new Set(part)].toSorted())}`;

const without = (problems: readonly Problem[], others: readonly Problem[]): Problem[] =>
  problems.filter((problem) => !includes(others, problem));

const includes = (problems: readonly Problem[], { id }: Problem): boolean =>
  problems.some((problem) => problem.id === id);
