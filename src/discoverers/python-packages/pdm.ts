import * as z from 'zod';
import { operand } from '../../core/parameter.ts';
import { name } from '../../core/params.ts';
import { action } from '../../core/program.ts';
import { tasks } from '../reports/kinds.ts';
import { json } from '../reports/readers.ts';
import * as py from '../shared/python.ts';
import { args, build, changes, type Row } from './row.ts';

const text = z.string();
const outdated = z.array(z.object({ package: text, installed_version: text, latest_version: text }));
const scripts = z.record(text, z.looseObject({ help: text.optional() }));

export const pdm: Row = {
  title: 'PDM',
  site: 'https://pdm-project.org/latest/reference/cli',
  get: { pip: 'pdm', brew: 'pdm', site: 'https://pdm-project.org' },
  project: ['pdm.lock', { file: 'pyproject.toml', has: /^\[tool\.pdm/m }],
  environment: ['PDM_CACHE_DIR', 'PDM_PYTHON', 'VIRTUAL_ENV'],
  settings: { NO_COLOR: '1', PDM_CHECK_UPDATE: '0', PDM_NON_INTERACTIVE: '1' },
  list: [['list', '--json'], py.installed],
  outdated: [
    ['outdated', '--json'],
    json(outdated, (all) =>
      all.map((one) => ({ name: one.package, version: one.installed_version, latest: one.latest_version })),
    ),
  ],
  add: { dev: '--dev', group: '--group' },
  update: ['update'],
  install: ['install'],
  frozen: '--check',
  why: ({ package: of }) => ['list', '--graph', '--reverse', '--', of],
  more: {
    build: build('PDM'),
    lock: action('Lock with PDM', 'Brings pdm.lock up to date.', changes, { run: ['lock'] }),
    tasks: action('List PDM scripts', 'Scripts of the pyproject.toml.', ['execute'], {
      role: 'tasks',
      run: ['run', '--json'],
      out: tasks(
        json(scripts, (all) =>
          Object.entries(all).flatMap(([key, { help: says }]) => (key === '_' ? [] : [{ name: key, says }])),
        ),
      ),
    }),
    task: action('Run a PDM script', 'Runs a script of the project, or a program.', ['execute', 'network'], {
      role: 'task',
      run: ({ task, args: rest }) => ['run', task, rest],
      params: { task: operand(name('Script or program')), args },
      given: { task: 'test', args: ['-q'] },
    }),
  },
};
