import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { program } from '../support/server.ts';

const described = (id: string) => `{ id: ${id}, title: ${id}, site: 'https://${id}.example', actions: {} }\n`;

describe.skipIf(process.platform === 'win32')('toolcrib list and doctor', () => {
  let home: string;
  const write = (name: string, content: string, mode = 0o755) => {
    mkdirSync(join(home, name, '..'), { recursive: true });
    writeFileSync(join(home, name), content, { mode });
  };
  const run = (...args: string[]) => {
    const { status, stdout } = spawnSync(process.execPath, [program, ...args], {
      cwd: home,
      env: { HOME: home, PATH: `.:${home}/a:/usr/bin:/bin`, SHELL: '/bin/sh' },
      encoding: 'utf8',
    });
    return { status, stdout };
  };
  beforeEach(() => {
    home = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-test-')));
    write('.profile', 'export PATH="$HOME/from-shell:$PATH"\n');
    for (const id of ['frobnicate', 'nowhere'])
      write(`.config/toolcrib/programs/${id}.yaml`, described(id), 0o600);
    write('a/git', '#!/bin/sh\necho git version 2.40.1\n');
    write('from-shell/frobnicate', '#!/bin/sh\necho frobnicate version 7.1\n');
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  it('lists what was found, also by the login shell alone, and what was not, with the reason', () => {
    const { status, stdout } = run('list');
    expect(status).toBe(0);
    expect(stdout).toMatch(new RegExp(`^Git +2\\.40\\.1 +${home}/a/git +\\(PATH\\)$`, 'm'));
    expect(stdout).toMatch(
      new RegExp(`^frobnicate +\\S+ +${home}/from-shell/frobnicate +\\(login shell \\(/bin/sh\\)\\)$`, 'm'),
    );
    expect(stdout).toMatch(/\n\d+ not found: toolcrib list --all says why\n$/);
    expect(stdout).not.toContain('nowhere');
    expect(run('list', '--all').stdout).toMatch(
      /\nNot found\n[^]*\nnowhere +no nowhere in \d+ folders +see https:\/\/nowhere\.example\n/,
    );
    const rows = JSON.parse(run('list', '--json', '--all').stdout) as unknown[];
    for (const row of [
      { id: 'git', installed: true, version: '2.40.1', path: `${home}/a/git`, source: 'PATH' },
      { id: 'nowhere', installed: false },
    ])
      expect(rows).toContainEqual(expect.objectContaining(row));
    expect(run('list', '--al').status).toBe(2);
  });

  it('explains the search path, what was left out of it, and the login shell', () => {
    const { status, stdout } = run('doctor');
    expect(status).toBe(0);
    expect(stdout).toMatch(new RegExp(`  ${home}/a +PATH\n`));
    expect(stdout).toMatch(new RegExp(`  ${home}/from-shell +login shell \\(/bin/sh\\)\n`));
    expect(stdout).toMatch(/Left out\n {2}\. +PATH +depends on the working directory/);
    expect(stdout).toContain('/bin/sh: told its PATH');
    expect(stdout).toContain(`ok     git 2.40.1 ${home}/a/git`);
    expect(stdout).toMatch(/ok {5}ripgrep \S*rg/);
    expect(JSON.parse(run('doctor', '--json').stdout)).toMatchObject({
      isSound: true,
      versions: { node: process.versions.node },
      state: `${home}/.local/state/toolcrib`,
      hosts: [],
    });
    expect(run('doctor', 'git', '--json').status).toBe(2);
    write('a/git', '#!/bin/sh\necho git version 2.20.1\n');
    const old = run('doctor');
    expect(old.status).toBe(1);
    expect(old.stdout).toContain(`wrong  git 2.20.1 ${home}/a/git: 2.26 or later is needed`);
  });

  it('explains one program, by id, title or name: which copy won, and why the others did not', () => {
    const { status, stdout } = run('doctor', 'GIT', 'env');
    expect(status).toBe(0);
    expect(stdout).toContain(`started as  ${home}/a/git\n`);
    expect(stdout).toContain('version     2.40.1\n');
    expect(stdout).toMatch(/not taken {3}\/\S+\/git: comes later\n/);
    expect(stdout).toMatch(/started as {2}\/\S*bin\/env\n/);
  });

  it('takes the next copy when the first cannot be started, and reports why', () => {
    write('a/frobnicate', '#!/nowhere/interpreter\n');
    const { status, stdout } = run('doctor', 'frobnicate');
    expect(status).toBe(0);
    expect(stdout).toContain(`started as  ${home}/from-shell/frobnicate\n`);
    expect(stdout).toContain(`not taken   ${home}/a/frobnicate: broken: it could not be started`);
    write('a/frobnicate', '#!/bin/sh\necho frobnicate version 8\n');
    expect(run('doctor', 'frobnicate').stdout).toContain(`started as  ${home}/a/frobnicate\n`);
  });

  it('fails for a program that is not there, and names a similar one', () => {
    const { status, stdout } = run('doctor', 'frobnicat', 'nowhere');
    expect(status).toBe(1);
    expect(stdout).toMatch(/not found {2}no frobnicat in \d+ folders\n/);
    expect(stdout).toContain('similar    toolcrib doctor frobnicate\n');
    expect(stdout).toMatch(/to install {2}see https:\/\/nowhere\.example\n/);
  });
});
