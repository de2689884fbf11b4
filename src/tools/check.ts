import { resolve } from 'node:path';
import * as z from 'zod';
import { also } from '../core/accepted.ts';
import { ToolcribError } from '../core/errors.ts';
import { pathFacts } from '../core/params.ts';
import { defineTool, type CallContext, type PlanContext, type Tool, type Result } from '../core/tool.ts';
import { combinePlans, type PlannedCall } from '../machine/actions/acts.ts';
import { sanitize } from '../machine/sanitize.ts';
import type { OwnServices } from '../server/own-tools.ts';
import type { ToolDefinition } from '../server/published.ts';
import { inOneLine } from './output/job-text.ts';
import {
  kinds,
  problemsOf,
  told,
  type Checked,
  type CheckKind,
  type Problem,
} from './project/check-report.ts';
import { ProjectView, type RolePlayer, type ProjectTask } from './project/project-view.ts';

/** What projects call the tasks that do it, the usual name first. */
const taskNames: Readonly<Record<CheckKind, readonly string[]>> = {
  test: ['test', 'tests', 'unit', 'test:unit'],
  lint: ['lint'],
  types: ['typecheck', 'type-check', 'types', 'check-types', 'check:types', 'tsc'],
  build: ['build', 'compile'],
  format: ['format:check', 'fmt:check', 'check:format', 'format', 'fmt'],
};

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

/**
 * What was found while the server runs, by program and folder: what failed last, whoever asked for what; and what was
 * found last of all, and of each part, which alone says what is new in it.
 */
type Memory = Map<string, readonly Problem[]>;

/** Tests, lints, type-checks, builds as the project does it, and tells what failed. */
export function check(services: OwnServices): Tool {
  const memory: Memory = new Map();
  return defineTool({
    name: 'check',
    program: 'toolcrib',
    title: 'Check the project',
    description:
      'Run tests, lint, type check or build of the project. Green is one line; failures come as file:line and message.',
    effects: ['write', 'execute', 'network'],
    params,
    async plan(asked, context) {
      const work = await actsFor(asked, context, services, memory);
      return { ...combinePlans(work.acts), work };
    },
    run: ({ work }, context) => run(work, context, memory),
  });
}

async function actsFor(
  asked: CheckParams,
  context: PlanContext,
  services: OwnServices,
  memory: Memory,
): Promise<CheckWork> {
  const place = await ProjectView.of(asked, context, services);
  // What was installed a moment ago counts.
  await services.refresh();
  const { tasks } = await place.tasks();
  const notes: string[] = [];
  const looking = { asked, place, tasks, memory, notes };
  const acts: PlannedCall<CheckedRole>[] = [];
  for (const kind of asked.what === 'all' ? (['types', 'lint', 'test'] as const) : [asked.what])
    acts.push(...(await actsOf(kind, looking)));
  // A language without a type checker of its own is compiled.
  if (asked.what === 'all' && acts.every(({ about }) => about.kind !== 'types'))
    acts.unshift(...(await actsOf('build', looking)));
  if (acts.length > 0) return { acts, notes };
  const names = tasks.map(({ name }) => name).join(', ');
  throw new ToolcribError(
    'NOT_FOUND',
    [`what: ${place.folder} shows no program for ${asked.what}, and has no task of that name`, ...notes].join(
      '; ',
    ) + '.',
    names ? `run_task runs one of its tasks: ${names}.` : 'run runs any program; cwd names another folder.',
  );
}

interface Looking {
  readonly asked: CheckParams;
  readonly place: ProjectView;
  readonly tasks: readonly ProjectTask[];
  readonly memory: Memory;
  /** What does not run although somebody could expect it. */
  readonly notes: string[];
}

async function actsOf(kind: CheckKind, looking: Looking): Promise<PlannedCall<CheckedRole>[]> {
  const { asked, place, tasks, notes } = looking;
  const { players, task } = await chosenFor(kind, place, tasks);
  if (!task) return playing(kind, players, looking);
  if (asked.only) {
    notes.push(`${kind}: left out, as the script ${inOneLine(task.name, 200)} takes no names`);
    return [];
  }
  const above = new ProjectView(task.folder, place.context, place.services);
  const runners = [...(await above.players('task')), ...(await above.absent('task'))];
  const runner = runners.find(({ action }) => action.program === task.program);
  const about = { kind, folder: task.folder, part: 'all', isScript: true } as const;
  return runner ? [await place.act(runner.action, { task: task.name, cwd: task.folder }, about)] : [];
}

/**
 * By what a project does something: what its own script names, else what it shows signs of, else the script itself,
 * else what it shows signs of and is not here.
 */
export async function chosenFor(
  kind: CheckKind,
  place: ProjectView,
  tasks: readonly ProjectTask[],
): Promise<{
  readonly players: readonly RolePlayer[];
  readonly task?: ProjectTask;
  readonly areAbsent?: boolean;
}> {
  const players = await place.players(kind);
  const task = taskNames[kind].flatMap((name) => tasks.find((one) => isTask(one, name)) ?? [])[0];
  const named = players.filter(({ action }) => task?.command && names(task.command, action, place.services));
  if (named.length > 0) return { players: named };
  if (players.length > 0 && !task?.command) return { players };
  if (task) return { players, task };
  return { players: await place.absent(kind), areAbsent: true };
}

/** npm's own answer where a project has no tests is none. */
const isTask = ({ name, command = '' }: ProjectTask, wanted: string): boolean =>
  name === wanted && !command.includes('no test specified');

/** Whether a command starts a program, for what the action does where the program is for many things: `go test`. */
function names(command: string, { program, begins, role }: ToolDefinition, services: OwnServices): boolean {
  const { called = [program], category } = services.manifest.programs.find(({ id }) => id === program) ?? {};
  const isMany = category === 'runtime' || category === 'package-manager';
  const isAct = begins !== undefined && (!begins.startsWith('-') || begins === `--${role}`);
  return command.split(/&&|\|\|?|;/).some((part) => {
    const words = part.trim().split(/\s+/);
    const starts = called.some((name) => ` ${words.join(' ')} `.includes(` ${name} `));
    return starts && (!isMany || !isAct || words.includes(begins));
  });
}

async function playing(
  kind: CheckKind,
  players: readonly RolePlayer[],
  { asked, place, memory, notes }: Looking,
) {
  const { acts, refused } = await place.acts(players, (tool, folder) => {
    const last = memory.get(keyOf(kind, tool, folder))?.flatMap(({ name, file }) => name ?? file ?? []);
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

function remember(found: readonly Problem[], key: string, part: CheckedRole['part'], memory: Memory): void {
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

async function run({ acts, notes }: CheckWork, context: CallContext, memory: Memory): Promise<Result> {
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
