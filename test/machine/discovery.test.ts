import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { discover, whichProgram } from '../../src/machine/programs/discovery.ts';
import { thisHost, type Host } from '../../src/machine/host.ts';
import { searchPath } from '../../src/machine/programs/search-path.ts';
import { fakeHost, programs, type Files } from './fake-host.ts';
import { find, pathOf, program } from './find-program.ts';
import { temporaryFolder } from '../support/repository.ts';

describe.skipIf(process.platform === 'win32')('discovery on this computer', () => {
  let home: string;
  let host: Host;
  const write = (name: string, content = '#!/bin/sh\n', mode = 0o755) => {
    const path = join(home, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, content);
    chmodSync(path, mode);
    return path;
  };
  beforeEach(() => {
    home = temporaryFolder();
    host = { ...thisHost(), home };
  });

  it('takes the best name first, then the first folder, and explains why the others lost', async () => {
    const [python, early, late] = [write('a/python'), write('b/python3'), write('c/python3')];
    const found = await find(
      program('python', { called: ['python3', 'python'] }),
      host,
      pathOf(join(home, 'a'), join(home, 'b'), join(home, 'c')),
    );
    expect(found).toEqual({
      id: 'python',
      program: early,
      leading: [],
      words: [],
      source: 'PATH',
      others: [
        { path: late, why: 'comes later' },
        { path: python, why: 'comes later' },
      ],
    });
  });

  it('passes over what cannot be started, and what everyone could have changed', async () => {
    write('a/tool', '', 0o644);
    const open = write('b/tool', '#!/bin/sh\n', 0o777);
    mkdirSync(join(home, 'c/tool'), { recursive: true });
    symlinkSync('nowhere', join(home, 'd'));
    const path = pathOf(...['a', 'b', 'c', 'd', 'gone'].map((name) => join(home, name)));
    expect(await find(program('tool'), host, path)).toBe(
      `no tool in 5 folders that can be used: ${open} is world-writable: anyone could have put something else there`,
    );
    const good = write('e/tool');
    const found = await find(
      program('tool'),
      host,
      pathOf(...path.folders.map(({ folder }) => folder), join(home, 'e')),
    );
    expect(found).toMatchObject({ program: good });
  });

  it('looks in known places last', async () => {
    const hidden = write('hidden/tool');
    const facts = program('tool', {
      elsewhere: { linux: ['~/hidden/tool', '%GONE%/tool'], darwin: ['~/hidden/tool'] },
    });
    expect(await find(facts, host, pathOf(join(home, 'a')))).toMatchObject({
      program: hidden,
      source: 'known place',
    });
    const onPath = write('a/tool');
    expect(await find(facts, host, pathOf(join(home, 'a')))).toMatchObject({
      program: onPath,
      others: [{ path: hidden, why: 'comes later' }],
    });
  });

  it('does not take a known place in a folder that everyone can write to', async () => {
    const tool = write('open/tool');
    chmodSync(join(home, 'open'), 0o777);
    const facts = program('tool', { elsewhere: { linux: [tool], darwin: [tool] } });
    expect(await find(facts, host, pathOf(join(home, 'a')))).toContain(
      'is in a folder that is left out: everyone can write to it',
    );
  });

  it("takes a project's own copy of a missing program, and does not ask it for its version", async () => {
    const own = { posix: ['node_modules/.bin/tool', '$HOME/tool'], win32: ['node_modules/.bin/tool.cmd'] };
    const copy = write('project/node_modules/.bin/tool');
    const roots = [join(home, 'other'), join(home, 'project')];
    const facts = [program('tool', { own })];
    const search = (...folders: string[]) => discover(facts, host, pathOf(...folders), { roots });
    expect((await search(join(home, 'a'))).installed.get('tool')).toMatchObject({ program: copy, own: true });
    const usual = write('a/tool');
    expect((await search(join(home, 'a'))).installed.get('tool')).toMatchObject({ program: usual });
  });

  it('recognises the shims of version managers, wherever they are kept', async () => {
    write(
      '.pyenv/shims/python3',
      '#!/usr/bin/env bash\nexec "/home/ada/.pyenv/libexec/pyenv" exec "$program" "$@"\n',
    );
    write('bin/mise', 'binary');
    mkdirSync(join(home, '.local/share/mise/shims'), { recursive: true });
    symlinkSync(join(home, 'bin/mise'), join(home, '.local/share/mise/shims/go'));
    write('.cargo/bin/rustup', 'binary of rustup');
    symlinkSync('rustup', join(home, '.cargo/bin/cargo'));
    write('.cargo/bin/cargo-nextest', 'another binary');
    write('lib/node_modules/corepack/dist/yarn.js');
    symlinkSync('../lib/node_modules/corepack/dist/yarn.js', join(home, 'bin/yarn'));
    write('.volta/bin/volta-shim', 'binary');
    symlinkSync('volta-shim', join(home, '.volta/bin/node'));
    const path = pathOf(
      ...['.pyenv/shims', '.local/share/mise/shims', '.cargo/bin', 'bin', '.volta/bin'].map((name) =>
        join(home, name),
      ),
    );
    const names = ['python3', 'go', 'cargo', 'yarn', 'node', 'mise', 'rustup', 'cargo-nextest'];
    const { installed } = await discover(
      names.map((id) => program(id)),
      host,
      path,
    );
    expect(Object.fromEntries([...installed].map(([id, { shim }]) => [id, shim]))).toEqual({
      python3: 'pyenv',
      go: 'mise',
      cargo: 'rustup',
      yarn: 'corepack',
      node: 'volta',
      mise: undefined,
      rustup: undefined,
      'cargo-nextest': undefined,
    });
  });

  it('answers a single look-up as the shell does', async () => {
    const path = await searchPath(thisHost());
    const PATH = path.folders.map(({ folder }) => folder).join(':');
    for (const name of ['sh', 'node', 'git', 'ls', 'npm', 'env', 'there-is-no-such-program']) {
      const found = await whichProgram(name, host, path);
      const { stdout } = spawnSync('/bin/sh', ['-c', `command -v ${name}`], {
        env: { PATH },
        encoding: 'utf8',
      });
      expect('installed' in found ? found.installed.program : '').toBe(stdout.trim());
    }
  });

  it('ATTACK 47: finds nothing for a path, so that nothing of a project can be named', async () => {
    write('a/tool');
    for (const name of ['../a/tool', './tool', join(home, 'a/tool'), '..', '', 'a\\tool']) {
      expect(await whichProgram(name, host, pathOf(join(home, 'a')))).toHaveProperty('why');
    }
  });
});

describe('discovery on macOS', () => {
  const mac = (files: Files) => fakeHost({ platform: 'darwin', env: {}, home: '/Users/ada', files });

  it('takes no stub that would open the dialog to install Xcode’s tools', async () => {
    const path = pathOf('/usr/bin', '/opt/homebrew/bin');
    expect(await find(program('git'), mac(programs('/usr/bin/git')), path)).toContain(
      'xcode-select --install',
    );
    expect(
      await find(program('git'), mac(programs('/usr/bin/git', '/opt/homebrew/bin/git')), path),
    ).toMatchObject({
      program: '/opt/homebrew/bin/git',
      source: 'PATH',
    });
    const tools = '/Library/Developer/CommandLineTools/usr/bin/git';
    expect(await find(program('git'), mac(programs('/usr/bin/git', tools)), path)).toMatchObject({
      program: '/usr/bin/git',
    });
  });
});
