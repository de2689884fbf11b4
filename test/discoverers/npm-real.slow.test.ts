import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { npm } from '../../src/discoverers/npm.ts';
import { hasProgram, runAction } from './real-program.ts';

describe.skipIf(!hasProgram('npm', '--version'))('the real npm', () => {
  let base: string;
  let cwd: string;
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'npm-'));
    cwd = join(base, 'shop');
    for (const folder of ['shop', 'home']) mkdirSync(join(base, folder));
  });
  afterEach(() => rmSync(base, { recursive: true }));

  const run = (action: string, given: object = {}) =>
    runAction(npm, action, given, { cwd, env: { HOME: join(base, 'home'), npm_config_offline: 'true' } });
  const write = (name: string, content: string | object) =>
    writeFileSync(join(base, name), typeof content === 'string' ? content : JSON.stringify(content));

  /** Everything an .npmrc can name that npm would run or write, each leaving a trace in `traces`. */
  function writeHostileProject(dependencies: object = {}): void {
    const marker = JSON.stringify(join(base, 'traces-evil'));
    write('evil.sh', `#!/bin/sh\ntouch ${marker}\nexit 1\n`);
    chmodSync(join(base, 'evil.sh'), 0o755);
    write('evil.js', `require('fs').writeFileSync(${marker}, '')`);
    const touch = `touch ${marker}`;
    write('shop/package.json', {
      name: 'shop',
      version: '1.0.0',
      dependencies,
      scripts: { preinstall: touch, install: touch, postinstall: touch, prepare: touch },
    });
    const runs = ['git', 'script-shell', 'shell', 'editor', 'browser', 'viewer'];
    write(
      'shop/.npmrc',
      [
        ...runs.map((key) => `${key}=${join(base, 'evil.sh')}`),
        ...['node-gyp', 'init-module'].map((key) => `${key}=${join(base, 'evil.js')}`),
        `node-options=--require=${join(base, 'evil.js')}`,
        ...['logs-dir', 'cache'].map((key) => `${key}=${join(base, `traces-${key}`)}`),
        'ignore-scripts=false',
        'dangerously-allow-all-scripts=true',
        'global=true',
        'location=global',
        'timing=true',
        'long=true',
        'color=always',
      ].join('\n'),
    );
  }
  const traces = () => readdirSync(base).filter((name) => name.startsWith('traces'));

  it('33: lists packages past a hostile .npmrc: nothing runs, nothing is written', () => {
    writeHostileProject({ a: '1.0.0' });
    mkdirSync(join(cwd, 'src'));
    expect(run('list').data).toEqual({
      name: 'shop',
      version: '1.0.0',
      packages: [],
      problems: ['missing: a@1.0.0, required by shop@1.0.0'],
    });
    expect(traces()).toEqual([]);
    expect(readdirSync(join(base, 'home'))).toEqual([]);
    expect(readdirSync(cwd)).toEqual(['.npmrc', 'package.json', 'src']);
  });

  it('keeps the logs of earlier runs', () => {
    const logs = join(base, 'home', '.npm', '_logs');
    mkdirSync(logs, { recursive: true });
    writeFileSync(join(logs, '2020-01-01T00_00_00_000Z-debug-0.log'), '');
    write('shop/package.json', { name: 'shop' });
    expect(run('list').exitCode).toBe(0);
    expect(readdirSync(logs)).toEqual(['2020-01-01T00_00_00_000Z-debug-0.log']);
  });

  // npm 10 and older prepare git dependencies in spite of --ignore-scripts, which is why the action declares execute.
  const major = Number(spawnSync('npm', ['--version'], { encoding: 'utf8' }).stdout.split('.')[0]);
  it.skipIf(!hasProgram('git', '--version') || major < 11)(
    '32: installs a hostile git dependency and runs none of it',
    () => {
      const commit = (folder: string) => {
        const git = (...args: string[]) =>
          execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@y', ...args], {
            cwd: folder,
            stdio: 'ignore',
          });
        git('init');
        git('add', '.');
        git('commit', '-m', 'x');
      };
      const url = (folder: string) => `git+file://${join(base, folder)}`;
      // Preparing `outer` starts an npm that reads the .npmrc of `outer` and prepares `inner`.
      writeHostileProject({ outer: url('outer') });
      for (const folder of ['outer', 'inner']) {
        mkdirSync(join(base, folder));
        write(`${folder}/package.json`, {
          name: folder,
          version: '1.0.0',
          scripts: { prepare: `touch ${join(base, 'traces-prepare')}` },
          dependencies: folder === 'outer' ? { inner: url('inner') } : {},
        });
        write(
          `${folder}/.npmrc`,
          `node-options=--require=${join(base, 'evil.js')}\ngit=${join(base, 'evil.sh')}\n`,
        );
        commit(join(base, folder));
      }
      const installed = run('install');
      expect(installed).toMatchObject({ exitCode: 0 });
      expect(readdirSync(join(cwd, 'node_modules'))).toEqual(expect.arrayContaining(['inner', 'outer']));
      expect(traces()).toEqual(['traces-cache']);
    },
  );

  it('runs scripts with arguments as they are', () => {
    write('shop/package.json', {
      name: 'shop',
      scripts: { args: 'node args.js', test: 'node args.js test' },
    });
    write('shop/args.js', 'console.log(JSON.stringify(process.argv.slice(2)))');
    const last = (stdout: string): unknown => JSON.parse(stdout.trim().split('\n').at(-1)!);
    const args = ['--global', 'a b', '$(touch x)'];
    expect(last(run('run', { script: 'args', args }).stdout)).toEqual(args);
    expect(last(run('test', { args: ['-x'] }).stdout)).toEqual(['test', '-x']);
    expect(existsSync(join(cwd, 'x'))).toBe(false);
    expect(run('run', { script: 'missing' }).exitCode).toBe(1);
  });

  it('answers with nothing outdated where there is nothing', () => {
    write('shop/package.json', { name: 'shop' });
    expect(run('outdated').data).toEqual({ packages: [] });
  });
});
