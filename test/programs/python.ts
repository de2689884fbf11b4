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
      ['venv', {}, /done/],
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
    from: { pip: 'pre-commit', apt: 'pre-commit' },
    files: {
      '.pre-commit-config.yaml':
        'repos:\n- repo: local\n  hooks:\n  - {id: fails, name: fails, language: system, entry: "false", files: a}\n',
      'a.txt': 'a',
    },
    calls: [
      ['update', {}, /PROGRAM_FAILED|done/],
      ['run', { all: true }, /PROGRAM_FAILED[^]*git/],
    ],
  },
  {
    program: 'poetry',
    from: { apt: 'python3-poetry' },
    files: {
      'pyproject.toml': '[tool.poetry]\nname = "a"\nversion = "1.0"\ndescription = ""\nauthors = []\n',
    },
    calls: [['list', {}, /poetry\.lock|no packages/]],
  },
] satisfies ProgramTrial[];
