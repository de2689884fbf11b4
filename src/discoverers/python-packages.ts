import * as z from 'zod';
import { on, operand, option, required, words } from '../core/parameter.ts';
import { name, path, some } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { entries, packages, tasks } from './reports/kinds.ts';
import { json, lines } from './reports/readers.ts';
import { packageActions } from './shared/packages.ts';
import * as py from './shared/python.ts';

const changes = ['execute', 'write', 'network'] as const;
const looks = ['execute', 'network'] as const;
const args = words('Arguments of the program');
const old = 'Fail when the lock file is old';
/** What all of them have in common. */
const python = { like: 'requests', spec: py.requirement, bare: py.packageName, changes, looks };
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
  action(`Run with ${title}`, "Runs a program of the project's environment.", looks, {
    run: ({ program: of, args: rest }) => ['run', of, rest],
    params: { program: operand(name('Program')), args },
    given: { program: 'python', args: ['-m', 'shop'] },
  });
const build = (title: string) =>
  action(`Build with ${title}`, 'Makes the wheel and source archive.', changes, { run: ['build'] });
const lock = (title: string) =>
  action(`Lock with ${title}`, 'Brings the lock file up to date.', changes, { run: ['lock'] });

const requirements = some(path('Requirements', 'file'), 'Files').default(['requirements.txt']);
const broken = '(?:requires|has requirement|is not supported) .*';
const pip = program('pip', {
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
      update: ['install', '--require-virtualenv', '--only-binary=:all:', '--upgrade'],
    }),
    install: action(
      'Install with pip',
      'Installs packages, -r files or a folder (-e) into a venv.',
      changes,
      {
        ...{ role: 'add', run: py.pipInstall, params: py.pipParams, given: py.pipGiven },
      },
    ),
    sync: action('Install requirements with pip', 'Installs what requirements.txt says.', changes, {
      role: 'install',
      run: ['install', '--require-virtualenv'],
      params: { requirements: required('--requirement=', requirements) },
    }),
    show: action('Describe packages with pip', 'Version, place, needs and dependents.', ['execute'], {
      run: ['show'],
      params: { packages: operand(some(py.packageName, 'Packages')) },
      given: { packages: ['requests'] },
    }),
    check: action('Check packages with pip', 'Requirements missing or of the wrong version.', ['execute'], {
      run: ['check'],
      ok: [0, 1],
      out: entries('problem')(
        lines(new RegExp(`^(?:No broken.*|(?<of>\\S+ \\S+) (?<says>${broken}))$`), ({ of, says }) =>
          of === undefined ? undefined : { name: of, says },
        ),
      ),
    }),
    freeze: action('Freeze packages with pip', 'What is installed, as requirements.', ['execute'], {
      run: ['freeze'],
    }),
  },
});

const version = name('Version: 3.13');
const uv = program('uv', {
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
      ...{ update: ['sync'], each: '--upgrade-package' },
      install: ['sync'],
      getting: { frozen: on('--locked', old) },
      why: ({ package: of }) => ['tree', '--invert', '--package', of],
    }),
    run: run('uv'),
    build: build('uv'),
    lock: lock('uv'),
    tree: action('Show the uv dependency tree', 'What depends on what.', looks, { run: ['tree'] }),
    pip_install: action('Install with uv pip', 'Installs into a venv as pip does: -r files, -e.', changes, {
      run: ({ requirements: files, editable, packages: of }) => ['pip', 'install', files, editable, '--', of],
      params: {
        requirements: py.pipParams.requirements,
        editable: option('--editable', path('Folder of a package', 'folder')),
        packages: py.pipParams.packages,
      },
      given: { requirements: ['requirements.txt'], packages: [] },
    }),
    venv: action('Create a uv virtual environment', 'Makes .venv, or keeps it.', changes, {
      run: ['venv', '--allow-existing'],
      params: { python: option('--python', version) },
    }),
    tool_run: action('Run a Python tool with uv', 'Fetches a tool and runs it, as uvx does.', changes, {
      run: ({ tool, args: rest }) => ['tool', 'run', tool, rest],
      params: { tool: operand(py.requirement), args },
      given: { tool: 'ruff', args: ['check', '.'] },
    }),
    pythons: action('List Pythons with uv', 'Installed ones, and ones to fetch.', looks, {
      run: ['python', 'list'],
    }),
    python_install: action('Install a Python with uv', 'Fetches a version of Python.', ['write', 'network'], {
      run: ['python', 'install'],
      params: { version: operand(version) },
      given: { version: '3.13' },
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
    build: build('Poetry'),
    lock: lock('Poetry'),
    check: action('Check the Poetry project', 'Mistakes in pyproject.toml.', ['execute'], { run: ['check'] }),
    environment: action('Describe the Poetry environment', 'Its Python and folder.', ['execute'], {
      run: ['env', 'info'],
    }),
  },
});

const text = z.string();
const outdated = z.array(z.object({ package: text, installed_version: text, latest_version: text }));
const scripts = z.record(text, z.looseObject({ help: text.optional() }));
const pdm = program('pdm', {
  title: 'PDM',
  category: 'package-manager',
  site: 'https://pdm-project.org/latest/reference/cli',
  get: { pip: 'pdm', apt: 'python3-pdm', brew: 'pdm' },
  project: ['pdm.lock', { file: 'pyproject.toml', has: /^\[tool\.pdm/m }],
  environment: ['PDM_CACHE_DIR', 'PDM_PYTHON', 'VIRTUAL_ENV'],
  settings: { NO_COLOR: '1', PDM_CHECK_UPDATE: '0', PDM_NON_INTERACTIVE: '1' },
  inspect: py.keptBy('pdm'),
  actions: {
    ...packageActions('PDM packages', {
      ...project('--dev'),
      list: [['list', '--json'], packages(py.installed)],
      outdated: [
        ['outdated', '--json'],
        packages(
          json(outdated, (all) =>
            all.map((one) => ({
              name: one.package,
              version: one.installed_version,
              latest: one.latest_version,
            })),
          ),
        ),
      ],
      update: ['update'],
      install: ['install'],
      getting: { frozen: on('--check', old) },
      why: ({ package: of }) => ['list', '--graph', '--reverse', '--', of],
    }),
    build: build('PDM'),
    lock: lock('PDM'),
    tasks: action('List PDM scripts', 'Scripts of the pyproject.toml.', ['execute'], {
      role: 'tasks',
      run: ['run', '--json'],
      out: tasks(
        json(scripts, (all) =>
          Object.entries(all).flatMap(([key, { help: says }]) => (key === '_' ? [] : [{ name: key, says }])),
        ),
      ),
    }),
    task: action('Run a PDM script', 'Runs a script of the project, or a program.', looks, {
      role: 'task',
      run: ({ task, args: rest }) => ['run', task, rest],
      params: { task: operand(name('Script or program')), args },
      given: { task: 'test', args: ['-q'] },
    }),
  },
});

export default [pip, uv, poetry, pdm];
