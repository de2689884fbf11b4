import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { callAction, saidBy } from '../support/call-action.ts';
import { temporaryFolder } from '../support/repository.ts';
import { programOf } from './programs.ts';
import { hasProgram } from './real-program.ts';

const npm = programOf('npm');

describe.skipIf(!hasProgram('npm', '--version'))('the real npm', () => {
  let base: string;
  let folder: string;
  beforeEach(() => {
    base = temporaryFolder();
    folder = join(base, 'shop');
    for (const name of ['shop', 'home']) mkdirSync(join(base, name));
  });

  const env = () => ({ HOME: join(base, 'home'), npm_config_offline: 'true' });
  const call = async (key: string, given: Record<string, unknown> = {}, of = npm) =>
    saidBy(await callAction(of, key, given, { folder, env: env(), trusted: true }));
  const write = (name: string, content: string | object) =>
    writeFileSync(join(base, name), typeof content === 'string' ? content : JSON.stringify(content));

  /** Everything an .npmrc can name that npm would run or write, each leaving a trace in `traces`. */
  function writeHostileProject(dependencies: object = {}): void {
    const marker = JSON.stringify(join(base, 'traces-evil'));
    write('evil.sh', `#!/bin/sh\ntouch ${marker}\nexit 1\n`);
    chmodSync(join(base, 'evil.sh'), 0o755);
    write('evil.js', `require('fs').writeFileSync(${marker}, '')`);
    const touch = `touch ${marker}`;
    const scripts = { preinstall: touch, install: touch, postinstall: touch, prepare: touch };
    write('shop/package.json', { name: 'shop', version: '1.0.0', dependencies, scripts });
    const runs = ['git', 'script-shell', 'shell', 'editor', 'browser', 'viewer'];
    write(
      'shop/.npmrc',
      [
        ...runs.map((key) => `${key}=${join(base, 'evil.sh')}`),
        ...['node-gyp', 'init-module'].map((key) => `${key}=${join(base, 'evil.js')}`),
        `node-options=--require=${join(base, 'evil.js')}`,
        ...['logs-dir', 'cache'].map((key) => `${key}=${join(base, `traces-${key}`)}`),
        'ignore-scripts=false\ndangerously-allow-all-scripts=true\nglobal=true\nlocation=global',
        'timing=true\nlong=true\ncolor=always',
      ].join('\n'),
    );
  }
  const traces = () => readdirSync(base).filter((name) => name.startsWith('traces'));

  it('33: lists packages past a hostile .npmrc: nothing runs, nothing is written, no log is removed', async () => {
    writeHostileProject({ a: '1.0.0' });
    mkdirSync(join(folder, 'src'));
    const logs = join(base, 'home', '.npm', '_logs');
    mkdirSync(logs, { recursive: true });
    writeFileSync(join(logs, '2020-01-01T00_00_00_000Z-debug-0.log'), '');
    expect(await call('list')).toContain('1 package\na - missing: a@1.0.0, required by shop@1.0.0');
    expect(await call('why', { package: 'a' })).toContain('No dependencies found matching a');
    expect(traces()).toEqual([]);
    expect(readdirSync(logs)).toEqual(['2020-01-01T00_00_00_000Z-debug-0.log']);
    expect(readdirSync(folder)).toEqual(['.npmrc', 'package.json', 'src']);
  });

  // npm 10 and older prepare git dependencies in spite of --ignore-scripts, which is why the action declares execute.
  const major = Number(spawnSync('npm', ['--version'], { encoding: 'utf8' }).stdout.split('.')[0]);
  it.skipIf(!hasProgram('git', '--version') || major < 11)(
    '32: installs a hostile git dependency and runs none of it',
    async () => {
      const url = (name: string) => `git+file://${join(base, name)}`;
      // Preparing `outer` starts an npm that reads the .npmrc of `outer` and prepares `inner`.
      writeHostileProject({ outer: url('outer') });
      for (const name of ['outer', 'inner']) {
        mkdirSync(join(base, name));
        const dependencies = name === 'outer' ? { inner: url('inner') } : {};
        const scripts = { prepare: `touch ${join(base, 'traces-prepare')}` };
        write(`${name}/package.json`, { name, version: '1.0.0', scripts, dependencies });
        write(
          `${name}/.npmrc`,
          `node-options=--require=${join(base, 'evil.js')}\ngit=${join(base, 'evil.sh')}\n`,
        );
        for (const args of [['init'], ['add', '.'], ['commit', '-m', 'x']])
          execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@y', ...args], {
            cwd: join(base, name),
            stdio: 'ignore',
          });
      }
      expect(await call('install')).toContain('added 2 packages');
      expect(readdirSync(join(folder, 'node_modules'))).toEqual(expect.arrayContaining(['inner', 'outer']));
      expect(traces().filter((name) => name !== 'traces-cache')).toEqual([]);
    },
  );

  it('runs scripts, and programs of node_modules, with arguments as they are', async () => {
    write('shop/package.json', { scripts: { args: 'node args.js', test: 'node args.js test' } });
    write('shop/args.js', '#!/usr/bin/env node\nconsole.log(JSON.stringify(process.argv.slice(2)))');
    chmodSync(join(folder, 'args.js'), 0o755);
    mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
    execFileSync('ln', ['-s', '../../args.js', 'node_modules/.bin/args'], { cwd: folder });
    const args = ['--global', 'a b', '$(touch x)'];
    expect(await call('run', { task: 'args', args })).toContain(JSON.stringify(args));
    expect(await call('test', { args: ['-x'] })).toContain(JSON.stringify(['test', '-x']));
    expect(await call('exec', { program: 'args', args })).toContain(JSON.stringify(args));
    expect(await call('exec', { program: 'not-there' })).toContain('Only what is installed is run');
    expect(existsSync(join(folder, 'x'))).toBe(false);
    expect(await call('run', { task: 'missing' })).toContain('lists the scripts there are');
  });

  it('says that nothing is outdated where there is nothing', async () => {
    write('shop/package.json', { name: 'shop' });
    expect(await call('outdated')).toContain('no packages');
  });
});
