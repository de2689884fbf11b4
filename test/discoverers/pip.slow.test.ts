import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pip } from '../../src/discoverers/pip.ts';
import { hasProgram, runAction } from './real-program.ts';

describe.skipIf(!hasProgram('python3', '-I', '-m', 'pip', '--version'))('the real pip', () => {
  let cwd: string;
  beforeAll(() => {
    cwd = mkdtempSync(join(tmpdir(), 'pip-'));
    for (const file of ['pip.py', 'json.py', 'sitecustomize.py']) {
      writeFileSync(join(cwd, file), 'from pathlib import Path; Path("hostile").touch()\n');
    }
  });
  afterAll(() => rmSync(cwd, { recursive: true }));

  it('lists and describes itself, and runs no pip.py of the folder', () => {
    const { data } = runAction(pip, 'list', {}, { cwd });
    const packages = (data as { packages: { name: string }[] }).packages;
    expect(packages.map(({ name }) => name)).toContain('pip');
    expect(runAction(pip, 'show', { packages: ['pip'] }, { cwd }).data).toMatchObject({
      packages: [{ name: 'pip', summary: expect.stringContaining('Python packages') }],
    });
    expect(existsSync(join(cwd, 'hostile'))).toBe(false);
  });

  it('changes nothing outside a virtual environment', () => {
    const install = runAction(pip, 'install', { requirements: ['toolcrib-no-such-package'] }, { cwd });
    const uninstall = runAction(pip, 'uninstall', { packages: ['pip'] }, { cwd });
    for (const refused of [install, uninstall]) {
      expect(refused.exitCode).not.toBe(0);
      expect(refused.stderr).toContain('Could not find an activated virtualenv');
    }
  });
});
