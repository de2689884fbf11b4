import { execFileSync } from 'node:child_process';
import type { ProgramTrial } from './types.ts';

const shop = {
  'cart.py': 'def add(a: int, b: int) -> int:\n    return a + b\n\n\ndef bad() -> int:\n    return "x"\n',
  'tests/__init__.py': '',
  'tests/test_cart.py': `import os
import unittest

from cart import add


class CartTest(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(add(1, 2), 3)

    def test_fails(self):
        self.assertEqual(add(1, 2), 4)
`,
};
/** Writes two versions of a package without a build. */
const wheel = `
import os, zipfile
os.mkdir('wheels')
for version in ('1.0', '2.0'):
    with zipfile.ZipFile(f'wheels/tiny-{version}-py3-none-any.whl', 'w') as whl:
        info = f'tiny-{version}.dist-info'
        whl.writestr('tiny.py', '')
        whl.writestr(f'{info}/METADATA', f'Metadata-Version: 2.1\\nName: tiny\\nVersion: {version}\\n')
        whl.writestr(f'{info}/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
        whl.writestr(f'{info}/RECORD', '')
`;
const failing = ['tests/test_cart.py::CartTest::test_fails'];

export default [
  {
    program: 'python',
    from: { apt: 'python3' },
    files: shop,
    calls: [
      ['version', {}, /^Python 3\.\d+\.\d+\n\/.*\n(?:no )?virtual environment/],
      ['run', { file: 'cart.py' }, /done/],
      ['run_module', { module: 'cart' }, /done/],
      ['eval', { code: 'import cart; print(cart.add(1, 2))' }, /^3/],
      ['check', { files: ['cart.py'] }, /^no diagnostics/],
      ['venv', {}, /^\.venv: Python 3\.\d/],
      ['pip_list', {}, /^\d+ packages[^]*\npip \d/],
      ['pip_install', { editable: 'no-such-folder' }, /PROGRAM_FAILED/],
    ],
  },
  {
    program: 'unittest',
    from: { apt: 'python3' },
    files: shop,
    calls: [
      [
        'test',
        {},
        /^1 failed, 1 passed, 0 skipped\n.*test_cart\.py:12 tests\.test_cart\.CartTest\.test_fails - /,
      ],
      ['test', { only: ['tests.test_cart.CartTest.test_adds'] }, /^0 failed, 1 passed/],
    ],
  },
  {
    program: 'pytest',
    check: ['test', /1 failed[^]*test_fails/],
    from: { pip: 'pytest', apt: 'python3-pytest' },
    files: { ...shop, 'conftest.py': '' },
    calls: [
      [
        'test',
        {},
        /^1 failed, 1 passed, 0 skipped\ntests\/test_cart\.py:12 tests\/test_cart\.py::CartTest::test_fails - /,
      ],
      ['test', { only: failing }, /^1 failed, 0 passed/],
      ['test', { again: true }, /^1 failed, 0 passed/],
      ['test', { matching: 'adds' }, /^0 failed, 1 passed/],
      ['collect', {}, /tests\/test_cart\.py::CartTest::test_adds/],
    ],
  },
  {
    program: 'ruff',
    from: { pip: 'ruff' },
    files: { ...shop, 'ruff.toml': '' },
    calls: [
      ['check', {}, /^1 diagnostic\n.*test_cart\.py:1:8 error: `os` imported but unused \[F401\]/],
      ['check', { fix: true, only: ['tests'] }, /^no diagnostics/],
      ['format', { check: true }, /formatted/],
      ['format', {}, /formatted|unchanged/],
    ],
  },
  {
    program: 'black',
    from: { pip: 'black', apt: 'black' },
    files: { 'a.py': "x = 'a'\n" },
    calls: [
      ['format', { check: true }, /would reformat/],
      ['format', { only: ['a.py'] }, /1 file reformatted/],
    ],
  },
  {
    program: 'mypy',
    from: { pip: 'mypy', apt: 'mypy' },
    files: shop,
    calls: [
      [
        'types',
        { only: ['cart.py'] },
        /^1 diagnostic\ncart\.py:6:12 error: Incompatible return .* \[return-value\]/,
      ],
      ['types', { only: ['tests'], strict: true }, /\[no-untyped-def\]/],
    ],
  },
  {
    program: 'pyright',
    check: ['types', /cart\.py/],
    from: { npm: 'pyright@1.1.414' },
    files: { ...shop, 'pyrightconfig.json': '{}' },
    calls: [
      [
        'types',
        { only: ['cart.py'] },
        /^1 diagnostic\n.*cart\.py:6:12 error: Type "Literal[^]* \[reportReturnType\]/,
      ],
    ],
  },
  {
    program: 'basedpyright',
    from: { npm: 'basedpyright@1' },
    files: shop,
    calls: [['types', { only: ['cart.py'] }, /cart\.py:6:12 error: Type "[^]* \[reportReturnType\]/]],
  },
  {
    program: 'pip',
    from: { apt: 'python3-venv' },
    broken: { except: { check: 'it looks at the environment, which no file of the project describes' } },
    start: (folder) => {
      execFileSync('python3', ['-m', 'venv', '.venv'], { cwd: folder });
      execFileSync('python3', ['-c', wheel], { cwd: folder });
      return Promise.resolve({ env: {}, end: () => undefined });
    },
    files: {
      'requirements.txt': '--no-index\n--find-links wheels\ntiny==1.0\n',
      'newer.txt': '--no-index\n--find-links wheels\ntiny==2.0\n',
    },
    calls: [
      ['install', { requirements: ['requirements.txt'] }, /Successfully installed tiny-1\.0/],
      ['list', {}, /^\d packages[^]*\ntiny 1\.0/],
      ['show', { packages: ['tiny'] }, /Name: tiny\nVersion: 1\.0/],
      ['show', { packages: ['nope'] }, /nope/],
      ['freeze', {}, /tiny==1\.0/],
      ['check', {}, /^no problems/],
      ['sync', { requirements: 'newer.txt' }, /Successfully installed tiny-2\.0/],
      // Without an index there is nothing newer to find, which is no "none".
      ['update', { packages: ['tiny'] }, /already satisfied|PROGRAM_FAILED/],
      ['outdated', {}, /PROGRAM_FAILED/],
      ['remove', { packages: ['tiny'] }, /Successfully uninstalled tiny-2\.0/],
      ['remove', { packages: ['tiny'] }, /^NOT_FOUND: packages: tiny: not there/],
    ],
  },
  {
    program: 'tox',
    from: { apt: 'tox' },
    files: {
      'tox.ini': '[tox]\nenvlist = one\nskipsdist = true\n[testenv]\ncommands = python -c "print(6*7)"\n',
    },
    calls: [
      ['tasks', {}, /^1 task\none$/m],
      ['task', { task: 'one', args: ['a'] }, /42/],
      ['all', {}, /congratulations|OK/i],
    ],
  },
  {
    program: 'pre_commit',
    from: { apt: 'pre-commit' },
    start: (folder) => {
      execFileSync('git', ['init', '--quiet'], { cwd: folder });
      execFileSync('git', ['add', '.'], { cwd: folder });
      return Promise.resolve({ env: {}, end: () => undefined });
    },
    files: {
      '.pre-commit-config.yaml':
        'repos:\n- repo: local\n  hooks:\n  - {id: fails, name: fails, language: system, entry: "false", files: a}\n',
      'a.txt': 'a',
    },
    calls: [
      ['run', { all: true }, /fails\.+Failed/],
      ['run_files', { files: ['a.txt'] }, /fails\.+Failed/],
      ['install', {}, /installed at \.git\/hooks\/pre-commit/],
      ['update', {}, /^(?!PROGRAM_FAILED)/],
    ],
  },
  {
    program: 'poetry',
    from: { apt: 'python3-poetry' },
    files: {
      'pyproject.toml':
        '[tool.poetry]\nname = "a"\nversion = "1.0"\ndescription = ""\nauthors = []\npackages = [{ include = "a" }]\n' +
        '[tool.poetry.dependencies]\npython = ">=3.9"\ntiny = { path = "tiny" }\n',
      'a/__init__.py': '',
      'tiny/pyproject.toml':
        '[tool.poetry]\nname = "tiny"\nversion = "1.0"\ndescription = ""\nauthors = []\n',
      'tiny/tiny.py': '',
    },
    calls: [
      ['list', {}, /poetry\.lock|no packages/],
      ['lock', {}, /^(?!PROGRAM_FAILED)/],
      ['list', {}, /^1 package\ntiny 1\.0/],
      ['why', { package: 'tiny' }, /tiny 1\.0/],
      ['run', { program: 'python', args: ['-c', 'print(6*7)'] }, /42/],
      // PyPI is out of reach here.
      ['install', {}, /PROGRAM_FAILED|Installing/],
      ['add', { packages: ['no-such-package-at-all-1'] }, /PROGRAM_FAILED/],
      ['update', { packages: ['tiny'] }, /^Updating dependencies/],
      ['remove', { packages: ['no-such-package-at-all-1'] }, /PROGRAM_FAILED/],
      ['outdated', {}, /PROGRAM_FAILED|no packages/],
    ],
  },
] satisfies ProgramTrial[];
