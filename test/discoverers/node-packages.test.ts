import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Program } from '../../src/core/program.ts';
import { callAction, saidBy } from '../support/call-action.ts';
import { folderWith } from '../support/files-in.ts';
import { inspected } from '../support/inspected.ts';
import { programOf } from './programs.ts';
import { argvOf, recorded, reportOf } from './real-program.ts';

const [npm, pnpm] = [programOf('npm'), programOf('pnpm')];
const read = (id: string, key: string, file: string, more: object = {}) =>
  reportOf(programOf(id), key, { stdout: recorded(`${id}/${file}`), ...more }).text;
const call = async (of: Program, key: string, given: Record<string, unknown>, folder: string) =>
  saidBy(await callAction(of, key, given, { folder, program: process.execPath, trusted: true }));

describe('the package manager of a project', () => {
  const add = { packages: ['semver'] };
  const named = (packageManager: string) => ({ 'package.json': { name: 'shop', packageManager } });
  it.each([
    [
      'package.json names pnpm',
      named('pnpm@9.1.0+sha512.abc'),
      'its package.json names pnpm@9.1.0. Call pnpm_add',
    ],
    ['package.json names Yarn 1', named('yarn@1.22.22'), 'Call yarn1_add'],
    ['package.json names Yarn 4', named('yarn@4.1.0'), 'Call yarn_add'],
    [
      'devEngines',
      { 'package.json': { devEngines: { packageManager: { name: 'bun' } } }, 'package-lock.json': '{}' },
      'Call bun_add',
    ],
    ['the lock file of pnpm', { 'package.json': {}, 'pnpm-lock.yaml': '' }, 'pnpm-lock.yaml. Call pnpm_add'],
    ['that of Yarn 1', { 'package.json': {}, 'yarn.lock': '# yarn lockfile v1\n' }, 'Call yarn1_add'],
    ['that of Yarn 4', { 'package.json': {}, 'yarn.lock': '__metadata:\n' }, 'Call yarn_add'],
    ['that of Bun', { 'package.json': {}, 'bun.lock': '' }, 'Call bun_add'],
    ['another of that name', named('vlt@1.0.0'), 'Run vlt instead'],
  ])('is said by %s: npm changes nothing there', async (_, files, says) => {
    const said = await call(npm, 'add', add, folderWith(files));
    expect(said).toContain('EFFECT_DENIED: This is a project of ');
    expect(said).toContain(says);
  });

  it('is the one of the nearest folder that says so, and asked for what only looks, too', async () => {
    const folder = folderWith({
      ...named('pnpm@10.0.0'),
      'packages/a/package.json': {},
      'examples/package.json': {},
      'examples/package-lock.json': '{}',
    });
    const cwd = join(folder, 'packages/a');
    const where = { folder: cwd, roots: [folder] };
    await expect(inspected(npm, 'remove', where)).rejects.toThrow('Call pnpm_remove instead.');
    await expect(inspected(npm, 'audit', where)).rejects.toThrow('Call pnpm_audit instead.');
    await expect(inspected(programOf('yarn1'), 'update', where)).rejects.toThrow('Call pnpm_update instead.');
    await expect(inspected(pnpm, 'add', where)).resolves.toEqual({});
    await expect(inspected(npm, 'run', where)).resolves.toEqual({});
    await expect(
      inspected(npm, 'install', { folder: join(folder, 'examples'), roots: [folder] }),
    ).resolves.toEqual({});
  });

  it('is any of several that have left their files', async () => {
    const folder = folderWith({ 'package.json': {}, 'package-lock.json': '{}', 'pnpm-lock.yaml': '' });
    await expect(inspected(npm, 'add', { folder })).resolves.toEqual({});
    await expect(inspected(pnpm, 'add', { folder })).resolves.toEqual({});
    await expect(inspected(programOf('bun'), 'add', { folder })).rejects.toThrow('Call npm_add');
  });
});

describe('an action with nothing to do', () => {
  it('is an error without a package.json, up to the root (14)', async () => {
    const top = folderWith({ 'package.json': {}, 'packages/a/src/x.js': '' });
    const where = { folder: join(top, 'packages/a/src'), roots: [join(top, 'packages')] };
    for (const key of ['list', 'run', 'add'])
      await expect(inspected(npm, key, where)).rejects.toThrow('there is no package.json here or above');
    await expect(inspected(npm, 'view', where)).resolves.toEqual({});
    await expect(inspected(programOf('deno'), 'check', where)).resolves.toEqual({});
    expect(await call(npm, 'list', {}, join(top, 'packages/a'))).toContain('PATH_NOT_FOUND');
  });
});

describe('the output of a package manager', () => {
  it('is read as a list of packages with their problems', () => {
    expect(read('npm', 'list', 'list-problems.json', { exitCode: 1 })).toMatchInlineSnapshot(`
      "6 packages
      @shop/a 0.1.0 - file:../../packages/a
      is-number 6.0.0 (in @shop/a)
      is-number 1.0.0 - does not fit "^3.0.0" from the root project
      is-odd 2.0.0
      left-pad - missing: left-pad@1.3.0, required by shop@0.3.0
      stray 9.9.9 - extraneous"
    `);
    expect(read('pnpm', 'list', 'list.json')).toMatchInlineSnapshot(`
      "4 packages
      is-odd 2.0.0
      is-number 4.0.0 (in is-odd)
      semver 7.0.0
      left-pad 1.2.0 (dev)"
    `);
    for (const [id, file] of [
      ['yarn', 'list.jsonl'],
      ['bun', 'list.txt'],
      ['deno', 'list.txt'],
    ] as const)
      expect(read(id, 'list', file)).toBe('3 packages\nis-odd 2.0.0\nleft-pad 1.2.0\nsemver 7.0.0');
    expect(read('yarn1', 'list', 'list.jsonl')).toContain('4 packages\nis-odd 2.0.0\n');
  });

  it('is read as a list of newer versions', () => {
    expect(read('npm', 'outdated', 'outdated.json', { exitCode: 1 })).toMatchInlineSnapshot(`
      "4 packages
      fsevents -> 2.3.3
      is-number 6.0.0 -> 7.0.0 (a)
      is-number 1.0.0 -> 3.0.0 7.0.0 (shop)
      is-odd 2.0.0 -> 3.0.1"
    `);
    expect(read('pnpm', 'outdated', 'outdated.json', { exitCode: 1 })).toMatchInlineSnapshot(`
      "3 packages
      left-pad 1.2.0 -> 1.3.0 (dev)
      semver 7.0.0 -> 7.8.6
      is-odd 2.0.0 -> 3.0.1"
    `);
    expect(read('bun', 'outdated', 'outdated.txt')).toContain('left-pad 1.2.0 -> 1.3.0 (dev)');
    expect(read('deno', 'outdated', 'outdated.txt')).toContain('is-odd 2.0.0 -> 3.0.1');
    expect(reportOf(npm, 'outdated', { stdout: '{}' }).text).toBe('no packages');
    // There is a package of this name.
    const stdout = '{"error": {"wanted": "10.4.0", "latest": "10.4.0"}}';
    expect(reportOf(npm, 'outdated', { stdout }).text).toBe('1 package\nerror -> 10.4.0');
  });

  it('is read as the packages that are known to be vulnerable', () => {
    expect(read('npm', 'audit', 'audit.json', { exitCode: 1 })).toMatchInlineSnapshot(`
      "2 advisories
      low is-number <7.0.0 Numbers are odd https://github.com/advisories/GHSA-dddd-eeee-ffff
      high left-pad <=1.3.0 Padding may overflow https://github.com/advisories/GHSA-aaaa-bbbb-cccc"
    `);
  });

  it('is read as the facts that the registry has of a package', () => {
    expect(read('npm', 'view', 'view.json')).toMatchInlineSnapshot(`
      "is-odd@2.0.0: Returns true if the given number is odd.
      license: MIT
      homepage: https://github.com/jonschlinkert/is-odd
      engines: node >=0.10.0
      dependencies: is-number ^4.0.0
      tags: latest 3.0.1"
    `);
    expect(() => read('npm', 'view', 'view-several.json')).toThrow('4 versions match');
  });

  it('is cut to the reason where there is no answer', () => {
    expect(() => read('npm', 'view', 'view-missing.json', { exitCode: 1 })).toThrow(
      /^Not Found - GET .{1,80}$/,
    );
    expect(() => read('pnpm', 'view', 'view-missing.json', { exitCode: 1 })).toThrow(/^GET .* 404$/);
    expect(() => read('npm', 'outdated', 'unreachable.json', { exitCode: 1 })).toThrow(
      'connect ECONNREFUSED',
    );
    expect(() => read('npm', 'audit', 'audit-no-lock.json', { exitCode: 1 })).toThrow(
      'requires an existing lockfile',
    );
  });

  it('is read as tests in the words that "only" takes', () => {
    const [inBun, inDeno] = ['bun', 'deno'].map((id) => {
      const files = { 'report.xml': recorded(`${id}/junit.xml`) };
      return reportOf(programOf(id), 'test', { files, exitCode: 1 }).text;
    });
    expect(inBun).toMatchInlineSnapshot(`
      "1 failed, 1 passed, 1 skipped
      test/cart.test.ts:2 cart deep adds (1+1) - expect(received).toBe(expected)

      Expected: 2
      Received: 1"
    `);
    expect(inDeno).toMatchInlineSnapshot(`
      "3 failed, 0 passed, 1 skipped
      adds - Uncaught Error: off by one
      top & co - 1 test step failed
      top & co - Uncaught Error: inner bad"
    `);
  });

  it('is read as type errors, of Deno', () => {
    const stderr = recorded('deno/check.txt');
    expect(reportOf(programOf('deno'), 'check', { stderr, exitCode: 1 }).text).toMatchInlineSnapshot(`
      "1 diagnostic
      /home/dev/shop/bad.ts:1:7 error: Type 'string' is not assignable to type 'number'. [TS2322]"
    `);
  });
});

it('reads scripts and what else a package.json says', () => {
  const manifest = {
    packageManager: 'pnpm@9.1.0',
    engines: { node: '>=20' },
    scripts: { build: 'tsc', test: 'vitest run' },
    workspaces: { packages: ['packages/*'] },
  };
  const text = (id: string, stdout: string) => reportOf(programOf(id), 'scripts', { stdout }).text;
  expect(text('npm', `\uFEFF${JSON.stringify(manifest)}`)).toMatchInlineSnapshot(`
    "2 tasks
    build = tsc
    test = vitest run
    package manager: pnpm@9.1.0; engines: node >=20; workspaces: packages/*"
  `);
  expect(text('npm', '{"scripts": [], "engines": ["node"], "workspaces": "x"}')).toBe('no tasks');
  expect(
    text(
      'deno',
      '{\n  // Tasks\n  "tasks": {"dev": {"command": "deno run x.ts", "description": "Serves"}}\n}',
    ),
  ).toBe('1 task\ndev = deno run x.ts (Serves)');
  for (const stdout of ['', '[]', '"shop"', '{']) expect(() => text('npm', stdout)).toThrow();
});

const specs = [
  'react',
  '@types/node',
  'react@19.0.0',
  'react@next',
  'react@^19',
  '@scope/a.b@1.0.0-beta.1+x',
];
it.each(specs)('npm adds %s', (spec) => {
  expect(argvOf(npm, 'add', { packages: [spec] }).at(-1)).toBe(spec);
});

const noSpecs = `--script-shell=./evil.sh -g . ./evil ../evil /etc ~/evil user/repo github:user/repo git+ssh://evil/x
  git@github.com:user/repo https://evil/x.tgz file:evil evil.tgz evil.TAR.GZ evil.tgz@1.0.0 a@evil.tar @a/b.tgz
  a@npm:b a@./evil a@~/evil a@>=1 C:evil`;
it.each([...noSpecs.split(/\s+/), 'a b', 'a\n--global', ''])('npm takes no %j for a package', (spec) => {
  for (const key of ['add', 'remove', 'update'])
    expect(() => argvOf(npm, key, { packages: [spec] })).toThrow(/expected/);
  for (const key of ['view', 'why']) expect(() => argvOf(npm, key, { package: spec })).toThrow(/expected/);
});

it('no change runs the scripts of packages (32)', () => {
  for (const id of ['npm', 'pnpm', 'yarn1', 'bun'])
    for (const key of ['install', 'add']) {
      const given = key === 'add' ? { packages: ['a'] } : {};
      expect(argvOf(programOf(id), key, given)).toContain('--ignore-scripts');
    }
  expect(argvOf(npm, 'remove', { packages: ['a'] })).toContain('--ignore-scripts');
});

it('pnpm, when it only looks, runs no code of the project and fetches no other pnpm', async () => {
  const folder = folderWith({ 'package.json': {} });
  const { env } = await inspected(pnpm, 'list', { folder });
  expect(env).toMatchObject({ npm_config_ignore_pnpmfile: 'true', pnpm_config_ignore_pnpmfile: 'true' });
  expect(await inspected(pnpm, 'install', { folder })).toEqual({});
});
