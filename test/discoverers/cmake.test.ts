import { describe, expect, it } from 'vitest';
import { cmake } from '../../src/discoverers/cmake.ts';
import { ctest } from '../../src/discoverers/ctest.ts';
import { argvOf, itKeepsItsExamples, parseRecorded } from './real-program.ts';

describe('cmake', () => {
  itKeepsItsExamples(cmake);

  it('reads presets', () => {
    expect(parseRecorded(cmake, 'presets', 'CMakePresets.json')).toEqual({
      configure: ['dev', 'release'],
      build: ['dev'],
      test: [],
      workflow: ['ci'],
      includes: ['cmake/common.json'],
    });
    expect(cmake.actions.presets.parse?.('{"version":1}')).toMatchObject({ configure: [], includes: [] });
    expect(() => cmake.actions.presets.parse?.('[]')).toThrow('version');
  });

  it('ATTACK 20: has no way to run a script, a tool, or the native build with arguments', () => {
    for (const action of Object.values(cmake.actions)) {
      expect(JSON.stringify(action)).not.toMatch(/"--"|"-E"|"-P"/);
    }
    for (const targets of [['-E'], ['--', '--eval=$(shell touch p)'], ['a b'], ['$(x)'], ['']]) {
      expect(() => argvOf(cmake, 'build', { targets })).toThrow();
    }
    expect(() => argvOf(cmake, 'build', { build: '-E' })).toThrow('read as an option');
    expect(() => argvOf(cmake, 'configure', { source: '-Pscript.cmake' })).toThrow('read as an option');
    expect(() => argvOf(cmake, 'configure', { generator: 'Evil' })).toThrow();
    expect(() => argvOf(cmake, 'build_preset', { preset: '-x' })).toThrow();
  });

  it('ATTACK 20: refuses variables that name a program to run', () => {
    const refused = [
      'CMAKE_CXX_COMPILER_LAUNCHER=touch;p',
      'CMAKE_MAKE_PROGRAM:FILEPATH=/tmp/evil',
      'CMAKE_PROJECT_INCLUDE=/tmp/evil.cmake',
      'CMAKE_PROJECT_demo_INCLUDE_BEFORE=/tmp/evil.cmake',
      'CMAKE_PROJECT_TOP_LEVEL_INCLUDES=/tmp/evil.cmake',
      'CMAKE_TOOLCHAIN_FILE=/tmp/evil.cmake',
      'CMAKE_C_COMPILER=/tmp/evil',
      'CMAKE_C_CLANG_TIDY=touch;p',
      'Python_EXECUTABLE=/tmp/evil',
      'A=1\nB=2',
      'A',
      '-P=x',
    ];
    for (const define of refused)
      expect(() => argvOf(cmake, 'configure', { defines: [define] }), define).toThrow();
    const defines = ['CMAKE_C_COMPILER=clang-18', 'A:BOOL=ON', 'LIST=a;b c'];
    expect(argvOf(cmake, 'configure', { defines }).slice(4)).toEqual(
      defines.flatMap((define) => ['-D', define]),
    );
  });

  it('ATTACK 38: says that configuring runs code of the project', () => {
    const { presets, ...running } = cmake.actions;
    expect(presets.effects).toEqual(['read']);
    for (const action of [...Object.values(running), ...Object.values(ctest.actions)]) {
      expect(action.effects).toEqual(['execute']);
    }
  });
});

describe('ctest', () => {
  itKeepsItsExamples(ctest);

  it('reads tests', () => {
    const command = (name: string) => ['/usr/bin/cmake', '-E', name];
    expect(parseRecorded(ctest, 'list', 'list.json')).toEqual({
      tests: [
        { name: 'passes', command: command('true'), labels: [], disabled: false },
        { name: 'fails', command: command('false'), labels: ['slow'], disabled: false },
      ],
    });
    expect(ctest.actions.list.parse?.('{"kind":"ctestInfo","tests":[{"name":"a"}]}')).toEqual({
      tests: [{ name: 'a', command: [], labels: [], disabled: false }],
    });
    expect(() => ctest.actions.list.parse?.('{}')).toThrow('ctestInfo');
  });
});
