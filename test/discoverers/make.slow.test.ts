import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { make } from '../../src/discoverers/make.ts';
import { readMakefile } from '../../src/discoverers/makefile.ts';
import { runAction } from './real-program.ts';

const version = spawnSync('make', ['--version'], { encoding: 'utf8' }).stdout ?? '';
const isGrouping = /^GNU Make (4\.[3-9]|[5-9])/.test(version);

describe.skipIf(!version.startsWith('GNU Make'))('make, the real one', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'toolcrib-make-'));
    const text = 'X := $(shell touch ran)\nhello: ## Greets\n\t@echo "hello $(NAME)"\nfail:\n\t@false\n';
    writeFileSync(join(folder, 'Makefile'), text);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('ATTACK 37: lists targets without running anything', () => {
    const { targets } = make.actions;
    expect(targets.effects).toEqual(['read']);
    expect('argv' in targets).toBe(false);
    expect(readMakefile(readFileSync(join(folder, 'Makefile'), 'utf8'))).toMatchObject({
      targets: [{ name: 'hello', doc: 'Greets' }, { name: 'fail' }],
    });
    expect(existsSync(join(folder, 'ran'))).toBe(false);
    expect(make.actions.run.effects).toEqual(['execute']);
  });

  it('runs a target with a variable', () => {
    const given = { targets: ['hello'], variables: ['NAME=big world'], jobs: 2 };
    expect(runAction(make, 'run', given, { cwd: folder })).toMatchObject({
      exitCode: 0,
      stdout: 'hello big world\n',
    });
    expect(runAction(make, 'run', { targets: ['fail'] }, { cwd: folder }).exitCode).toBe(2);
  });

  // Grouped targets are new in 4.3.
  it.skipIf(!isGrouping)('finds the targets that make finds in the recorded Makefile', () => {
    const cwd = fileURLToPath(new URL('recorded/make', import.meta.url));
    // Running make is safe here: the file is ours.
    const { stdout } = spawnSync('make', ['-p', '-n', '-q', '-r'], {
      cwd,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] },
    });
    const rules = stdout.matchAll(/(?<!# Not a target:\n)^([^\s#:.%=][^:=\n]*)::?(?!=)/gm);
    const known = new Set([...rules].flatMap(([, names = '']) => names.replace(/&$/, '').trim().split(' ')));
    const read = readMakefile(readFileSync(join(cwd, 'Makefile'), 'utf8'));
    for (const { name, conditional } of read.targets) if (!conditional) expect(known).toContain(name);
    const ours = new Set(read.targets.map(({ name }) => name));
    expect([...known].filter((name) => !ours.has(name))).toEqual(['inside', '/tool']);
  });
});
