import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, it, onTestFinished } from 'vitest';
import { hasProgram } from '../discoverers/real-program.ts';
import { folderWith } from '../support/files-in.ts';
import { connect } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';

// The tools that are made of what programs say they are for: none of them knows a program by its name.
const cart = (sum: string) => `const { test } = require('node:test');
const assert = require('node:assert');
test('adds', () => assert.strictEqual(1 + 1, ${sum}));
test('is empty', () => {});
test('rounds', { skip: true }, () => {});
`;
const shop = (scripts: Record<string, string> = {}) => ({
  'package.json': JSON.stringify({ name: 'shop', scripts: { test: 'node --test', ...scripts } }),
  'test/cart.test.js': cart('3'),
});

async function opened(
  files: Record<string, unknown>,
  args: readonly string[] = ['--questions', 'none'],
  env?: Record<string, string>,
) {
  const folder = folderWith(files);
  const client = await connect('2026-07-28', { roots: [folder], args, ...(env && { env }) });
  onTestFinished(() => client.close());
  const call = async (name: string, given: Record<string, unknown> = {}) => {
    const result = await client.callTool({ name, arguments: given });
    return (result.isError ? 'ERROR ' : '') + textOf(result);
  };
  return { folder, call, write: (path: string, text: string) => writeFileSync(join(folder, path), text) };
}

it('names every test that failed, and what is fixed and new since last time', async () => {
  const { call, write } = await opened(shop());
  expect(await call('check')).toMatch(
    /^test: 1 failed, 1 passed, 1 skipped \(node\)\ntest\/cart\.test\.js:3 adds\n {2}Expected[^\n]*:\n {2}2 !== 3/,
  );
  write(
    'test/cart.test.js',
    cart('2').replace("'is empty', () => {}", "'is empty', () => assert.fail('new')"),
  );
  expect(await call('check')).toMatch(
    /^test: 1 failed, 1 passed, 1 skipped \(node\); 1 fixed, 1 new since last time\nnew: test\/cart\.test\.js:4 is empty\n/,
  );
  expect(await call('check', { again: true })).toMatch(/^test: 1 failed, 0 passed/);
  expect(await call('check', { only: ['test/cart.test.js'] })).toMatch(
    /^test: 1 failed, 1 passed, 1 skipped \(node\)\ntest/,
  );
  write('test/cart.test.js', cart('2'));
  const green = await call('check');
  expect(green).toBe('test: 2 passed, 1 skipped (node); 1 fixed since last time');
  expect(encode(green).length).toBeLessThanOrEqual(60);
  write('test/cart.test.js', 'const = 1;');
  expect(await call('check')).toMatch(/^test: 1 failed, 0 passed|^ERROR /);
});

it('compares a check of a part with one of the same part only', async () => {
  const one = { ...shop(), 'test/other.test.js': cart('3').replaceAll("test('", "test('other ") };
  const { call, write } = await opened(one);
  const only = ['test/cart.test.js'];
  expect(await call('check', { only })).toMatch(/^test: 1 failed, 1 passed, 1 skipped \(node\)\n/);
  // That of the other file was not looked at before, and is not new.
  expect(await call('check')).toMatch(/^test: 2 failed, 2 passed, 2 skipped \(node\)\n/);
  write('test/cart.test.js', cart('2'));
  expect(await call('check', { only })).toBe(
    'test: 1 passed, 1 skipped (node)'.replace('1', '2') + '; 1 fixed since last time',
  );
  expect(await call('check', { only: ['test/other.test.js'] })).toMatch(/^test: 1 failed, [^;]*\)\n/);
  expect(await call('check')).toMatch(
    /^test: 1 failed, 3 passed, 2 skipped \(node\); 1 fixed since last time\n/,
  );
  expect(await call('check', { again: true })).toMatch(/^test: 1 failed, 0 passed[^;]*\n/);
  write('test/other.test.js', cart('2').replaceAll("test('", "test('other "));
  expect(await call('check', { again: true })).toMatch(/^test: 1 passed[^;]*; 1 fixed since last time$/);
  expect(await call('check')).toBe('test: 4 passed, 2 skipped (node)');
});

it('runs the script of the project where no program is known for it', async () => {
  const scripts = { lint: 'node lint.js', build: 'node -e "process.exit(2)"' };
  const { call } = await opened({ ...shop(scripts), 'lint.js': 'console.log("clean")' });
  expect(await call('check', { what: 'lint' })).toMatch(/^lint: passed \(npm run lint\)\n[^]*clean/);
  expect(await call('check', { what: 'build' })).toMatch(/^ERROR build: PROGRAM_FAILED: exit code 2/);
  expect(await call('check', { what: 'types' })).toMatch(
    /^ERROR NOT_FOUND: .* shows no program for types.* its tasks: test, lint, build\./,
  );
  expect(await call('check', { what: 'lint', only: ['a.js'] })).toMatch(/^ERROR NOT_FOUND: /);
});

it('runs a script by a runtime as it is, and not the tests of the runtime', async () => {
  const { call } = await opened({ ...shop({ test: 'node all.js' }), 'all.js': 'console.log("all of it")' });
  expect(await call('check')).toMatch(/^test: passed \(npm run test\)\n[^]*all of it/);
});

it('names a package manager of the project that is missing, and runs nothing else', async () => {
  const bin = folderWith({});
  symlinkSync(process.execPath, join(bin, 'node'));
  const files = { 'package.json': '{"packageManager":"bun@1.3.0","scripts":{"test":"bun test --bail"}}' };
  const { call } = await opened(files, undefined, { HOME: bin, PATH: bin, SHELL: '/nowhere' });
  const page = await call('project');
  expect(page).toContain('packages: bun (package.json, not here)');
  expect(page).toContain('check: test by its script test');
  expect(await call('run_task')).toBe('1 task\ntest (bun)  bun test --bail');
  const missing = /^ERROR PROGRAM_NOT_FOUND: Bun was not found .* npm install --global bun/;
  expect(await call('check')).toMatch(missing);
  expect(await call('run_task', { task: 'test' })).toMatch(missing);
  expect(await call('change_packages', { action: 'install' })).toMatch(missing);
});

it('keeps the page short whatever a package.json says', async () => {
  const workspaces = Array.from({ length: 20_000 }, (_, at) => `packages/\n${at}`);
  const { call } = await opened({ 'package.json': JSON.stringify({ workspaces }) });
  const page = await call('project');
  expect(page).toContain('workspaces: packages/');
  expect(encode(page).length).toBeLessThan(500);
});

it.skipIf(process.platform === 'win32')(
  'calls nothing green that failed, or complained, or is not understood',
  async () => {
    const files = { '.prettierrc': '{}', 'eslint.config.mjs': '', '.mocharc.json': '{}', 'a.js': '' };
    const { folder, call } = await opened({ 'package.json': '{}', ...files });
    mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
    const prints = (name: string, stdout: string, stderr: string, exitCode: number) =>
      writeFileSync(
        join(folder, 'node_modules/.bin', name),
        `#!/bin/sh\nprintf '%s' '${stdout}'\nprintf '%s' '${stderr}' >&2\nexit ${exitCode}\n`,
        { mode: 0o755 },
      );
    for (const name of ['prettier', 'eslint', 'mocha']) prints(name, '', '', 0);
    const format = { what: 'format' };
    prints('prettier', 'a.js\n', '', 1);
    expect(await call('check', format)).toMatch(
      /^format: not passed, exit code 1 \(prettier [^)]*\)\na\.js\n\[ran /,
    );
    prints('prettier', '', 'a.js: SyntaxError', 1);
    expect(await call('check', format)).toMatch(/^ERROR format: PROGRAM_FAILED: exit code 1 [^]*SyntaxError/);
    prints('prettier', '', '', 1);
    expect(await call('check', format)).toMatch(/^ERROR format: PROGRAM_FAILED: exit code 1 /);
    prints('prettier', '', '', 0);
    expect(await call('check', format)).toMatch(/^format: passed \(prettier [^\n]*\)\n\[ran [^\n]*$/);
    const lint = { what: 'lint' };
    for (const [stdout, stderr, exitCode] of [
      ['[]', 'error: cannot load the plugin', 0],
      ['[{"filePath": "a.js", "mess', '', 0],
      ['Oops, something went wrong', '', 0],
      ['', '', 0],
    ] as const) {
      prints('eslint', stdout, stderr, exitCode);
      expect(await call('check', lint), stdout).toMatch(
        /^lint: ended well, but its answer could not be read /,
      );
      expect(await call('eslint_lint'), stdout).toMatch(/^no diagnostics could be read from what it said/);
    }
    prints('eslint', '[]', '', 1);
    expect(await call('check', lint)).toMatch(/^ERROR lint: PROGRAM_FAILED/);
    prints('eslint', '[]', '', 0);
    expect(await call('check', lint)).toBe('lint: ok (eslint)');
    expect(await call('check', { ...lint, only: ['gone.js'] })).toMatch(/^ERROR PATH_NOT_FOUND: /);
    prints('mocha', '', '', 0);
    expect(await call('mocha_test')).toMatch(/^no tests could be read from what it said/);
    expect(await call('mocha_test', { only: ['a.js'] })).toMatch(
      /^ERROR ARG_INVALID: only.*files takes files/,
    );
  },
);

it('reports nothing about outdated packages where npm cannot know of any', async () => {
  const { call } = await opened({ 'package.json': '{ "name": ', 'package-lock.json': '{}' });
  expect(await call('npm_outdated')).toMatch(/^ERROR ARG_INVALID: .*package\.json: it is no JSON\./);
});

it('removes no package that the project does not have', async () => {
  const { call } = await opened({
    'package.json': { dependencies: { zod: '4' } },
    'package-lock.json': '{}',
  });
  const missing = /^ERROR NOT_FOUND: packages: left-pad: not among the dependencies of .*It has zod\./;
  expect(await call('npm_remove', { packages: ['zod', 'left-pad'] })).toMatch(missing);
  expect(await call('change_packages', { action: 'remove', packages: ['left-pad'] })).toMatch(missing);
});

it('calls no project green whose runner has found no test', async () => {
  const { call } = await opened({ 'package.json': '{}' });
  expect(await call('check')).toMatch(/^test: ended well, but reported no test \(node --test/);
});

it('asks once about all that it would run, and obeys a rule about a part of it', async () => {
  const files = { ...shop({ lint: 'node lint.js' }), 'lint.js': '' };
  const untrusted = await opened(files, []);
  expect(await untrusted.call('check', { what: 'all' })).toMatch(/^ERROR NEEDS_CONFIRM: .* not trusted yet/);
  const ruled = await opened(files, ['--questions', 'none', '--rule', 'run(npm run lint*)=deny']);
  expect(await ruled.call('check', { what: 'all' })).toMatch(/^ERROR EFFECT_DENIED: .*npm run lint/);
  expect(await ruled.call('check')).toMatch(/^test: 1 failed/);
  expect(await ruled.call('run_task', { task: 'lint' })).toMatch(/^ERROR EFFECT_DENIED: /);
});

it('lists and runs the tasks of a project, whoever keeps them', async () => {
  const { call } = await opened({ ...shop({ hi: 'echo hello' }), Makefile: 'dist:\n\techo made $(X)\n' });
  expect(await call('run_task')).toMatch(/^3 tasks\n[^]*hi \(npm\) {2}echo hello/);
  expect(await call('run_task', { task: 'hi', args: ['there'] })).toContain('hello there');
  expect(await call('run_task', { task: 'dist', args: ['X=it'] })).toContain('made it');
  expect(await call('run_task', { task: 'hii' })).toMatch(/^ERROR NOT_FOUND: task: .*Did you mean hi\?/);
  const none = await opened({ 'a.txt': '' });
  expect(await none.call('run_task', { task: 'x' })).toMatch(/^ERROR NOT_FOUND: .*run runs any program/);
});

it('leaves packages to the package manager of the project', async () => {
  const { call } = await opened({ ...shop(), 'pnpm-lock.yaml': "lockfileVersion: '9.0'\n" });
  expect(await call('change_packages', { action: 'add' })).toMatch(
    /^ERROR ARG_INVALID: packages: is required/,
  );
  const refused = await call('change_packages', { action: 'add', packages: ['zod'], program: 'npm' });
  expect(refused).toMatch(/^ERROR EFFECT_DENIED: This is a project of pnpm: /);
  const none = await opened({ 'a.txt': '' });
  expect(await none.call('change_packages', { action: 'install' })).toMatch(/^ERROR NOT_FOUND: /);
});

it.skipIf(!hasProgram('sqlite3'))('queries the database of the project, and names what writes', async () => {
  const { call } = await opened({ 'a.txt': '' });
  expect(await call('query', { sql: 'SELECT 1' })).toMatch(/^ERROR NOT_FOUND: database: none is named/);
  const create = { database: 'shop.sqlite', sql: 'CREATE TABLE orders (id INTEGER, total REAL)' };
  expect(await call('sqlite3_execute', create)).not.toContain('ERROR');
  await call('sqlite3_execute', { ...create, sql: 'INSERT INTO orders VALUES (1, 2.5)' });
  expect(await call('query')).toBe('1 table\norders (id, total)');
  expect(await call('query', { table: 'orders' })).toMatch(/^2 columns\nid INTEGER\ntotal REAL/);
  expect(await call('query', { sql: 'SELECT * FROM orders' })).toBe('1 row\nid\ttotal\n1\t2.5');
  expect(await call('query', { sql: 'DELETE FROM orders' })).toMatch(/^ERROR [^]*"sqlite3_execute"/);
  expect(await call('query', { sql: 'SELECT count(*) FROM orders' })).toContain('\n1');
  expect(await call('query', { database: 'none.sqlite' })).toMatch(/^ERROR PATH_NOT_FOUND: none\.sqlite/);
});

it.skipIf(!hasProgram('sqlite3'))('lists the tables of each database where there are several', async () => {
  const { call, write } = await opened({ 'a.txt': '' });
  for (const [database, table] of [
    ['shop.sqlite', 'orders'],
    ['log.db', 'lines'],
  ]) {
    const sql = `CREATE TABLE ${table} (id INTEGER)`;
    expect(await call('sqlite3_execute', { database, sql })).not.toContain('ERROR');
  }
  expect(await call('query')).toBe('log.db: 1 table\nlines (id)\n\nshop.sqlite: 1 table\norders (id)');
  write('broken.db', 'this is no database'.repeat(100));
  expect(await call('query')).toMatch(
    /^broken\.db: [^]*file is not a database[^]*\n\nlog\.db: 1 table\nlines \(id\)\n\nshop\.sqlite: 1 table/,
  );
  expect(await call('query', { sql: 'SELECT 1' })).toMatch(
    /^ERROR ARG_INVALID: database: there are several: /,
  );
  expect(await call('query', { database: 'log.db' })).toBe('1 table\nlines (id)');
});

it('shows nothing of a project that could command a terminal, or pass for a line of ours', async () => {
  const scripts = { 'a\u001b[31mred\nfake': 'echo \u001b[2Jx\ngit: on main' };
  const { call, write } = await opened(shop(scripts));
  write(
    'test/cart.test.js',
    `require('node:test').test('evil \\u001b[31m', () => { throw new Error('\\u001b[2J'); });`,
  );
  for (const said of [await call('check'), await call('run_task'), await call('project')])
    expect(said).not.toMatch(/\u001b|^git: on main|^fake/m);
});

it('obeys rules about the actions that it calls, and names what did not run', async () => {
  const rules = ['--rule', 'git_status=deny', '--rule', 'npm_scripts=ask'];
  const { call, folder } = await opened(shop({ lint: 'node lint.js' }), ['--questions', 'none', ...rules]);
  execFileSync('git', ['init', '--quiet', folder]);
  const page = await call('project');
  expect(page).not.toMatch(/ on (?:main|master)|tasks:/);
  const free = await opened(shop({ lint: 'node lint.js' }));
  expect(await free.call('check', { only: ['no such test'] })).toMatch(/^test: no test ran/);
  expect(await free.call('check', { again: true })).toMatch(/nothing that failed is remembered/);
  expect(await free.call('check', { what: 'all', only: ['test/cart.test.js'] })).toMatch(/lint: left out/);
  expect(await free.call('run_task', { task: 'lint', program: 'make' })).toMatch(/ARG_INVALID: program: /);
});

it('describes a project in a page', async () => {
  const files = {
    ...shop({ dev: 'vite' }),
    Makefile: 'dist:\n\techo made\n',
    '.env': 'DATABASE_URL=postgres://x/y\n',
  };
  const { call } = await opened(files);
  const page = await call('project');
  expect(page).toMatch(/^\S+: \S+ \(not trusted yet/);
  expect(page).toContain('\nentries: .env, Makefile, package.json, test\n');
  expect(page).toMatch(/\ncheck: test by node[^\n]*\ntasks: [^\n]*dev = vite/);
  expect(page).toContain('postgresql (.env)');
  expect(encode(page).length).toBeLessThanOrEqual(400);
});
