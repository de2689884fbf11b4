import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { callAction, saidBy } from '../support/call-action.ts';
import { programOf } from './programs.ts';
import { hasProgram } from './real-program.ts';

const python = programOf('python');
const pip = programOf('pip');

describe.skipIf(!hasProgram('python3', '-I', '-m', 'pip', '--version'))('the real Python and pip', () => {
  let folder: string;
  const call = async (of: typeof pip, action: string, given: object = {}) =>
    saidBy(await callAction(of, action, { ...given }, { folder, trusted: true }));
  beforeAll(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'python-')));
    writeFileSync(join(folder, 'args.py'), 'import json, sys\nprint(json.dumps(sys.argv[1:]))\n');
    writeFileSync(join(folder, 'broken.py'), 'a = 1\nreturn a\n');
  });

  it('hands arguments to scripts, modules and code as they are', async () => {
    const args = ['-c', 'a b', '$(touch x)', ''];
    const given = { file: 'args.py', module: 'args', code: 'import args' };
    for (const [action, key] of [
      ['run', 'file'],
      ['run_module', 'module'],
      ['eval', 'code'],
    ] as const)
      expect(await call(python, action, { [key]: given[key], args })).toContain(
        JSON.stringify(args).replaceAll(',', ', '),
      );
    rmSync(join(folder, '__pycache__'), { recursive: true, force: true });
  });

  it('checks syntax without running the file and without leaving a trace', async () => {
    writeFileSync(join(folder, 'ran.py'), 'open("ran", "w")\n');
    const before = readdirSync(folder);
    expect(await call(python, 'check', { files: ['ran.py'] })).toMatch(/^no diagnostics/);
    expect(await call(python, 'check', { files: ['ran.py', 'broken.py'] })).toMatch(
      /^1 diagnostic\n.*broken\.py:2:1 error: 'return' outside function/,
    );
    expect(readdirSync(folder)).toEqual(before);
  });

  it('changes nothing outside a virtual environment, and lets no file of the folder in', async () => {
    for (const file of ['pip.py', 'json.py', 'sitecustomize.py'])
      writeFileSync(join(folder, file), 'from pathlib import Path; Path("hostile").touch()\n');
    expect(await call(pip, 'list')).toMatch(/\npip \d/);
    expect(await call(python, 'version')).toContain('no virtual environment');
    for (const refused of [
      await call(pip, 'install', { packages: ['no-such-package-of-toolcrib'] }),
      await call(pip, 'remove', { packages: ['pip'] }),
    ])
      expect(refused).toMatch(/PROGRAM_FAILED[^]*Could not find an activated virtualenv[^]*python_venv/);
    expect(existsSync(join(folder, 'hostile'))).toBe(false);
    for (const file of ['pip.py', 'json.py', 'sitecustomize.py']) rmSync(join(folder, file));
  });

  it("installs -r files and -e folders into the project's own environment, and says which it took", async () => {
    await call(python, 'venv');
    expect(await call(python, 'version')).toContain(`virtual environment ${folder}/.venv`);
    mkdirSync(join(folder, 'lib'));
    execFileSync('sh', ['-c', 'printf "def a(): pass\\n" > lib/shop.py'], { cwd: folder });
    writeFileSync(
      join(folder, 'lib/setup.py'),
      'from setuptools import setup\nsetup(name="shop", version="0.1", py_modules=["shop"])\n',
    );
    writeFileSync(join(folder, 'requirements.txt'), '-e ./lib\n');
    const edited = await call(pip, 'sync');
    expect(edited).toContain(`ran ${folder}/.venv/bin/python`);
    expect(await call(pip, 'list')).toMatch(/^\d+ packages[^]*shop 0\.1/);
    expect(await call(pip, 'remove', { packages: ['shop'] })).toContain('Successfully uninstalled shop');
    expect(await call(pip, 'install', { editable: 'lib' })).toContain('Successfully installed shop');
  });
});
