import { on, option, words } from '../core/parameter.ts';
import { name } from '../core/params.ts';
import { action } from '../core/program.ts';
import { tasks } from './reports/kinds.ts';
import { lines } from './reports/readers.ts';
import { pythonTool } from './shared/python.ts';

export default pythonTool('tox', {
  title: 'tox',
  site: 'https://tox.wiki',
  get: { apt: 'tox', brew: 'tox' },
  project: [
    ...['tox.ini', 'tox.toml'],
    { file: 'pyproject.toml', has: /^\[tool\.tox/m },
    { file: 'setup.cfg', has: /^\[tox/m },
  ],
  environment: ['VIRTUAL_ENV', 'PIP_INDEX_URL', 'PIP_EXTRA_INDEX_URL', 'PIP_CERT', 'PIP_CONFIG_FILE'],
  settings: { NO_COLOR: '1', PY_COLORS: '0' },
  actions: {
    tasks: action('List tox environments', 'Environments that can be run.', ['execute'], {
      role: 'tasks',
      run: ['-a'],
      out: tasks(lines(/^(?<task>[\w.-]+)$/, ({ task = '' }) => ({ name: task }))),
    }),
    task: action('Run a tox environment', 'Runs what one environment says.', ['execute', 'network'], {
      role: 'task',
      run: ({ recreate, task, args }) => [recreate, task, '--', args],
      params: {
        recreate: on('--recreate', 'Make it anew first'),
        task: option('-e', name('Environment')),
        args: words('Arguments of its commands: {posargs}'),
      },
      given: { task: 'py312', args: ['-k', 'cart'] },
    }),
    all: action('Run all tox environments', 'Runs every usual environment.', ['execute', 'network'], {
      run: ({ parallel }) => [parallel],
      params: { parallel: on('--parallel', 'At the same time') },
    }),
    config: action('Show the tox configuration', 'What tox makes of its settings.', ['execute'], {
      run: ['--showconfig'],
      params: { task: option('-e', name('Environment')) },
    }),
  },
});
