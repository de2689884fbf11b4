import { expect, it } from 'vitest';
import { programOf } from './programs.ts';
import { argvOf, recorded, reportOf } from './real-program.ts';

const shown = (id: string, action: string, output: Parameters<typeof reportOf>[2]) =>
  reportOf(programOf(id), action, output).text;

it('names the failures of pytest in the words that only takes', () => {
  const files = { 'report.xml': recorded('pytest/failures.xml') };
  expect(shown('pytest', 'test', { files, exitCode: 1 }).split('\n')).toEqual([
    '5 failed, 3 passed, 2 skipped',
    'tests/test_cart.py:13 tests/test_cart.py::test_fails - assert 3 == 4',
    ' +  where 3 = add(1, 2)',
    'tests/test_cart.py:19 tests/test_cart.py::TestCart::test_many[2] - assert 2 == 1',
    "tests/test_cart.py:19 tests/test_cart.py::TestCart::test_many[a b] - AssertionError: assert 'a b' == 1",
    'tests/test_cart.py:28 tests/test_cart.py::CartCase::test_case - AssertionError: 2 != 3',
    'tests/test_cart.py:39 tests/test_cart.py::CartCase::test_error - ValueError: boom',
    'second',
  ]);
  expect(
    argvOf(programOf('pytest'), 'test', { only: ['tests/a.py::T::t[a b]'], again: true }).slice(-3),
  ).toEqual(['--last-failed', '--', 'tests/a.py::T::t[a b]']);
});

it('says why pytest could not import a file', () => {
  const files = { 'report.xml': recorded('pytest/collection-error.xml') };
  expect(shown('pytest', 'test', { files, exitCode: 2 })).toBe(
    '1 failed, 0 passed, 0 skipped\n' +
      "tests/test_broken.py:1 tests/test_broken.py - ModuleNotFoundError: No module named 'nothing_there'",
  );
});

it('counts and places what unittest says, of old Pythons too', () => {
  expect(shown('unittest', 'test', { stderr: recorded('unittest/failures.txt'), exitCode: 1 })).toBe(
    '2 failed, 1 passed, 1 skipped\n' +
      '/home/dev/shop/tests/test_cart.py:39 tests.test_cart.CartCase.test_error - ValueError: boom\nsecond\n' +
      '/home/dev/shop/tests/test_cart.py:28 tests.test_cart.CartCase.test_case - AssertionError: 2 != 3',
  );
  expect(shown('unittest', 'test', { stderr: recorded('unittest/load-error.txt'), exitCode: 1 })).toContain(
    "test_broken.py:1 tests.test_broken - Traceback (most recent call last):\nModuleNotFoundError: No module named 'nothing",
  );
  expect(shown('unittest', 'test', { stderr: recorded('unittest/python-3.8.txt'), exitCode: 1 })).toBe(
    '1 failed, 1 passed, 0 skipped\n/home/dev/shop/t38.py:3 t38.A.test_a - AssertionError: 1 != 2',
  );
  expect(() => shown('unittest', 'test', { stderr: 'Traceback', exitCode: 1 })).toThrow();
});

it('reads what Ruff and Pyright find', () => {
  expect(shown('ruff', 'check', { stdout: recorded('ruff/check.json'), exitCode: 1 })).toBe(
    '1 diagnostic\n/home/dev/shop/cart.py:1:8 error: `os` imported but unused [F401]',
  );
  expect(shown('pyright', 'types', { stdout: recorded('pyright/check.json'), exitCode: 1 })).toMatch(
    /^1 diagnostic\n\/home\/dev\/shop\/cart\.py:9:12 error: Type "Literal\['x'\]" is not[^]*\[reportReturnType\]$/,
  );
});
