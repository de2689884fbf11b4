import * as z from 'zod';
import { nearest } from '../core/nearest.ts';
import { ToolcribError } from '../core/errors.ts';
import type { Plan } from '../core/tool.ts';
import { combinePlans, runPlannedCalls, type PlannedCall } from '../machine/actions/acts.ts';
import { headAndTail, inlineLimit } from '../machine/sanitize.ts';
import { defineTool } from './define-tool.ts';
import { inOneLine } from './output/job-text.ts';
import { ProjectView, rolePlayersOf, type ProjectTask } from './project/project-view.ts';

const params = z.strictObject({
  task: z.string().min(1).max(200).optional().describe('Its name: "dev"; without it, the tasks there are'),
  args: z.array(z.string()).optional().describe('Arguments for it: ["--watch"]'),
  program: z.string().optional().describe('Whose task, where several have it: "make"'),
  background: z.boolean().default(false).describe('Dev servers, watchers: answers once it has begun'),
  cwd: z.string().min(1).optional().describe('Folder of one package'),
});
type RunTaskParams = z.output<typeof params>;
const longestTask = 1000;

/** Runs a task that the project has by that name; without a name, lists them. */
export default defineTool({
  name: 'run_task',
  title: 'Run a task of the project',
  description:
    'Run a script or target of the project by name: npm script, make target, dev server. Without one, lists them.',
  hint: 'run a script, start dev server',
  listed: 'first',
  startsPrograms: true,
  inEveryToolset: true,
  effects: ['write', 'execute', 'network'],
  params,
  async plan(asked, context) {
    const place = await ProjectView.of(asked, context);
    const { tasks } = await place.tasks();
    if (asked.task !== undefined) {
      const plan = combinePlans([await actFor(asked, place, tasks)]);
      return { ...plan, background: asked.background || plan.background === true };
    }
    return {
      effects: ['read'],
      subject: 'lists tasks',
      folder: place.folder,
      paths: [],
      isUndoable: false,
      fingerprint: place.folder,
      work: listed(tasks),
    };
  },
  run: async (plan: Plan<readonly PlannedCall[] | string>, context) =>
    typeof plan.work === 'string'
      ? { content: [{ type: 'text', text: plan.work }] }
      : runPlannedCalls(plan as Plan<readonly PlannedCall[]>, context),
});

const listed = (tasks: readonly ProjectTask[]): string =>
  headAndTail(
    [
      tasks.length === 0
        ? 'no tasks that can be told without running something'
        : `${tasks.length} task${tasks.length === 1 ? '' : 's'}`,
      ...tasks.map(({ name, command, says, program }) =>
        [`${name} (${program})`, command ?? says ?? '']
          .filter(Boolean)
          .map((text) => inOneLine(text, longestTask))
          .join('  '),
      ),
    ].join('\n'),
    inlineLimit / 4,
  );

async function actFor(
  { task = '', args, program }: RunTaskParams,
  place: ProjectView,
  tasks: readonly ProjectTask[],
): Promise<PlannedCall> {
  const absent = await place.absent('task');
  const all = [
    ...(await place.players('task')),
    ...absent.filter(({ action }) => tasks.some((one) => one.program === action.program)),
  ];
  const players = rolePlayersOf(program, all);
  const known = tasks.filter(({ name }) => name === task).map((one) => one.program);
  // Tasks of others cannot be told without running them, so that they say themselves whether they have it.
  const silent = players.filter(({ action }) => tasks.every((one) => one.program !== action.program));
  const fitting = players.filter(({ action }) => known.includes(action.program));
  const [player, other] = fitting.length > 0 ? fitting : silent;
  if (!player) throw unknownTask(task, tasks, all.length > 0);
  if (other && fitting.length === 0)
    throw new ToolcribError(
      'ARG_INVALID',
      `program: ${players.map(({ action }) => action.program).join(' and ')} could have a task ${task}.`,
      'Say which one.',
    );
  return place.act(player.action, { task, ...(args && { args }), cwd: player.folder }, undefined);
}

function unknownTask(task: string, tasks: readonly ProjectTask[], hasRunner: boolean): ToolcribError {
  const names = tasks.map(({ name }) => name);
  const best = nearest(task, names);
  return new ToolcribError(
    'NOT_FOUND',
    `task: the project has no task ${JSON.stringify(task)}.`,
    best
      ? `Did you mean ${best}?`
      : names.length > 0
        ? `Its tasks: ${names.join(', ')}.`
        : `${hasRunner ? 'It has none' : 'No file of tasks was found here or above'}; run runs any program.`,
  );
}
