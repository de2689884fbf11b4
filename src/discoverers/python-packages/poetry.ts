import { action } from '../../core/program.ts';
import { lines, type Groups } from '../reports/readers.ts';
import { build, changes, run, type Row } from './row.ts';

// `(!)` stands before the version of what is locked and not installed.
const shown = lines(
  /^(?<name>[A-Za-z0-9][\w.-]*) +(?<absent>\(!\) +)?(?<version>\d\S*)/,
  ({ name = '', version, absent }: Groups) => ({
    name,
    ...(version && { version }),
    ...(absent && { problem: 'not installed' }),
  }),
);
const newer = lines(
  /^(?<name>[A-Za-z0-9][\w.-]*) +(?:\(!\) +)?(?<version>\d\S*) +(?<latest>\d\S*)/,
  ({ name = '', version = '', latest = '' }: Groups) => ({ name, version, latest }),
);

export const poetry: Row = {
  title: 'Poetry',
  site: 'https://python-poetry.org/docs/cli',
  get: { pip: 'poetry', brew: 'poetry', site: 'https://python-poetry.org/docs' },
  project: ['poetry.lock', { file: 'pyproject.toml', has: /^\[tool\.poetry\]/m }],
  environment: ['POETRY_VIRTUALENVS_IN_PROJECT', 'POETRY_CACHE_DIR', 'POETRY_HOME', 'VIRTUAL_ENV'],
  before: ['--no-interaction', '--no-ansi'],
  list: [['show'], shown],
  direct: '--top-level',
  outdated: [['show', '--outdated'], newer],
  add: { dev: '--group=dev', group: '--group' },
  update: ['update'],
  install: ['install'],
  why: ({ package: of }) => ['show', '--tree', '--why', '--', of],
  more: {
    run: run('Poetry'),
    build: build('Poetry'),
    lock: action('Lock with Poetry', 'Brings poetry.lock up to date.', changes, { run: ['lock'] }),
    check: action('Check the Poetry project', 'Mistakes in pyproject.toml.', ['execute'], { run: ['check'] }),
    environment: action('Describe the Poetry environment', 'Its Python and folder.', ['execute'], {
      run: ['env', 'info'],
    }),
  },
};
