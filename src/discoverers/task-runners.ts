import * as z from 'zod';
import { on, operand, words } from '../core/parameter.ts';
import { list, name, some } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { tasks } from './reports/kinds.ts';
import { json } from './reports/readers.ts';
import { makes, reaches, runs } from './shared/programs.ts';

const running = {
  force: on('--force', 'Also when it is up to date'),
  task: operand(name('Task')),
  args: words('Its arguments'),
};
const given = { task: 'build', args: ['--release'] };
const text = z.string().nullish();

const dump = z.object({ tasks: z.array(z.object({ name: z.string(), desc: text })) });
const task = program('task', {
  title: 'Task',
  category: 'build',
  site: 'https://taskfile.dev/docs/reference/cli',
  get: { brew: 'go-task', winget: 'Task.Task', npm: '@go-task/cli' },
  called: ['task', 'go-task'],
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
      run: ({ force, task: it, args }) => [force, it, '--', args],
      params: running,
      given,
    }),
  },
});

const miseTask = z.object({ name: z.string(), description: text, run: z.array(z.unknown()).default([]) });
// Without a terminal it trusts every file of settings, which may run commands: so nothing here only reads.
const mise = program('mise', {
  title: 'mise',
  category: 'package-manager',
  site: 'https://mise.jdx.dev/cli/',
  get: { brew: 'mise', winget: 'jdx.mise', npm: '@jdxcode/mise', cargo: 'mise' },
  version: { args: ['--version'], pattern: /(\d{4}\.\d+\.\d+)/ },
  project: ['mise*.toml', '.mise*.toml', '.tool-versions', 'mise-tasks'],
  settings: { MISE_HIDE_UPDATE_WARNING: '1' },
  actions: {
    tasks: action('List mise tasks', 'Tasks of the project with what they do.', runs, {
      role: 'tasks',
      run: ['tasks', 'ls', '--json'],
      out: tasks(
        json(z.array(miseTask), (all) =>
          all.map(({ name: it, description, run }) => ({
            name: it,
            command: run.filter((line) => typeof line === 'string').join(' && ') || undefined,
            says: description || undefined,
          })),
        ),
      ),
    }),
    task: action('Run a mise task', 'Runs one task, with the tools of the project.', reaches, {
      role: 'task',
      run: ({ force, task: it, args }) => ['run', force, it, '--', args],
      params: running,
      given,
    }),
    install: action('Install mise tools', 'Installs what is wanted.', makes, {
      run: ['install', '--yes'],
      params: { tools: operand(list(name('Tool'), 'Tools: node@22; all when left out')) },
      given: { tools: ['node@22'] },
    }),
    use: action('Choose a mise tool', 'Writes a tool into mise.toml.', makes, {
      run: ['use', '--yes'],
      params: { tools: operand(some(name('Tool'), 'Tools: node@22')) },
      given: { tools: ['node@22'] },
    }),
  },
});

export default [task, mise];
