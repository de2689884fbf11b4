import * as z from 'zod';
import { nearest } from '../core/nearest.ts';
import { ToolcribError } from '../core/errors.ts';
import type { Plan } from '../core/tool.ts';
import { combinePlans, runPlannedCalls, type PlannedCall } from '../machine/actions/acts.ts';
import { headAndTail, inlineLimit } from '../machine/sanitize.ts';
import { defineTool } from './define-tool.ts';
import { toOneLine } from './output/job-text.ts';
import {
  ProjectView,
  actionsOfProgram,
  type ProjectAction,
  type ProjectTask,
} from './project/project-view.ts';

const params = z.strictObject({
  task: z.string().min(1).max(200).optional().describe('Its name: "dev"; without it, the tasks there are'),
  args: z.array(z.string()).optional().describe('Arguments for it: ["--watch"]'),
  program: z.string().optional().describe('Whose task, where several have it: "make"'),
  background: z.boolean().default(false).describe('Dev servers, watchers: answers once it has begun'),
  cwd: z.string().min(1).optional().describe('Folder of one package'),
});
type RunTaskParams = z.output<typeof params>;
const longestTask = 1000;

/** Runs a task of the project by its name; without a name, lists the tasks. */
export default defineTool({
  name: 'run_task',
  title: 'Run a task of the project',
  description:
    'Run a script or target of the project by name: npm script, make target, dev server. ' +
    'Without one, lists them.',
  hint: 'run a script, start dev server',
  listed: 'first',
  startsPrograms: true,
  inEveryToolset: true,
  effects: ['write', 'execute', 'network'],
  params,
  async plan(request, context) {
    const view = await ProjectView.of(request, context);
    const { tasks } = await view.tasks();
    if (request.task !== undefined) {
      const plan = combinePlans([await planTask(request, view, tasks)]);
      return { ...plan, background: request.background || plan.background === true };
    }
    return {
      effects: ['read'],
      subject: 'lists tasks',
      folder: view.folder,
      paths: [],
      isUndoable: false,
      fingerprint: view.folder,
      work: formatTasks(tasks),
    };
  },
  run: async (plan: Plan<readonly PlannedCall[] | string>, context) =>
    typeof plan.work === 'string'
      ? { content: [{ type: 'text', text: plan.work }] }
      : runPlannedCalls(plan as Plan<readonly PlannedCall[]>, context),
});

function formatTasks(tasks: readonly ProjectTask[]): string {
  const count = `${tasks.length} task${tasks.length === 1 ? '' : 's'}`;
  const first = tasks.length === 0 ? 'no tasks that can be told without running something' : count;
  const lines = tasks.map(({ name, command, says, program }) =>
    [`${name} (${program})`, command ?? says ?? '']
      .filter(Boolean)
      .map((text) => toOneLine(text, longestTask))
      .join('  '),
  );
  return headAndTail([first, ...lines].join('\n'), inlineLimit / 4);
}

async function planTask(
  { task = '', args, program }: RunTaskParams,
  view: ProjectView,
  tasks: readonly ProjectTask[],
): Promise<PlannedCall> {
  const listsTasks = ({ action }: ProjectAction) => tasks.some((other) => other.program === action.program);
  const missing = await view.missingActionsFor('task');
  const all = [...(await view.actionsFor('task')), ...missing.filter(listsTasks)];
  const runners = actionsOfProgram(program, all);
  const programs = tasks.filter(({ name }) => name === task).map((named) => named.program);
  const naming = runners.filter(({ action }) => programs.includes(action.program));
  // The tasks of other programs cannot be listed without running them: these say themselves if they have it.
  const candidates = naming.length > 0 ? naming : runners.filter((runner) => !listsTasks(runner));
  const [runner, other] = candidates;
  if (!runner) throw unknownTask(task, tasks, all.length > 0);
  if (other && naming.length === 0)
    throw new ToolcribError(
      'ARG_INVALID',
      `program: ${runners.map(({ action }) => action.program).join(' and ')} could have a task ${task}.`,
      'Say which one.',
    );
  return view.planCall(runner.action, { task, ...(args && { args }), cwd: runner.folder }, undefined);
}

function unknownTask(task: string, tasks: readonly ProjectTask[], hasRunner: boolean): ToolcribError {
  const names = tasks.map(({ name }) => name);
  const best = nearest(task, names);
  const lack = hasRunner ? 'It has none' : 'No file of tasks was found here or above';
  let wayOut = `${lack}; run runs any program.`;
  if (names.length > 0) wayOut = `Its tasks: ${names.join(', ')}.`;
  if (best) wayOut = `Did you mean ${best}?`;
  return new ToolcribError('NOT_FOUND', `task: the project has no task ${JSON.stringify(task)}.`, wayOut);
}
