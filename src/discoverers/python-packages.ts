import * as z from 'zod';
import { on, operand, option, required, words, type Params } from '../core/parameter.ts';
import { name, path } from '../core/params.ts';
import { action, family, present, type Line, type Program } from '../core/program.ts';
import type { Reader } from '../core/report.ts';
import { entries, packages, tasks } from './reports/kinds.ts';
import { json, lines } from './reports/readers.ts';
import * as py from './shared/python.ts';

type Listed = Reader<{ name: string; version?: string; latest?: string }[]>;
type Listing = readonly [readonly string[], Listed];
interface Row extends Pick<
  Program,
  'title' | 'site' | 'get' | 'called' | 'own' | 'elsewhere' | 'project' | 'before'
> {
  environment: readonly string[];
  settings: Readonly<Record<string, string>>;
  hints?: NonNullable<Program['hints']>;
  list: Listing;
  /** What its list can leave out. */
  direct?: string;
  outdated?: Listing;
  /** What it is called to add packages, and to a group. */
  add?: { words: readonly string[]; dev: readonly string[]; group: string };
  update: readonly string[];
  /** The option that names each package to update, where that is no operand. */
  each?: string;
  install: readonly string[];
  frozen?: readonly string[];
  lock?: readonly string[];
  why?: Line<{ package: unknown }>;
  more?: Program['actions'];
}

const changes = ['execute', 'write', 'network'] as const;
const names = (says: string) => operand(py.some(py.packageName, says));
const args = words('Arguments of the program');
const command = operand(name('Program of the environment: python, pytest'));
/** Runs a program in the project's environment. */
const run = (title: string) =>
  action(`Run with ${title}`, "Runs a program in the project's environment.", ['execute', 'network'], {
    run: ({ program, args: rest }) => ['run', program, rest],
    params: { program: command, args },
    given: { program: 'python', args: ['-m', 'shop'] },
  });
const build = (title: string) =>
  action(`Build with ${title}`, 'Makes the wheel and the source archive of the project.', changes, {
    run: ['build'],
  });
const poetryLine =
  /^(?<name>[A-Za-z0-9][\w.-]*) +(?<absent>\(!\) +)?(?<version>\d\S*)(?: +(?<latest>\d\S*))?/;
const scripts = z.record(z.string(), z.record(z.string(), z.unknown()));

const rows: Readonly<Record<string, Row>> = {
  pip: {
    title: 'pip',
    site: 'https://pip.pypa.io',
    get: { apt: 'python3-pip', brew: 'python', winget: 'Python.Python.3.13', site: 'https://pip.pypa.io' },
    called: py.pythons.map((python) => `${python} -m pip`),
    ...py.interpreter,
    project: [
      'requirements.txt',
      'setup.py',
      'setup.cfg',
      '.venv',
      'venv',
      { file: 'pyproject.toml', has: /^\[project\]/m },
    ],
    environment: py.pipEnvironment,
    settings: py.pipSettings,
    // Without -I Python would take a pip.py in the working folder for pip.
    before: ['-I'],
    hints: [
      {
        says: /Could not find an activated virtualenv/,
        wayOut: 'Only a virtual environment is installed into: python_venv makes one in .venv.',
      },
      {
        says: /No module named pip/,
        wayOut:
          'This environment has no pip (uv makes such): uv_list and uv_add, or python_run_module {"module": "ensurepip"}.',
      },
    ],
    list: [['list', '--format=json'], py.installed],
    direct: '--not-required',
    outdated: [['list', '--outdated', '--format=json', '--retries=1'], py.outdated],
    update: ['install', '--require-virtualenv', '--only-binary=:all:', '--upgrade'],
    install: [],
    more: {
      install: action(
        'Install packages with pip',
        'Installs packages, requirements files (-r) or a folder (-e) into a virtual environment, never elsewhere.',
        changes,
        { role: 'add', run: py.pipInstall, params: py.pipParams, given: py.pipGiven },
      ),
      sync: action('Install requirements with pip', 'Installs what requirements.txt says.', changes, {
        role: 'install',
        run: ['install', '--require-virtualenv'],
        params: {
          files: required(
            '--requirement=',
            py.some(path('Requirements', 'file'), 'Files').default(['requirements.txt']),
          ),
        },
      }),
      uninstall: action(
        'Remove packages with pip',
        'Removes packages from a virtual environment.',
        ['execute', 'write'],
        {
          role: 'remove',
          run: ['uninstall', '--yes', '--require-virtualenv'],
          params: { packages: names('Packages to remove') },
          given: { packages: ['requests'] },
        },
      ),
      show: action(
        'Describe packages with pip',
        'Version, place, needs and dependents of packages.',
        ['execute'],
        {
          run: ['show'],
          params: { packages: names('Packages') },
          given: { packages: ['requests'] },
        },
      ),
      check: action(
        'Check packages with pip',
        'Requirements that are missing or of the wrong version.',
        ['execute'],
        {
          run: ['check'],
          ok: [0, 1],
          out: entries('problem')(
            lines(
              /^(?:No broken requirements found\.|(?<of>\S+ \S+) (?<says>(?:requires|has requirement|is not supported) .*))$/,
              ({ of, says }) => (of === undefined ? undefined : { name: of, says }),
            ),
          ),
        },
      ),
      freeze: action(
        'Freeze packages with pip',
        'What is installed, as lines of a requirements file.',
        ['execute'],
        {
          run: ['freeze', '--exclude-editable'],
        },
      ),
    },
  },
  uv: {
    title: 'uv',
    site: 'https://docs.astral.sh/uv/reference/cli',
    get: { pip: 'uv', brew: 'uv', winget: 'astral-sh.uv', site: 'https://docs.astral.sh/uv' },
    project: ['uv.lock', { file: 'pyproject.toml', has: /^\[tool\.uv/m }],
    environment: ['UV_INDEX_URL', 'UV_DEFAULT_INDEX', 'UV_CACHE_DIR', 'UV_PYTHON', 'SSL_CERT_FILE'],
    // A Python is only fetched when it is asked for.
    settings: { NO_COLOR: '1', UV_NO_PROGRESS: '1', UV_PYTHON_DOWNLOADS: 'manual' },
    hints: [
      {
        says: /No virtual environment found/,
        wayOut: 'uv_install makes one of the project; uv_venv an empty one.',
      },
    ],
    list: [['pip', 'list', '--format=json'], py.installed],
    outdated: [['pip', 'list', '--outdated', '--format=json'], py.outdated],
    add: { words: ['add'], dev: ['--dev'], group: '--group' },
    update: ['sync'],
    each: '--upgrade-package',
    install: ['sync'],
    frozen: ['--locked'],
    lock: ['lock'],
    why: ({ package: of }) => ['tree', '--invert', '--package', of],
    more: {
      run: run('uv'),
      build: build('uv'),
      tree: action(
        'Show the uv dependency tree',
        'What depends on what, by the lock file.',
        ['execute', 'network'],
        {
          run: ['tree'],
          params: { outdated: on('--outdated', 'With newer versions') },
        },
      ),
      pip_install: action(
        'Install packages with uv pip',
        'Installs into the virtual environment as pip does.',
        changes,
        {
          run: ({ requirements, editable, packages: of }) => [
            'pip',
            'install',
            requirements,
            editable,
            '--',
            of,
          ],
          params: {
            requirements: py.pipParams.requirements,
            editable: option('--editable', path('Folder of a package', 'folder')),
            packages: py.pipParams.packages,
          },
          given: { requirements: ['requirements.txt'], packages: [] },
        },
      ),
      venv: action('Create a virtual environment with uv', 'Makes one in .venv.', ['execute', 'write'], {
        run: ['venv', '--allow-existing'],
        params: { python: option('--python', name('Version: 3.13')) },
      }),
      tool_run: action('Run a Python tool with uv', 'Fetches a tool and runs it, as uvx does.', changes, {
        run: ({ tool, args: rest }) => ['tool', 'run', tool, rest],
        params: { tool: operand(py.requirement), args },
        given: { tool: 'ruff', args: ['check', '.'] },
      }),
      pythons: action(
        'List Pythons with uv',
        'Pythons that are there, and that could be fetched.',
        ['execute', 'network'],
        {
          run: ['python', 'list'],
        },
      ),
      python_install: action(
        'Install a Python with uv',
        'Fetches a version of Python.',
        ['write', 'network'],
        {
          run: ['python', 'install'],
          params: { version: operand(name('Version: 3.13')) },
          given: { version: '3.13' },
        },
      ),
    },
  },
  poetry: {
    title: 'Poetry',
    site: 'https://python-poetry.org/docs/cli',
    get: { pip: 'poetry', brew: 'poetry', site: 'https://python-poetry.org/docs' },
    project: ['poetry.lock', { file: 'pyproject.toml', has: /^\[tool\.poetry\]/m }],
    environment: ['POETRY_VIRTUALENVS_IN_PROJECT', 'POETRY_CACHE_DIR', 'POETRY_HOME', 'VIRTUAL_ENV'],
    settings: { NO_COLOR: '1' },
    before: ['--no-interaction', '--no-ansi'],
    list: [
      ['show'],
      lines(poetryLine, ({ latest: _, absent, ...one }) => ({
        ...named(one),
        ...(absent && { problem: 'not installed' }),
      })),
    ],
    direct: '--top-level',
    outdated: [['show', '--outdated'], lines(poetryLine, named)],
    add: { words: ['add'], dev: ['--group=dev'], group: '--group' },
    update: ['update'],
    install: ['install'],
    lock: ['lock'],
    why: ({ package: of }) => ['show', '--tree', '--why', '--', of],
    more: {
      run: run('Poetry'),
      build: build('Poetry'),
      check: action('Check the Poetry project', 'Mistakes in pyproject.toml and poetry.lock.', ['execute'], {
        run: ['check'],
      }),
      environment: action('Describe the Poetry environment', 'Its Python and its folder.', ['execute'], {
        run: ['env', 'info'],
      }),
    },
  },
  pdm: {
    title: 'PDM',
    site: 'https://pdm-project.org/latest/reference/cli',
    get: { pip: 'pdm', brew: 'pdm', site: 'https://pdm-project.org' },
    project: ['pdm.lock', { file: 'pyproject.toml', has: /^\[tool\.pdm/m }],
    environment: ['PDM_CACHE_DIR', 'PDM_PYTHON', 'VIRTUAL_ENV'],
    settings: { NO_COLOR: '1', PDM_CHECK_UPDATE: '0', PDM_NON_INTERACTIVE: '1' },
    list: [['list', '--json'], py.installed],
    outdated: [
      ['outdated', '--json'],
      json(
        z.array(z.object({ package: z.string(), installed_version: z.string(), latest_version: z.string() })),
        (all) =>
          all.map((one) => ({
            name: one.package,
            version: one.installed_version,
            latest: one.latest_version,
          })),
      ),
    ],
    add: { words: ['add'], dev: ['--dev'], group: '--group' },
    update: ['update'],
    install: ['install'],
    frozen: ['--frozen-lockfile'],
    lock: ['lock'],
    why: ({ package: of }) => ['list', '--tree', '--reverse', '--', of],
    more: {
      build: build('PDM'),
      tasks: action('List PDM scripts', 'Scripts of the pyproject.toml.', ['execute'], {
        role: 'tasks',
        run: ['run', '--json'],
        out: tasks(
          json(scripts, (all) =>
            Object.entries(all).flatMap(([key, one]) =>
              key === '_'
                ? []
                : [{ name: key, ...(typeof one['help'] === 'string' && { says: one['help'] }) }],
            ),
          ),
        ),
      }),
      task: action(
        'Run a PDM script',
        'Runs a script of the project, or a program there.',
        ['execute', 'network'],
        {
          role: 'task',
          run: ({ task, args: rest }) => ['run', task, rest],
          params: { task: operand(name('Script or program')), args },
          given: { task: 'test', args: ['-q'] },
        },
      ),
    },
  },
};

function named({ name: of = '', version, latest }: Readonly<Record<string, string | undefined>>) {
  return { name: of, ...(version && { version }), ...(latest && { latest }) };
}

export default family(rows, (row, id) => {
  const {
    title,
    list: listed,
    direct,
    outdated,
    add,
    update,
    each,
    install,
    frozen,
    lock,
    why,
    more,
    ...facts
  } = row;
  const updated = 'Packages to update';
  const topLevel: Params = direct ? { top_level: on(direct, 'Only those that no other needs') } : {};
  return {
    ...facts,
    title,
    category: 'package-manager',
    inspect: py.keptBy(id),
    actions: present({
      list: action(
        `List ${title} packages`,
        "Packages of the project's environment, with versions.",
        ['execute'],
        {
          role: 'list',
          run: listed[0],
          params: topLevel,
          out: packages(listed[1]),
        },
      ),
      outdated:
        outdated &&
        action(
          `List outdated ${title} packages`,
          'Packages of which there is a newer version.',
          ['execute', 'network'],
          {
            role: 'outdated',
            run: outdated[0],
            params: topLevel,
            out: packages(outdated[1]),
          },
        ),
      why:
        why &&
        action(`Why ${title} installed a package`, 'What depends on a package.', ['execute', 'network'], {
          role: 'why',
          run: why,
          params: { package: operand(py.packageName) },
          given: { package: 'idna' },
        }),
      add:
        add &&
        action(
          `Add packages with ${title}`,
          'Adds packages to the project, its lock and environment.',
          changes,
          {
            role: 'add',
            run: add.words,
            params: {
              dev: on(add.dev, 'For development only'),
              group: option(add.group, name('Group of dependencies')),
              packages: operand(py.some(py.requirement, 'Packages to add')),
            },
            given: { packages: ['requests>=2.32'], dev: true },
          },
        ),
      remove:
        add &&
        action(`Remove packages with ${title}`, 'Removes packages from the project.', changes, {
          role: 'remove',
          run: ['remove'],
          params: {
            group: option(add.group, name('Group of dependencies')),
            packages: names('Packages to remove'),
          },
          given: { packages: ['requests'] },
        }),
      update: action(
        `Update packages with ${title}`,
        'Updates packages as far as their bounds allow.',
        changes,
        {
          role: 'update',
          run: update,
          params: {
            packages: each ? required(each, py.some(py.packageName, updated)) : names(updated),
          },
          given: { packages: ['requests'] },
        },
      ),
      install:
        id === 'pip'
          ? undefined
          : action(
              `Install with ${title}`,
              'Makes the environment what the project and its lock file say.',
              changes,
              {
                role: 'install',
                run: install,
                params: (frozen
                  ? { frozen: on(frozen, 'Fail when the lock file is not up to date') }
                  : {}) as Params,
              },
            ),
      lock:
        lock &&
        action(`Lock with ${title}`, 'Brings the lock file up to date with the project.', changes, {
          run: lock,
        }),
      ...more,
    }),
  };
});
