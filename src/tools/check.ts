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
import { chosenFor } from './project/chosen-for.ts';
import { inOneLine } from './output/job-text.ts';
import { kinds, problemsOf, told, type Checked, type CheckKind } from './project/check-report.ts';
import { ProjectView, type RolePlayer, type ProjectTask } from './project/project-view.ts';

const params = z.strictObject({
  what: also(
    z
      .enum([...kinds, 'all'])
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
interface CheckedRole {
  readonly kind: CheckKind;
  readonly folder: string;
  /** What alone was asked for: everything; what failed last; or these. */
  readonly part: 'all' | 'failed' | readonly string[];
  /** A script of the project does it, of whose answer only the exit code is known. */
  readonly isScript: boolean;
}
interface CheckWork {
  readonly acts: readonly PlannedCall<CheckedRole>[];
  readonly notes: readonly string[];
}

/** Tests, lints, type-checks, builds as the project does it, and tells what failed. */
export default defineTool({
  name: 'check',
  title: 'Check the project',
  description:
    'Run tests, lint, type check or build of the project. Green is one line; failures come as file:line and message.',
  hint: 'run tests, lint, type check, build',
  listed: 'first',
  startsPrograms: true,
  inEveryToolset: true,
  effects: ['write', 'execute', 'network'],
  params,
  async plan(asked, context) {
    const work = await planChecks(asked, context);
    return { ...combinePlans(work.acts), work };
  },
  run: ({ work }, context) => run(work, context),
});

async function planChecks(asked: CheckParams, context: ToolPlanContext): Promise<CheckWork> {
  const place = await ProjectView.of(asked, context);
  // What was installed a moment ago counts.
  await context.session.environment.refresh();
  const { tasks } = await place.tasks();
  const notes: string[] = [];
  const looking = { asked, place, tasks, notes };
  const acts: PlannedCall<CheckedRole>[] = [];
  for (const kind of asked.what === 'all' ? (['types', 'lint', 'test'] as const) : [asked.what])
    acts.push(...(await checksOf(kind, looking)));
  // A language without a type checker of its own is compiled.
  if (asked.what === 'all' && acts.every(({ about }) => about.kind !== 'types'))
    acts.unshift(...(await checksOf('build', looking)));
  if (acts.length > 0) return { acts, notes };
  const names = tasks.map(({ name }) => name).join(', ');
  const none = `what: ${place.folder} shows no program for ${asked.what}, and has no task of that name`;
  throw new ToolcribError(
    'NOT_FOUND',
    `${[none, ...notes].join('; ')}.`,
    names ? `run_task runs one of its tasks: ${names}.` : 'run runs any program; cwd names another folder.',
  );
}

interface Looking {
  readonly asked: CheckParams;
  readonly place: ProjectView;
  readonly tasks: readonly ProjectTask[];
  /** What does not run although somebody could expect it. */
  readonly notes: string[];
}

async function checksOf(kind: CheckKind, looking: Looking): Promise<PlannedCall<CheckedRole>[]> {
  const { asked, place, tasks, notes } = looking;
  const { players, task } = await chosenFor(kind, place, tasks);
  if (!task) return playing(kind, players, looking);
  if (asked.only) {
    notes.push(`${kind}: left out, as the script ${inOneLine(task.name, 200)} takes no names`);
    return [];
  }
  const above = new ProjectView(task.folder, place.context);
  const runners = [...(await above.players('task')), ...(await above.absent('task'))];
  const runner = runners.find(({ action }) => action.program === task.program);
  const about = { kind, folder: task.folder, part: 'all', isScript: true } as const;
  return runner ? [await place.act(runner.action, { task: task.name, cwd: task.folder }, about)] : [];
}

async function playing(kind: CheckKind, players: readonly RolePlayer[], { asked, place, notes }: Looking) {
  const { problems } = place.context.session;
  const { acts, refused } = await place.acts(players, (tool, folder) => {
    const last = problems.get(keyOf(kind, tool, folder))?.flatMap(({ name, file }) => name ?? file ?? []);
    const only = asked.again ? last?.length && [...new Set(last)] : asked.only;
    if (asked.again && !only) notes.push(`${kind}: nothing that failed is remembered, so all of it ran`);
    // Whether it formats or only says what is not, it is a check.
    const checks = kind === 'format' && 'check' in tool.params.shape && { check: true };
    const values = { ...(only && onlyFor(tool, kind, only, place.folder)), ...checks };
    const part: CheckedRole['part'] = asked.again ? (only ? 'failed' : 'all') : (asked.only ?? 'all');
    return [values, { kind, folder, part, isScript: false }];
  });
  for (const { action, error } of refused)
    notes.push(`${kind}: ${action.program} left out: ${error.message}`);
  if (asked.what !== 'all' && acts.length === 0 && refused[0]) throw refused[0].error;
  return acts;
}

const keyOf = (kind: CheckKind, { program }: Tool, folder: string): string => `${kind} ${program} ${folder}`;

const partOf = (key: string, part: 'all' | readonly string[]): string =>
  `${key} ${part === 'all' ? part : JSON.stringify([...new Set(part)].toSorted())}`;

const has = (all: readonly Problem[], { id }: Problem): boolean => all.some((one) => one.id === id);
const without = (all: readonly Problem[], others: readonly Problem[]) =>
  all.filter((one) => !has(others, one));

function remember(
  found: readonly Problem[],
  key: string,
  part: CheckedRole['part'],
  memory: Session['problems'],
): void {
  const all = partOf(key, 'all');
  if (part === 'all' || part === 'failed') {
    memory.set(key, found);
    // What failed last is all that failed: the rest was well.
    if (part === 'all' || memory.has(all)) memory.set(all, found);
    return;
  }
  // What is not in the answer about a part was not looked at.
  memory.set(key, [...found, ...without(memory.get(key) ?? [], found)]);
  memory.set(partOf(key, part), found);
}

/** Names of tests as they are; paths as the caller means them, from its folder. */
function onlyFor(
  { params: { shape }, name }: Tool,
  kind: CheckKind,
  only: readonly string[],
  folder: string,
) {
  const arePaths = only.every((one) => /[/\\]|\.\w{1,4}$/.test(one) && !/\s/.test(one));
  const key = kind === 'test' && arePaths && 'files' in shape ? 'files' : 'only';
  const schema = shape[key] as z.ZodType | undefined;
  if (!schema)
    throw new ToolcribError('ARG_INVALID', `only: ${name} always takes the whole project.`, 'Leave it out.');
  return { [key]: only.map((one) => (pathFacts(schema) ? resolve(folder, one) : one)) };
}

async function run({ acts, notes }: CheckWork, context: ToolCallContext): Promise<Result> {
  const { problems: memory } = context.session;
  const checked: Checked[] = [];
  for (const { tool, plan, about } of acts) {
    if (context.signal.aborted) break;
    const result = await tool.run(plan, context);
    const key = keyOf(about.kind, tool, about.folder);
    const found = problemsOf(result, about.folder, context.workspace.home);
    const last = memory.get(about.part === 'failed' ? key : partOf(key, about.part));
    const problems = last && found ? found.map((one) => ({ ...one, isNew: !has(last, one) })) : found;
    const fixed = last && found ? without(last, found).length : 0;
    if (found) remember(found, key, about.part, memory);
    const { kind, isScript } = about;
    checked.push({ kind, program: tool.program, isScript, subject: plan.subject, result, problems, fixed });
  }
  const failed = checked.length === 1 && checked[0]?.result.isError === true;
  return {
    content: [{ type: 'text', text: sanitize([told(checked), ...notes].join('\n')) }],
    ...(failed && { isError: true }),
  };
}
