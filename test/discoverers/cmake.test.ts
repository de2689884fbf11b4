import { expect, it } from 'vitest';
import cmake from '../../src/discoverers/cmake.ts';
import ctest from '../../src/discoverers/ctest.ts';
import { argvOf, recorded, reportOf } from './real-program.ts';

it('reads the presets of a project', () => {
  expect(reportOf(cmake, 'presets', { stdout: recorded('cmake/CMakePresets.json') }).text)
    .toMatchInlineSnapshot(`
    "3 presets
    dev configure
    release configure
    dev build
    not read: cmake/common.json"
  `);
  expect(() => reportOf(cmake, 'presets', { stdout: '[]' })).toThrow();
});

it('tells why a project could not be configured again, and targets of both kinds of builds', () => {
  const stderr =
    'CMake Error at CMakeLists.txt:3 (find_package):\n  By not providing "FindFoo.cmake"\n  it was asked\n\n';
  expect(reportOf(cmake, 'build', { stderr, exitCode: 2 }).data).toMatchObject({
    items: [{ file: 'CMakeLists.txt', line: 3, message: 'By not providing "FindFoo.cmake" it was asked' }],
  });
  const make =
    'The following are some of the valid targets for this Makefile:\n... all (the default if no target)\n... app\n';
  expect(reportOf(cmake, 'targets', { stdout: make }).text).toBe(
    '2 tasks\nall (the default if no target)\napp',
  );
  const ninja = '[1/1] All primary targets available:\nedit_cache: phony\napp: CUSTOM\n';
  expect(reportOf(cmake, 'targets', { stdout: ninja }).text).toBe('2 tasks\nedit_cache\napp');
});

it('ATTACK 20: has no way to run a script, a tool, or the native build with arguments', () => {
  for (const targets of [['-E'], ['--', '--eval=$(shell touch p)'], ['a b'], ['']])
    expect(() => argvOf(cmake, 'build', { targets })).toThrow();
  expect(() => argvOf(cmake, 'build', { build: '-E' })).toThrow('read as an option');
  expect(() => argvOf(cmake, 'configure', { source: '-Pscript.cmake' })).toThrow('read as an option');
  for (const define of ['A=1\nB=2', 'A', '-P=x'])
    expect(() => argvOf(cmake, 'configure', { defines: [define] }), define).toThrow();
});

it('tells which tests failed with what they printed, those that could not be started among them', () => {
  const files = { 'report.xml': recorded('ctest/report.xml') };
  expect(reportOf(ctest, 'test', { files, exitCode: 8 }).text).toMatchInlineSnapshot(`
    "2 failed, 1 passed, 0 skipped
    fails - Unable to find executable: too
    crash -"
  `);
  expect(argvOf(ctest, 'test', { only: ['a.b', 'c d'] }).slice(-1)).toEqual(['^(a\\.b|c d)$']);
});
