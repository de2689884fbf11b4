import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { node } from '../../src/discoverers/node.ts';
import { argvOf, itKeepsItsExamples, runAction } from './real-program.ts';

describe('node', () => {
  itKeepsItsExamples(node);

  it('refuses a script that would be an option', () => {
    for (const action of ['run', 'check']) {
      expect(() => argvOf(node, action, { file: '--eval=evil()' })).toThrow(/read as an option/);
    }
    expect(() => argvOf(node, 'test', { files: ['--require=./evil.js'] })).toThrow(/read as an option/);
  });

  it('takes a version from what node prints', () => {
    expect(node.version?.pattern.exec('v20.20.2\n')?.[1]).toBe('20.20.2');
  });
});

describe('the real node', () => {
  let cwd: string;
  beforeAll(() => {
    cwd = mkdtempSync(join(tmpdir(), 'node-'));
    mkdirSync(join(cwd, 'test'));
    writeFileSync(join(cwd, 'args.js'), 'console.log(JSON.stringify(process.argv.slice(2)))');
    writeFileSync(join(cwd, 'broken.js'), 'const a = 1;\nconst = 2;\n');
    writeFileSync(join(cwd, 'ran.mjs'), 'import "./args.js"; console.log("ran"); export default 1;');
    writeFileSync(
      join(cwd, 'test', 'cart.test.js'),
      `const { test } = require('node:test');
       test('total adds up', () => {});
       test('discount is off', () => { throw new Error('off by one'); });`,
    );
  });
  afterAll(() => rmSync(cwd, { recursive: true }));

  it('hands arguments to the script as they are', () => {
    const args = ['--eval', 'a b', '$(touch x)', ''];
    expect(JSON.parse(runAction(node, 'run', { file: 'args.js', args }, { cwd }).stdout)).toEqual(args);
  });

  it('runs the chosen tests and fails when one does', () => {
    const file = join(cwd, 'test', 'cart.test.js');
    const chosen = runAction(node, 'test', { files: [file], name_pattern: 'total' }, { cwd });
    expect(chosen.exitCode).toBe(0);
    expect(chosen.stdout).toContain('total adds up');
    const all = runAction(node, 'test', {}, { cwd });
    expect(all.exitCode).toBe(1);
    expect(all.stdout).toContain('off by one');
  });

  it('checks syntax without running the file', () => {
    expect(runAction(node, 'check', { file: 'ran.mjs' }, { cwd })).toMatchObject({ exitCode: 0, stdout: '' });
    const broken = runAction(node, 'check', { file: 'broken.js' }, { cwd });
    expect(broken.exitCode).toBe(1);
    expect(broken.stderr).toMatch(/broken\.js:2[^]*SyntaxError/);
  });
});
