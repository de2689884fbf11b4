import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/repository.ts';
import { connect, type ServerOptions } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';

/** Calls tools of a server of its own. */
async function caller(options: ServerOptions) {
  const client = await connect('2025-11-25', options);
  onTestFinished(() => client.close());
  return async (name: string, given: Record<string, unknown> = {}) => {
    const result = await client.callTool({ name, arguments: given });
    return { isError: result.isError, text: textOf(result) };
  };
}

it('ATTACK 14: npm does not work on a package above the roots', async () => {
  const outer = temporaryFolder();
  const root = join(outer, 'packages', 'inner');
  mkdirSync(root, { recursive: true });
  const manifest = JSON.stringify({
    name: 'outer',
    version: '1.0.0',
    workspaces: ['packages/*'],
    scripts: { go: 'touch ran' },
  });
  writeFileSync(join(outer, 'package.json'), manifest);
  const call = await caller({ roots: [root] });
  for (const [name, given] of [
    ['npm_run', { task: 'go' }],
    ['npm_remove', { packages: ['x'] }],
  ] as const) {
    expect((await call(name, given)).text).toMatch(/^PATH_NOT_FOUND/);
  }
  expect(readFileSync(join(outer, 'package.json'), 'utf8')).toBe(manifest);
});

it('ATTACK 32: an installation runs no script of the project', async () => {
  const root = temporaryFolder();
  const scripts = Object.fromEntries(
    ['preinstall', 'install', 'postinstall', 'prepare'].map((name) => [name, 'touch ran']),
  );
  writeFileSync(join(root, 'package.json'), JSON.stringify({ name: 'p', version: '1.0.0', scripts }));
  const call = await caller({ roots: [root], args: ['--questions', 'none'] });
  const { isError, text } = await call('npm_install');
  expect(isError, text).toBeFalsy();
  expect(() => readFileSync(join(root, 'ran'))).toThrow('ENOENT');
});

it('ATTACK 33: a project whose .npmrc names a server is not asked about over the network', async () => {
  const root = temporaryFolder();
  writeFileSync(join(root, 'package.json'), '{"name":"p","version":"1.0.0","dependencies":{"left-pad":"1"}}');
  writeFileSync(join(root, '.npmrc'), 'proxy=http://127.0.0.1:1/\nstrict-ssl=false\n');
  const call = await caller({ roots: [root] });
  for (const name of ['npm_outdated', 'npm_audit', 'npm_install'])
    expect((await call(name)).text).toMatch(/^NEEDS_CONFIRM/);
});

it('ATTACK 33: a project whose .npmrc names the shell of its scripts is asked about first', async () => {
  const root = temporaryFolder();
  const manifest = { name: 'p', version: '1.0.0', scripts: { test: 'true', build: 'true' } };
  writeFileSync(join(root, 'package.json'), JSON.stringify(manifest));
  writeFileSync(
    join(root, '.npmrc'),
    'script-shell=./evil.sh\ngit=./evil.sh\nnode-options=--require=./evil.cjs\n',
  );
  for (const name of ['evil.sh', 'evil.cjs'])
    writeFileSync(join(root, name), '#!/bin/sh\ntouch ran\n', { mode: 0o755 });
  const call = await caller({ roots: [root] });
  for (const [name, given] of [
    ['npm_test', {}],
    ['npm_run', { task: 'build' }],
  ] as const) {
    expect((await call(name, given)).text).toMatch(/^NEEDS_CONFIRM/);
  }
  // What only reads does not ask npm to run scripts, and takes nothing of that either.
  expect((await call('npm_list')).isError).toBeFalsy();
  expect(() => readFileSync(join(root, 'ran'))).toThrow('ENOENT');
});
