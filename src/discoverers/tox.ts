import { action, name, on, option, words } from '../core/grammar.ts';
import { tasks } from './reports/kinds.ts';
import { lines } from './reports/readers.ts';
import { pipEnvironment, pythonTool } from './shared/python.ts';
import { reaches, runs } from './shared/programs.ts';
import { ofNamedTask } from './shared/tasks.ts';

export default pythonTool('tox', {
  title: 'tox',
  site: 'https://tox.wiki',
  get: { apt: 'tox', brew: 'tox' },
  project: [
    ...['tox.ini', 'tox.toml'],
    { file: 'pyproject.toml', has: /^\[tool\.tox/m },
    { file: 'setup.cfg', has: /^\[tox/m },
  ],
  environment: ['VIRTUAL_ENV', ...pipEnvironment],
  settings: { NO_COLOR: '1', PY_COLORS: '0' },
  // No command, neither by itself nor in the place of a setting.
  everyday: /^(?!(?:.* )?(?:e|exec|-[a-z]*x\S*|--ov\S*)(?: |$))/,
  actions: {
    tasks: action('List tox environments', 'Environments that can be run.', runs, {
      role: 'tasks',
      run: ['-a'],
      out: tasks(lines(/^(?<task>[\w.-]+)$/, ({ task = '' }) => ({ name: task }))),
    }),
    task: action('Run a tox environment', 'Runs what one environment says.', reaches, {
      role: 'task',
      moreEffects: ofNamedTask,
      run: ({ recreate, task, args }) => [recreate, task, '--', args],
      params: {
        recreate: on('--recreate', 'Make it anew first'),
        task: option('-e', name('Environment')),
        args: words('Arguments of its commands: {posargs}'),
      },
      given: { task: 'py312', args: ['-k', 'cart'] },
    }),
    all: action('Run all tox environments', 'Runs every usual environment.', reaches, { run: [] }),
  },
});
