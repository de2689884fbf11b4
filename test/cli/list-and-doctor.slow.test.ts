import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { doctor } from '../../src/cli/doctor.ts';
import { list } from '../../src/cli/list.ts';
import type { World } from '../../src/cli/this-world.ts';
import { UsageError } from '../../src/cli/usage.ts';
import { thisHost } from '../../src/machine/host.ts';
import type { ProgramFacts } from '../../src/machine/programs/installation.ts';
import { createProcesses } from '../../src/machine/processes/process.ts';

const version = { args: ['--version'], pattern: 'version (\\d[\\d.]*)' };
const facts = (id: string, title: string): ProgramFacts => ({
  id,
  title,
  category: 'other',
  site: `https://${id}.example`,
  called: [id],
  install: { linux: `apt install ${id}`, darwin: `brew install ${id}` },
  version,
});

describe.skipIf(process.platform === 'win32')('toolcrib list and doctor', () => {
  let home: string;
  let printed: string;
  let world: Promise<World>;
  const write = (name: string, content: string) => {
    mkdirSync(join(home, name, '..'), { recursive: true });
    writeFileSync(join(home, name), content, { mode: 0o755 });
    return join(home, name);
  };
  const run = async (command: typeof list, ...args: string[]) => {
    printed = '';
    return command(args, world);
  };
  beforeEach(() => {
    home = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-test-')));
    write('.profile', 'export PATH="$HOME/from-shell:$PATH"\n');
    const host = {
      ...thisHost(),
      home,
      env: { HOME: home, PATH: `.:${home}/a:/usr/bin:/bin`, SHELL: '/bin/sh' },
    };
    world = Promise.resolve({
      host,
      processes: createProcesses(host.platform),
      projectRoots: async () => [],
      settings: async () => ({ path: [], programs: {} }),
      loadManifest: async () => ({
        programs: [
          facts('git', 'Git'),
          facts('frobnicate', 'Frobnicator'),
          facts('nowhere-to-be-found', 'Nowhere'),
        ],
      }),
      print: (text) => void (printed += text),
      colour: false,
    });
    write('a/git', '#!/bin/sh\necho git version 2.40.1\n');
    write('from-shell/frobnicate', '#!/bin/sh\necho frobnicate version 7\n');
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  it('lists what was found, also where only the login shell looks', async () => {
    expect(await run(list)).toBe(0);
    expect(printed).toContain(`Git          2.40.1  ${home}/a/git                  (PATH)\n`);
    expect(printed).toContain(
      `Frobnicator  7       ${home}/from-shell/frobnicate  (login shell (/bin/sh))\n`,
    );
    expect(printed).toContain('1 not found: toolcrib list --all says why');
    expect(printed).not.toContain('Nowhere');
  });

  it('lists the missing ones with the reason and the way to get them', async () => {
    expect(await run(list, '--all')).toBe(0);
    expect(printed).toMatch(
      /Not found\nNowhere {2}no nowhere-to-be-found in \d+ folders {2}(?:apt|brew) install nowhere-to-be-found\n/,
    );
  });

  it('lists as JSON', async () => {
    await run(list, '--json', '--all');
    const rows = JSON.parse(printed) as unknown[];
    expect(rows).toMatchObject([
      { id: 'frobnicate', installed: true },
      { id: 'git', installed: true, version: '2.40.1', path: `${home}/a/git`, source: 'PATH' },
      { id: 'nowhere-to-be-found', installed: false },
    ]);
  });

  it('refuses an option there is not', async () => {
    await expect(run(list, '--al')).rejects.toThrow(UsageError);
    await expect(run(doctor, 'git', '--json')).rejects.toThrow(UsageError);
  });

  it('explains the search path, what was left out, and the login shell', async () => {
    expect(await run(doctor)).toBe(0);
    expect(printed).toMatch(new RegExp(`  ${home}/a +PATH\n`));
    expect(printed).toMatch(new RegExp(`  ${home}/from-shell +login shell \\(/bin/sh\\)\n`));
    expect(printed).toMatch(/Left out\n {2}\. +PATH +depends on the working directory/);
    expect(printed).toContain('/bin/sh: told its PATH');
    expect(printed).toContain(`ok     git 2.40.1 ${home}/a/git`);
    expect(printed).toMatch(/ok {5}ripgrep \S*rg/);
  });

  it('says as JSON what it found', async () => {
    expect(await run(doctor, '--json')).toBe(0);
    expect(JSON.parse(printed)).toMatchObject({
      isSound: true,
      versions: { node: process.versions.node },
      state: `${home}/.local/state/toolcrib`,
      hosts: [],
    });
  });

  it('fails when git is too old', async () => {
    write('a/git', '#!/bin/sh\necho git version 2.20.1\n');
    expect(await run(doctor)).toBe(1);
    expect(printed).toContain(`wrong  git 2.20.1 ${home}/a/git: 2.26 or later is needed`);
  });

  it('explains one program, by id, title or name: which won, and why the others did not', async () => {
    expect(await run(doctor, 'GIT')).toBe(0);
    expect(printed).toContain(`started as  ${home}/a/git\n`);
    expect(printed).toContain('version     2.40.1\n');
    expect(printed).toMatch(/not taken {3}\/\S+\/git: comes later\n/);
  });

  it('takes the next one when the first cannot be started, and says why', async () => {
    write('a/frobnicate', '#!/nowhere/interpreter\n');
    expect(await run(doctor, 'frobnicate')).toBe(0);
    expect(printed).toContain(`started as  ${home}/from-shell/frobnicate\n`);
    expect(printed).toContain(`not taken   ${home}/a/frobnicate: broken: it could not be started`);
    write('a/frobnicate', '#!/bin/sh\necho frobnicate version 8\n');
    expect(await run(doctor, 'frobnicate')).toBe(0);
    expect(printed).toContain(`started as  ${home}/a/frobnicate\n`);
  });

  it('explains any other program on the search path', async () => {
    expect(await run(doctor, 'env')).toBe(0);
    expect(printed).toMatch(/started as {2}\/\S*bin\/env\n/);
  });

  it('fails for a program that is not there, and names a similar one', async () => {
    expect(await run(doctor, 'frobnicat')).toBe(1);
    expect(printed).toMatch(/not found {2}no frobnicat in \d+ folders\n/);
    expect(printed).toContain('similar    toolcrib doctor frobnicate\n');
    expect(await run(doctor, 'nowhere-to-be-founds')).toBe(1);
    expect(printed).toContain('similar');
    expect(await run(doctor, 'Nowhere-to-be-found')).toBe(1);
    expect(printed).toMatch(/to install {2}(?:apt|brew) install/);
  });
});
