import * as z from 'zod';
import { action, name, on, operand, program, words } from '../core/grammar.ts';
import { tasks } from './reports/kinds.ts';
import { json } from './reports/readers.ts';
import { runs } from './shared/programs.ts';
import { ofNamedTask } from './shared/tasks.ts';

const dump = z.object({ tasks: z.array(z.object({ name: z.string(), desc: z.string().nullish() })) });

export default program('task', {
  title: 'Task',
  category: 'build',
  site: 'https://taskfile.dev/docs/reference/cli',
  get: { brew: 'go-task', winget: 'Task.Task', npm: '@go-task/cli' },
  called: ['task', 'go-task'],
  everyday: /^(?!.*:\/\/|(?:.* )?(?:-t|--taskfile)[ =]?-(?: |$))/,
  project: ['Taskfile*.y*ml', 'taskfile*.y*ml'],
  hints: [{ says: /Task "[^"]*" does not exist/, wayOut: 'task_tasks lists the tasks there are.' }],
  actions: {
    // Variables of a Taskfile are commands.
    tasks: action('List tasks of a Taskfile', 'Tasks with what they do.', runs, {
      role: 'tasks',
      run: ['--list-all', '--json'],
      out: tasks(
        json(dump, (all) => all.tasks.map((one) => ({ name: one.name, says: one.desc || undefined }))),
      ),
    }),
    task: action('Run a task of a Taskfile', 'Runs one task.', runs, {
      role: 'task',
      moreEffects: ofNamedTask,
      run: ({ force, task: it, args }) => [force, it, '--', args],
      params: {
        force: on('--force', 'Also when it is up to date'),
        task: operand(name('Task')),
        args: words('Its arguments'),
      },
      given: { task: 'build', args: ['--release'] },
    }),
  },
});
