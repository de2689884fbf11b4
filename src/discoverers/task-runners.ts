import * as z from 'zod';
import { on, operand, words } from '../core/parameter.ts';
import { name } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { told } from '../core/report.ts';
import { entries, packages, tasks } from './reports/kinds.ts';
import { json } from './reports/readers.ts';

const args = words('Its arguments');

const dump = z.object({ tasks: z.array(z.object({ name: z.string(), desc: z.string().nullish() })) });
const task = program('task', {
  title: 'Task',
  category: 'build',
  site: 'https://taskfile.dev/docs/reference/cli',
  get: { brew: 'go-task', winget: 'Task.Task', npm: '@go-task/cli' },
  called: ['task', 'go-task'],
  project: [
    'Taskfile.yml',
    'Taskfile.yaml',
    'taskfile.yml',
    'taskfile.yaml',
    'Taskfile.dist.yml',
    'Taskfile.dist.yaml',
  ],
  hints: [{ says: /Task "[^"]*" does not exist/, wayOut: 'task_tasks lists the tasks there are.' }],
  actions: {
    // Variables of a Taskfile are commands.
    tasks: action('List tasks of a Taskfile', 'Tasks with what they do.', ['execute'], {
      role: 'tasks',
      run: ['--list-all', '--json'],
      out: tasks(
        json(dump, (found) =>
          found.tasks.map(({ name: it, desc }) => ({ name: it, says: desc || undefined })),
        ),
      ),
    }),
    task: action('Run a task of a Taskfile', 'Runs one task.', ['execute'], {
      role: 'task',
      run: ({ force, task: it, args: more }) => [force, it, '--', more],
      params: {
        force: on('--force', 'Also when it is up to date'),
        task: operand(name('Task')),
        args,
      },
      given: { task: 'build', args: ['--release'] },
    }),
    summary: action(
      'Explain a task of a Taskfile',
      'Description, dependencies and commands of a task.',
      ['execute'],
      {
        run: ['--summary'],
        params: { task: operand(name('Task')) },
        given: { task: 'build' },
      },
    ),
  },
});

const tool = z.object({
  version: z.string(),
  requested_version: z.string().nullish(),
  active: z.boolean().default(true),
  installed: z.boolean().default(true),
});
const miseTask = z.object({
  name: z.string(),
  description: z.string().nullish(),
  run: z.array(z.unknown()).default([]),
});
const version = z.object({
  current: z.string().nullish(),
  requested: z.string().nullish(),
  latest: z.string(),
});
const tools = operand(
  z
    .array(name('Tool, or tool@version'))
    .max(100)
    .default([])
    .describe('Tools: node@22, python; all when left out'),
);

// Without questions it trusts every file of settings, which may run commands: so nothing here only reads.
const mise = program('mise', {
  title: 'mise',
  category: 'package-manager',
  site: 'https://mise.jdx.dev/cli/',
  get: { brew: 'mise', winget: 'jdx.mise', npm: '@jdxcode/mise', cargo: 'mise' },
  version: { args: ['--version'], pattern: /(\d{4}\.\d+\.\d+)/ },
  project: ['mise.toml', '.mise.toml', 'mise.local.toml', '.tool-versions', '.mise', 'mise-tasks'],
  settings: { MISE_HIDE_UPDATE_WARNING: '1', MISE_COLOR: '0' },
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
      run: ({ force, task: it, args: more }) => ['run', force, it, '--', more],
      params: { force: on('--force', 'Also when it is up to date'), task: operand(name('Task')), args },
      given: { task: 'build', args: ['--release'] },
    }),
    list: action('List mise tools', 'Tools and versions that the project or the person wants.', ['execute'], {
      run: ['ls', '--json'],
      params: { current: on('--current', 'Only those in use here') },
      out: packages(
        json(z.record(z.string(), z.array(tool)), (all) =>
          Object.entries(all).flatMap(([it, versions]) =>
            versions.map((one) => ({
              name: it,
              version: one.version,
              wanted: one.requested_version ?? undefined,
              group: one.active ? 'in use' : undefined,
              problem: one.installed ? undefined : 'not installed',
            })),
          ),
        ),
      ),
    }),
    outdated: action('List outdated mise tools', 'Tools that have newer versions.', ['execute', 'network'], {
      run: ['outdated', '--json'],
      out: packages(
        json(z.record(z.string(), version), (all) =>
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
      'Install tools with mise',
      'Installs what the project wants, or these.',
      ['write', 'execute', 'network'],
      {
        run: ['install', '--yes'],
        params: { tools },
        given: { tools: ['node@22'] },
      },
    ),
    use: action(
      'Choose a tool with mise',
      'Installs a tool and writes it into mise.toml.',
      ['write', 'execute', 'network'],
      {
        run: ['use', '--yes'],
        params: {
          pin: on('--pin', 'This very version'),
          tools: operand(z.array(name('Tool@version')).min(1).max(20).describe('Tools: node@22')),
        },
        given: { tools: ['node@22'] },
      },
    ),
    remove: action('Drop a tool with mise', 'Takes a tool out of mise.toml.', ['write', 'execute'], {
      run: ['unuse'],
      params: { tools: operand(z.array(name('Tool')).min(1).max(20).describe('Tools')) },
      given: { tools: ['node'] },
    }),
    upgrade: action(
      'Upgrade tools with mise',
      'Installs newer versions that the project allows.',
      ['write', 'execute', 'network'],
      {
        run: ['upgrade', '--yes'],
        params: { tools },
        given: { tools: ['node'] },
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
          const [, allowed = ''] = /^Found RC allowed (\S+)$/m.exec(stdout) ?? [];
          if (!file) return stdout;
          const how = /true|^0/.test(allowed)
            ? 'allowed'
            : allowed === '2'
              ? 'denied'
              : 'not allowed: direnv allow';
          return `${file}: ${how}`;
        }),
      },
    ),
    variables: action(
      'List variables of direnv',
      'Runs .envrc and names the variables it sets.',
      ['execute'],
      {
        run: ['export', 'json'],
        out: entries('variable')(
          json(z.record(z.string(), z.string().nullable()), (all) =>
            Object.entries(all)
              .filter(([it]) => !it.startsWith('DIRENV_'))
              .map(([it, value]) => ({ name: it, says: value === null ? 'is removed' : undefined })),
          ),
        ),
      },
    ),
  },
});

export default [task, mise, direnv];
