import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { npm } from '../../src/discoverers/npm.ts';
import { callAction, saidBy } from '../support/call-action.ts';
import { temporaryFolder } from '../support/repository.ts';
import { connect } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';

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
  const client = await connect('2025-11-25', { roots: [root] });
  onTestFinished(() => client.close());
  for (const [name, given] of [
    ['npm_run', { script: 'go' }],
    ['npm_uninstall', { packages: ['x'] }],
  ] as const) {
    expect(textOf(await client.callTool({ name, arguments: given }))).toMatch(/^PATH_OUTSIDE_ROOTS/);
  }
  expect(readFileSync(join(outer, 'package.json'), 'utf8')).toBe(manifest);
});

it('ATTACK 32: an installation runs no script of the project', async () => {
  const root = temporaryFolder();
  const scripts = Object.fromEntries(
    ['preinstall', 'install', 'postinstall', 'prepare'].map((name) => [name, 'touch ran']),
  );
  writeFileSync(join(root, 'package.json'), JSON.stringify({ name: 'p', version: '1.0.0', scripts }));
  const client = await connect('2025-11-25', { roots: [root], args: ['--allow', 'execute'] });
  onTestFinished(() => client.close());
  const result = await client.callTool({ name: 'npm_install', arguments: {} });
  expect(result.isError, textOf(result)).toBeFalsy();
  expect(() => readFileSync(join(root, 'ran'))).toThrow('ENOENT');
});

it.each([
  'proxy=http://127.0.0.1:1/',
  'https-proxy = http://127.0.0.1:1/',
  'strict-ssl=false',
  'cafile=./evil.pem',
])('ATTACK 33: a project that says %s is not asked about over the network', async (line) => {
  const root = temporaryFolder();
  writeFileSync(join(root, 'package.json'), '{"name":"p","version":"1.0.0","dependencies":{"left-pad":"1"}}');
  writeFileSync(join(root, '.npmrc'), `save-exact=true\n${line}\n`);
  const client = await connect('2025-11-25', { roots: [root] });
  onTestFinished(() => client.close());
  for (const name of ['npm_outdated', 'npm_audit']) {
    expect(textOf(await client.callTool({ name, arguments: {} }))).toMatch(/^REPO_UNTRUSTED: .*npmrc/);
  }
});

it('uses the proxy of a project that a person trusts', async () => {
  const folder = temporaryFolder();
  writeFileSync(
    join(folder, 'package.json'),
    '{"name":"p","version":"1.0.0","dependencies":{"left-pad":"1"}}',
  );
  writeFileSync(
    join(folder, '.npmrc'),
    'proxy=http://127.0.0.1:1/\nhttps-proxy=http://127.0.0.1:1/\nfetch-retries=0\n',
  );
  const said = saidBy(await callAction(npm, 'outdated', {}, { folder, trusted: true }));
  expect(said).not.toContain('REPO_UNTRUSTED');
  expect(said).toContain('127.0.0.1:1');
});

it('ATTACK 57: a named pipe in the place of .npmrc does not keep a call waiting', async () => {
  const root = temporaryFolder();
  writeFileSync(join(root, 'package.json'), '{"name":"p","version":"1.0.0"}');
  const client = await connect('2025-11-25', { roots: [root] });
  onTestFinished(() => client.close());
  execFileSync('mkfifo', [join(root, '.npmrc')]);
  // npm_view asks npm nothing about the project, so npm itself does not come to the pipe first.
  const result = await client.callTool({ name: 'npm_view', arguments: { package: 'left-pad' } });
  expect(textOf(result)).toMatch(/^PATH_NOT_REGULAR/);
});

it('ATTACK 33: a project whose .npmrc names the shell of its scripts is asked about before anything runs', async () => {
  const root = temporaryFolder();
  const manifest = { name: 'p', version: '1.0.0', scripts: { test: 'true', build: 'true' } };
  writeFileSync(join(root, 'package.json'), JSON.stringify(manifest));
  writeFileSync(
    join(root, '.npmrc'),
    'script-shell=./evil.sh\ngit=./evil.sh\nnode-options=--require=./evil.cjs\n',
  );
  for (const name of ['evil.sh', 'evil.cjs'])
    writeFileSync(join(root, name), '#!/bin/sh\ntouch ran\n', { mode: 0o755 });
  const client = await connect('2025-11-25', { roots: [root] });
  onTestFinished(() => client.close());
  for (const [name, given] of [
    ['npm_test', {}],
    ['npm_run', { script: 'build' }],
  ] as const) {
    expect(textOf(await client.callTool({ name, arguments: given }))).toMatch(/^NEEDS_CONFIRM.*whenUnasked/s);
  }
  // What only reads does not ask npm to run scripts, and takes nothing of that either.
  expect((await client.callTool({ name: 'npm_list', arguments: {} })).isError).toBeFalsy();
  expect(() => readFileSync(join(root, 'ran'))).toThrow('ENOENT');
});
