import { action, name, on, operand, option, path, program, required, some, words } from '../core/grammar.ts';
import { entries, packages } from './reports/kinds.ts';
import { lines } from './reports/readers.ts';
import { packageActions } from './shared/packages.ts';
import * as py from './shared/python.ts';
import { makes, reaches, runs, runsProgram } from './shared/programs.ts';

const args = words('Arguments of the program');
/** The fields that all of them have in common. */
const python = {
  like: 'requests',
  spec: py.requirement,
  bare: py.packageName,
  changes: makes,
  looks: reaches,
};
const project = (dev: string) => {
  const group = option('--group', name('Group of dependencies'));
  return {
    ...python,
    add: ['add'],
    adding: { dev: on(dev, 'For development'), group },
    remove: ['remove'],
    removing: { group },
  };
};
const run = (title: string) =>
  runsProgram(`Run with ${title}`, "Runs a program of the project's environment.", ['run'], 'pytest');
const lock = (title: string) =>
  action(`Lock with ${title}`, 'Brings the lock file up to date.', makes, { run: ['lock'] });

const requirements = some(path('Requirements', 'file'), 'Files').default(['requirements.txt']);
const broken = '(?:requires|has requirement|is not supported) .*';
const pips = 'check freeze install list show uninstall';
const pip = program('pip', {
  everyday: { pip: pips, pip3: pips },
  title: 'pip',
  category: 'package-manager',
  site: 'https://pip.pypa.io',
  get: { apt: 'python3-pip', brew: 'python', winget: 'Python.Python.3.13' },
  called: py.pythons.map((one) => `${one} -m pip`),
  ...py.interpreter,
  project: ['requirements.txt', 'setup.py', 'setup.cfg', { file: 'pyproject.toml', has: /^\[project\]/m }],
  environment: [...py.pythonEnvironment, ...py.pipEnvironment],
  settings: py.pipSettings,
  // Without -I Python would take a pip.py in the working folder for pip.
  before: ['-I'],
  inspect: py.keptBy('pip'),
  hints: py.pipHints,
  actions: {
    ...packageActions('pip packages', {
      ...python,
      listing: { direct: on('--not-required', 'Only those that no other needs') },
      list: [['list', '--format=json'], packages(py.installed)],
      outdated: [['list', '--outdated', '--format=json', '--retries=1'], packages(py.outdated)],
      remove: ['uninstall', '--yes', '--require-virtualenv'],
      absent: /^WARNING: Skipping (\S+) as it is not installed/gm,
      update: ['install', '--require-virtualenv', '--only-binary=:all:', '--upgrade'],
    }),
    install: action('Install with pip', 'Installs packages, -r files or a folder (-e) into a venv.', makes, {
      role: 'add',
      run: py.pipInstall,
      params: py.pipParams,
      given: py.pipGiven,
    }),
    sync: action('Install requirements with pip', 'Installs what requirements.txt says.', makes, {
      role: 'install',
      run: ['install', '--require-virtualenv'],
      params: { requirements: required('--requirement=', requirements) },
    }),
    show: action('Describe packages with pip', 'Version, place and needs of packages.', runs, {
      run: ['show'],
      params: { packages: operand(some(py.packageName, 'Packages')) },
      given: { packages: ['requests'] },
    }),
    check: action('Check packages with pip', 'Requirements missing or of the wrong version.', runs, {
      run: ['check'],
      ok: [0, 1],
      out: entries('problem')(
        lines(new RegExp(`^(?:No broken.*|(?<of>\\S+ \\S+) (?<says>${broken}))$`), ({ of, says }) =>
          of === undefined ? undefined : { name: of, says },
        ),
      ),
    }),
    freeze: action('Freeze packages with pip', 'What is installed, as requirements.', runs, {
      run: ['freeze'],
    }),
  },
});

const uv = program('uv', {
  everyday: 'add lock pip remove sync tree venv run…',
  title: 'uv',
  category: 'package-manager',
  site: 'https://docs.astral.sh/uv/reference/cli',
  get: { pip: 'uv', brew: 'uv', winget: 'astral-sh.uv' },
  project: ['uv.lock', { file: 'pyproject.toml', has: /^\[tool\.uv/m }],
  environment: ['UV_INDEX_URL', 'UV_DEFAULT_INDEX', 'UV_CACHE_DIR', 'UV_PYTHON', 'SSL_CERT_FILE'],
  // A Python is only fetched when it is asked for.
  settings: { NO_COLOR: '1', UV_NO_PROGRESS: '1', UV_PYTHON_DOWNLOADS: 'manual' },
  inspect: py.keptBy('uv'),
  hints: [{ says: /No virtual environment found/, wayOut: 'uv_install makes that of the project.' }],
  actions: {
    ...packageActions('uv packages', {
      ...project('--dev'),
      list: [['pip', 'list', '--format=json'], packages(py.installed)],
      outdated: [['pip', 'list', '--outdated', '--format=json'], packages(py.outdated)],
      update: ['sync'],
      each: '--upgrade-package',
      install: ['sync'],
      getting: { frozen: on('--locked', 'Fail when the lock file is old') },
      why: ({ package: of }) => ['tree', '--invert', '--package', of],
    }),
    run: run('uv'),
    lock: lock('uv'),
    pip_install: action('Install with uv pip', 'Installs into a venv as pip does: -r files, -e.', makes, {
      run: ({ requirements: files, editable, packages: of }) => ['pip', 'install', files, editable, '--', of],
      params: {
        requirements: py.pipParams.requirements,
        editable: option('--editable', path('Folder of a package', 'folder')),
        packages: py.pipParams.packages,
      },
      given: { requirements: ['requirements.txt'], packages: [] },
    }),
    venv: action('Create a uv virtual environment', 'Makes .venv, or keeps it.', makes, {
      run: ['venv', '--allow-existing'],
      params: { python: option('--python', name('Version: 3.13')) },
    }),
    tool_run: action('Run a Python tool with uv', 'Fetches a tool and runs it, as uvx does.', makes, {
      run: ({ tool, args: rest }) => ['tool', 'run', tool, rest],
      params: { tool: operand(py.requirement), args },
      given: { tool: 'ruff', args: ['check', '.'] },
    }),
  },
});

// `(!)` stands before the version of what is locked and not installed.
const shown = lines(
  /^(?<of>[A-Za-z0-9][\w.-]*) +(?<absent>\(!\) +)?(?<version>\d\S*)/,
  ({ of = '', version: is, absent }) => ({ name: of, version: is, problem: absent && 'not installed' }),
);
const newer = lines(
  /^(?<of>[A-Za-z0-9][\w.-]*) +(?:\(!\) +)?(?<version>\d\S*) +(?<latest>\d\S*)/,
  ({ of = '', version: is, latest }) => ({ name: of, version: is, latest }),
);
const poetry = program('poetry', {
  everyday: 'add build check install lock remove show update run…',
  title: 'Poetry',
  category: 'package-manager',
  site: 'https://python-poetry.org/docs/cli',
  get: { pip: 'poetry', apt: 'python3-poetry', brew: 'poetry' },
  project: ['poetry.lock', { file: 'pyproject.toml', has: /^\[tool\.poetry\]/m }],
  environment: ['POETRY_VIRTUALENVS_IN_PROJECT', 'POETRY_CACHE_DIR', 'POETRY_HOME', 'VIRTUAL_ENV'],
  before: ['--no-interaction', '--no-ansi'],
  inspect: py.keptBy('poetry'),
  actions: {
    ...packageActions('Poetry packages', {
      ...project('--group=dev'),
      listing: { direct: on('--top-level', 'Only those of the project itself') },
      list: [['show'], packages(shown)],
      outdated: [['show', '--outdated'], packages(newer)],
      update: ['update'],
      install: ['install'],
      why: ({ package: of }) => ['show', '--tree', '--why', '--', of],
    }),
    run: run('Poetry'),
    lock: lock('Poetry'),
  },
});

export default [pip, uv, poetry];
