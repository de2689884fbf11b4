import { expect, it } from 'vitest';
import { callAction, saidBy } from '../support/call-action.ts';
import { folderWith } from '../support/files-in.ts';
import { programOf } from './programs.ts';
import { argvOf, recorded, reportOf } from './real-program.ts';

const node = programOf('node');
const project = () =>
  folderWith({
    'args.js': 'console.log(JSON.stringify(process.argv.slice(2)))',
    'broken.js': 'const a = 1;\nconst = 2;\n',
    'ran.mjs': 'import "./args.js"; console.log("ran"); export default 1;',
    'test/cart.test.js': `const { test } = require('node:test');
      test('total adds up', () => {});
      test('discount (old) is off', () => { throw new Error('off by one'); });`,
  });
const call = async (key: string, given: Record<string, unknown>, folder = project()) =>
  saidBy(await callAction(node, key, given, { folder, program: process.execPath, trusted: true }));

it('refuses a script that would be an option', () => {
  for (const key of ['run', 'check'])
    expect(() => argvOf(node, key, { file: '--eval=evil()' })).toThrow(/read as an option/);
  expect(() => argvOf(node, 'test', { files: ['--require=./evil.js'] })).toThrow(/read as an option/);
  expect(() => argvOf(node, 'eval', { code: '--require=./evil.js' })).toThrow(/read as an option/);
});

it('hands arguments to the script as they are, and evaluates code', async () => {
  const args = ['--eval', 'a b', '$(touch x)', ''];
  expect(await call('run', { file: 'args.js', args })).toContain(JSON.stringify(args));
  expect(await call('eval', { code: '6 * 7', print: true })).toContain('42');
});

it('runs tests, all or chosen, and says which failed where', async () => {
  const folder = project();
  const all = await call('test', {}, folder);
  expect(all).toContain('1 failed, 1 passed, 0 skipped');
  expect(all).toMatch(/\ntest\/cart\.test\.js:3 discount \(old\) is off - off by one/);
  // Some versions say of those that were not chosen that they were skipped.
  const only = ['discount (old) is off'];
  expect(await call('test', { only, files: ['test/cart.test.js'] }, folder)).toMatch(/^1 failed, 0 passed/);
  expect(await call('test', { only: ['total adds up'] }, folder)).toMatch(/^0 failed, 1 passed/);
  const files = { 'report.xml': recorded('node/junit.xml') };
  expect(reportOf(node, 'test', { files, exitCode: 1 }).text).toBe(
    '1 failed, 1 passed, 1 skipped\n/home/dev/shop/test/cart.test.js:3 is off - 1 == 2',
  );
});

it('checks syntax without running the file', async () => {
  expect(await call('check', { file: 'ran.mjs' })).not.toContain('ran"');
  expect(await call('check', { file: 'broken.js' })).toMatch(/broken\.js:2[^]*SyntaxError/);
});
