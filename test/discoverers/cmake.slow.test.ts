import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cmake } from '../../src/discoverers/cmake.ts';
import { ctest } from '../../src/discoverers/ctest.ts';
import { hasProgram, runAction } from './real-program.ts';

const installed =
  hasProgram('cmake', '--version') && hasProgram('ctest', '--version') && hasProgram('make', '--version');

describe.skipIf(!installed)('cmake and ctest, the real ones', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'toolcrib-cmake-'));
    const lists = `
      cmake_minimum_required(VERSION 3.16)
      project(demo NONE)
      execute_process(COMMAND \${CMAKE_COMMAND} -E touch \${CMAKE_SOURCE_DIR}/ran)
      add_custom_target(hello COMMAND \${CMAKE_COMMAND} -E echo "hello \${NAME} \${CMAKE_BUILD_TYPE}")
      enable_testing()
      add_test(NAME passes COMMAND \${CMAKE_COMMAND} -E true)
      add_test(NAME fails COMMAND \${CMAKE_COMMAND} -E cat nothing)`;
    writeFileSync(join(folder, 'CMakeLists.txt'), lists);
    const presets = {
      version: 3,
      configurePresets: [{ name: 'dev', generator: 'Unix Makefiles', binaryDir: 'out' }],
    };
    writeFileSync(join(folder, 'CMakePresets.json'), JSON.stringify(presets));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('configures, builds, lists tests and runs them', () => {
    const where = { cwd: folder };
    const given = { generator: 'Unix Makefiles', build_type: 'Debug', defines: ['NAME=world'] };
    expect(runAction(cmake, 'configure', given, where)).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(folder, 'ran'))).toBe(true);
    const built = runAction(cmake, 'build', { targets: ['hello'], jobs: 2 }, where);
    expect(built).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('hello world Debug') });
    expect(runAction(ctest, 'list', { only: 'pass' }, where).data).toMatchObject({
      tests: [{ name: 'passes' }],
    });
    expect(runAction(ctest, 'run', { except: 'fails' }, where).exitCode).toBe(0);
    expect(runAction(ctest, 'run', { jobs: 2 }, where)).toMatchObject({
      exitCode: 8,
      stdout: expect.stringMatching(/nothing[^]*1 tests? failed out of 2/),
    });
    expect(runAction(ctest, 'run', { only: 'no such test' }, where).exitCode).not.toBe(0);
  });

  it('configures by preset', () => {
    expect(runAction(cmake, 'configure_preset', { preset: 'dev' }, { cwd: folder })).toMatchObject({
      exitCode: 0,
    });
    expect(existsSync(join(folder, 'out', 'CMakeCache.txt'))).toBe(true);
  });
});
