import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { python } from '../../src/discoverers/python.ts';
import { hasProgram, runAction } from './real-program.ts';

describe.skipIf(!hasProgram('python3', '--version'))('the real python', () => {
  let cwd: string;
  beforeAll(() => {
    cwd = mkdtempSync(join(tmpdir(), 'python-'));
    writeFileSync(join(cwd, 'args.py'), 'import json, sys\nprint(json.dumps(sys.argv[1:]))\n');
    writeFileSync(join(cwd, 'broken.py'), 'a = 1\nreturn a\n');
    // Would be imported by a program that starts from the text of an option.
    writeFileSync(join(cwd, 'json.py'), 'from pathlib import Path; Path("hostile").touch()\n');
  });
  afterAll(() => rmSync(cwd, { recursive: true }));

  it('tells which interpreter runs, and lets no file of the folder in', () => {
    const { data } = runAction(python, 'interpreter', {}, { cwd });
    expect(data).toMatchObject({
      version: expect.stringMatching(/^3\.\d+\.\d+/),
      virtual_environment: false,
    });
    expect(existsSync(join(cwd, 'hostile'))).toBe(false);
  });

  it('checks syntax without running the file and without leaving a trace', () => {
    const before = readdirSync(cwd);
    writeFileSync(join(cwd, 'ran.py'), 'open("ran", "w")\n');
    expect(runAction(python, 'check', { file: 'ran.py' }, { cwd })).toMatchObject({
      exitCode: 0,
      stdout: '',
    });
    const broken = runAction(python, 'check', { file: 'broken.py' }, { cwd });
    expect(broken.exitCode).toBe(1);
    expect(broken.stderr).toMatch(/File "broken\.py", line 2[^]*SyntaxError: 'return' outside function/);
    expect(readdirSync(cwd)).toEqual([...before, 'ran.py'].sort());
  });

  it('hands arguments to scripts and modules as they are', () => {
    const alone = mkdtempSync(join(tmpdir(), 'python-'));
    writeFileSync(join(alone, 'args.py'), 'import json, sys\nprint(json.dumps(sys.argv[1:]))\n');
    const args = ['-c', 'a b', '$(touch x)', ''];
    const { stdout } = runAction(python, 'run', { file: 'args.py', args }, { cwd: alone });
    expect(JSON.parse(stdout)).toEqual(args);
    const module = runAction(python, 'run_module', { module: 'args', args }, { cwd: alone });
    expect(JSON.parse(module.stdout)).toEqual(args);
    rmSync(alone, { recursive: true });
  });
});
