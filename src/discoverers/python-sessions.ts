import * as z from 'zod';
import { on, option, words } from '../core/parameter.ts';
import { name } from '../core/params.ts';
import { action } from '../core/program.ts';
import { tasks } from './reports/kinds.ts';
import { json, lines } from './reports/readers.ts';
import { pipEnvironment, pythonTool } from './shared/python.ts';

const session = z.object({ session: z.string(), description: z.string().nullish() });
const environment = ['VIRTUAL_ENV', ...pipEnvironment];
const effects = ['execute', 'network'] as const;

const tox = pythonTool('tox', {
  title: 'tox',
  site: 'https://tox.wiki',
  get: { apt: 'tox', brew: 'tox' },
  project: [
    ...['tox.ini', 'tox.toml'],
    { file: 'pyproject.toml', has: /^\[tool\.tox/m },
    { file: 'setup.cfg', has: /^\[tox/m },
  ],
  environment,
  settings: { NO_COLOR: '1', PY_COLORS: '0' },
  actions: {
    tasks: action('List tox environments', 'Environments that can be run.', ['execute'], {
      role: 'tasks',
      run: ['-a'],
      out: tasks(lines(/^(?<task>[\w.-]+)$/, ({ task = '' }) => ({ name: task }))),
    }),
    task: action('Run a tox environment', 'Runs what one environment says.', effects, {
      role: 'task',
      run: ({ recreate, task, args }) => [recreate, task, '--', args],
      params: {
        recreate: on('--recreate', 'Make it anew first'),
        task: option('-e', name('Environment')),
        args: words('Arguments of its commands: {posargs}'),
      },
      given: { task: 'py312', args: ['-k', 'cart'] },
    }),
    all: action('Run all tox environments', 'Runs every usual environment.', effects, { run: [] }),
  },
});

const nox = pythonTool('nox', {
  title: 'Nox',
  site: 'https://nox.thea.codes',
  get: { apt: 'python3-nox', brew: 'nox' },
  project: ['noxfile.py'],
  environment,
  actions: {
    tasks: action('List Nox sessions', 'Sessions of the noxfile.py.', ['execute'], {
      role: 'tasks',
      run: ['--list', '--json'],
      out: tasks(
        json(z.array(session), (all) =>
          all.map(({ session: of, description }) => ({ name: of, says: description ?? undefined })),
        ),
      ),
    }),
    task: action('Run a Nox session', 'Runs one session.', effects, {
      role: 'task',
      run: ({ reuse, task, args }) => [reuse, task, '--', args],
      params: {
        reuse: on('--reuse-existing-virtualenvs', 'Keep environments that are there'),
        task: option('--session', name('Session')),
        args: words('Arguments of the session: session.posargs'),
      },
      given: { task: 'tests', args: ['-k', 'cart'] },
    }),
  },
});

export default [tox, nox];
