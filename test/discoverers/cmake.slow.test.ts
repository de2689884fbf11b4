import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import cmake from '../../src/discoverers/cmake.ts';
import ctest from '../../src/discoverers/ctest.ts';
import make from '../../src/discoverers/make.ts';
import { callAction, saidBy } from '../support/call-action.ts';
import { hasProgram } from './real-program.ts';

const installed = ['cmake', 'ctest', 'make'].every((one) => hasProgram(one, '--version'));
let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolcrib-cmake-'));
  const lists = `
    cmake_minimum_required(VERSION 3.16)
    project(demo NONE)
    execute_process(COMMAND \${CMAKE_COMMAND} -E touch \${CMAKE_SOURCE_DIR}/ran)
    add_custom_target(hello COMMAND \${CMAKE_COMMAND} -E echo "hello \${NAME} \${CMAKE_BUILD_TYPE}")
    install(FILES CMakeLists.txt DESTINATION share)
    enable_testing()
    add_test(NAME passes COMMAND \${CMAKE_COMMAND} -E true)
    add_test(NAME fails COMMAND \${CMAKE_COMMAND} -E cat nothing)`;
  writeFileSync(join(folder, 'CMakeLists.txt'), lists);
  const preset = { name: 'dev', generator: 'Unix Makefiles', binaryDir: 'out' };
  writeFileSync(
    join(folder, 'CMakePresets.json'),
    JSON.stringify({ version: 3, configurePresets: [preset] }),
  );
  const makefile = 'X := $(shell touch made)\nhello: ## Greets\n\t@echo "hello $(NAME)"\nfail:\n\t@false\n';
  writeFileSync(join(folder, 'Makefile'), makefile);
});

const call = async (of: typeof cmake, action: string, given: object = {}) =>
  saidBy(await callAction(of, action, { ...given }, { folder, trusted: true }));

it.skipIf(!installed)('configures, builds, installs, and runs tests', async () => {
  const given = { generator: 'Unix Makefiles', build_type: 'Debug', defines: ['NAME=world'] };
  expect(await call(cmake, 'configure', given)).toContain('Build files have been written');
  expect(existsSync(join(folder, 'ran'))).toBe(true);
  expect(await call(cmake, 'targets')).toMatch(/\nhello$/m);
  expect(await call(cmake, 'build', { targets: ['hello'], jobs: 2 })).toContain('no diagnostics');
  expect(await call(cmake, 'build', { targets: ['none'] })).toContain('PROGRAM_FAILED');
  expect(await call(cmake, 'install', { prefix: 'there' })).toContain('there/share/CMakeLists.txt');
  expect(await call(ctest, 'list', { matching: 'pass' })).toContain('Test #1: passes');
  expect(await call(ctest, 'test', { only: ['passes'] })).toContain('0 failed, 1 passed');
  expect(await call(ctest, 'test')).toMatch(/^1 failed, 1 passed, 0 skipped\nfails - .*nothing/s);
  expect(await call(ctest, 'test', { again: true })).toContain('1 failed, 0 passed');
  expect(await call(ctest, 'test', { only: ['none'] })).toContain('PROGRAM_FAILED');
  expect(await call(cmake, 'configure_preset', { preset: 'dev' })).toContain('written to');
});

it.skipIf(!installed)('ATTACK 37: lists targets without running anything, and runs one', async () => {
  expect(await call(make, 'tasks')).toContain('2 tasks\nhello (Greets)\nfail');
  expect(existsSync(join(folder, 'made'))).toBe(false);
  expect(await call(make, 'task', { task: 'hello', args: ['NAME=big world'] })).toContain('hello big world');
  expect(await call(make, 'task', { task: 'fail' })).toContain('PROGRAM_FAILED: exit code 2');
  expect(await call(make, 'build', { targets: ['hello'], variables: ['NAME=x'] })).toContain(
    'no diagnostics',
  );
});
