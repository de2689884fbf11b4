import { on, operand, option } from '../../core/parameter.ts';
import { name, path } from '../../core/params.ts';
import { action } from '../../core/program.ts';
import * as py from '../shared/python.ts';
import { args, build, changes, run, type Row } from './row.ts';

const version = name('Version: 3.13');

export const uv: Row = {
  title: 'uv',
  site: 'https://docs.astral.sh/uv/reference/cli',
  get: { pip: 'uv', brew: 'uv', winget: 'astral-sh.uv', site: 'https://docs.astral.sh/uv' },
  project: ['uv.lock', { file: 'pyproject.toml', has: /^\[tool\.uv/m }],
  environment: ['UV_INDEX_URL', 'UV_DEFAULT_INDEX', 'UV_CACHE_DIR', 'UV_PYTHON', 'SSL_CERT_FILE'],
  // A Python is only fetched when it is asked for.
  settings: { NO_COLOR: '1', UV_NO_PROGRESS: '1', UV_PYTHON_DOWNLOADS: 'manual' },
  hints: [{ says: /No virtual environment found/, wayOut: 'uv_install makes that of the project.' }],
  list: [['pip', 'list', '--format=json'], py.installed],
  outdated: [['pip', 'list', '--outdated', '--format=json'], py.outdated],
  add: { dev: '--dev', group: '--group' },
  update: ['sync'],
  each: '--upgrade-package',
  install: ['sync'],
  frozen: '--locked',
  why: ({ package: of }) => ['tree', '--invert', '--package', of],
  more: {
    run: run('uv'),
    build: build('uv'),
    lock: action('Lock with uv', 'Brings uv.lock up to date.', changes, {
      run: ['lock'],
      params: {
        upgrade: on('--upgrade', 'Everything to its newest'),
        check: on('--check', 'Only say whether'),
      },
    }),
    tree: action('Show the uv dependency tree', 'What depends on what.', ['execute', 'network'], {
      run: ['tree'],
      params: { outdated: on('--outdated', 'With newer versions') },
    }),
    pip_install: action('Install with uv pip', 'Installs into a venv as pip does: -r files, -e.', changes, {
      run: ({ requirements, editable, packages }) => [
        'pip',
        'install',
        requirements,
        editable,
        '--',
        packages,
      ],
      params: {
        requirements: py.pipParams.requirements,
        editable: option('--editable', path('Folder of a package', 'folder')),
        packages: py.pipParams.packages,
      },
      given: { requirements: ['requirements.txt'], packages: [] },
    }),
    venv: action(
      'Create a uv virtual environment',
      'Makes .venv, or keeps it.',
      ['execute', 'write', 'network'],
      {
        run: ['venv', '--allow-existing'],
        params: { python: option('--python', version) },
      },
    ),
    tool_run: action('Run a Python tool with uv', 'Fetches a tool and runs it, as uvx does.', changes, {
      run: ({ tool, args: rest }) => ['tool', 'run', tool, rest],
      params: { tool: operand(py.requirement), args },
      given: { tool: 'ruff', args: ['check', '.'] },
    }),
    pythons: action('List Pythons with uv', 'Installed ones, and ones to fetch.', ['execute', 'network'], {
      run: ['python', 'list'],
    }),
    python_install: action('Install a Python with uv', 'Fetches a version of Python.', ['write', 'network'], {
      run: ['python', 'install'],
      params: { version: operand(version) },
      given: { version: '3.13' },
    }),
  },
};
