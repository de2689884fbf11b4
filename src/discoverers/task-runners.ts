import * as z from 'zod';
import { on, operand, words } from '../core/parameter.ts';
import { list, name, some } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { told } from '../core/report.ts';
import { entries, packages, tasks } from './reports/kinds.ts';
import { json } from './reports/readers.ts';

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
    tasks: action('List tasks of a Taskfile', 'Tasks with what they do.', ['execute'], {
      role: 'tasks',
      run: ['--list-all', '--json'],
      out: tasks(
        json(dump, (all) => all.tasks.map((one) => ({ name: one.name, says: one.desc || undefined }))),
      ),
    }),
    task: action('Run a task of a Taskfile', 'Runs one task.', ['execute'], {
      role: 'task',
      run: ({ force, task: it, args }) => [force, it, '--', args],
      params: running,
      given,
    }),
  },
});

const tool = z.object({ version: z.string(), requested_version: text, installed: z.boolean().default(true) });
const miseTask = z.object({ name: z.string(), description: text, run: z.array(z.unknown()).default([]) });
const newer = z.object({ current: text, requested: text, latest: z.string() });
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
    tasks: action('List mise tasks', 'Tasks of the project with what they do.', ['execute'], {
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
    task: action('Run a mise task', 'Runs one task, with the tools of the project.', ['execute', 'network'], {
      role: 'task',
      run: ({ force, task: it, args }) => ['run', force, it, '--', args],
      params: running,
      given,
    }),
    list: action('List mise tools', 'Tools that the project or the person wants.', ['execute'], {
      run: ['ls', '--json'],
      params: { current: on('--current', 'Only those in use here') },
      out: packages(
        json(z.record(z.string(), z.array(tool)), (all) =>
          Object.entries(all).flatMap(([it, versions]) =>
            versions.map(({ version, requested_version: wanted, installed }) => ({
              name: it,
              version,
              wanted: wanted ?? undefined,
              problem: installed ? undefined : 'not installed',
            })),
          ),
        ),
      ),
    }),
    outdated: action('List outdated mise tools', 'Tools that have newer versions.', ['execute', 'network'], {
      run: ['outdated', '--json'],
      out: packages(
        json(z.record(z.string(), newer), (all) =>
          Object.entries(all).map(([it, { current, requested, latest }]) => ({
            name: it,
            version: current ?? undefined,
            wanted: requested ?? undefined,
            latest,
          })),
        ),
      ),
    }),
    install: action(
      'Install mise tools',
      'Installs what is wanted, or these.',
      ['write', 'execute', 'network'],
      {
        run: ['install', '--yes'],
        params: { tools: operand(list(name('Tool'), 'Tools: node@22; all when left out')) },
        given: { tools: ['node@22'] },
      },
    ),
    use: action(
      'Choose a mise tool',
      'Writes a tool into mise.toml, installed.',
      ['write', 'execute', 'network'],
      {
        run: ['use', '--yes'],
        params: { tools: operand(some(name('Tool'), 'Tools: node@22')) },
        given: { tools: ['node@22'] },
      },
    ),
  },
});

const direnv = program('direnv', {
  title: 'direnv',
  category: 'other',
  site: 'https://direnv.net/man/direnv.1.html',
  get: { apt: 'direnv', brew: 'direnv', winget: 'direnv.direnv' },
  version: { args: ['version'], pattern: /(\d\S+)/ },
  project: ['.envrc'],
  hints: [{ says: /is blocked/, wayOut: 'A person allows it: direnv allow.' }],
  actions: {
    status: action(
      'Show the status of direnv',
      'Which .envrc there is, and whether it is allowed.',
      ['read'],
      {
        run: ['status'],
        out: told(({ stdout }) => {
          const [, file] = /^Found RC path (.+)$/m.exec(stdout) ?? [];
          const isAllowed = /^Found RC allowed (?:true|0)$/m.test(stdout);
          return file ? `${file}: ${isAllowed ? '' : 'not '}allowed` : stdout;
        }),
      },
    ),
    variables: action('List variables of direnv', 'Runs .envrc and names what it sets.', ['execute'], {
      run: ['export', 'json'],
      out: entries('variable')(
        json(z.record(z.string(), z.string().nullable()), (all) =>
          Object.keys(all).flatMap((it) => (it.startsWith('DIRENV_') ? [] : [{ name: it }])),
        ),
      ),
    }),
  },
});

export default [task, mise, direnv];
