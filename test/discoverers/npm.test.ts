import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { npm } from '../../src/discoverers/npm.ts';
import { inspected } from '../support/inspected.ts';
import { temporaryFolder } from '../support/repository.ts';
import { argvOf, itKeepsItsExamples, parseRecorded } from './real-program.ts';

const { scripts, view, outdated, list, audit } = npm.actions;

describe('npm', () => {
  itKeepsItsExamples(npm);

  it('reads a package.json', () => {
    const manifest = {
      name: 'shop',
      version: '0.3.0',
      packageManager: 'pnpm@9.1.0',
      engines: { node: '>=20' },
      scripts: { build: 'tsc', test: 'vitest run' },
      workspaces: { packages: ['packages/*'] },
    };
    expect(scripts.parse!(`\uFEFF${JSON.stringify(manifest)}`)).toEqual({
      name: 'shop',
      version: '0.3.0',
      package_manager: 'pnpm@9.1.0',
      scripts: [
        { name: 'build', command: 'tsc' },
        { name: 'test', command: 'vitest run' },
      ],
      engines: { node: '>=20' },
      workspaces: ['packages/*'],
    });
    const empty = { scripts: [], engines: {}, workspaces: [] };
    expect(scripts.parse!('{}')).toEqual(empty);
    expect(scripts.parse!('{"scripts": [], "engines": ["node"], "workspaces": "x", "version": 1}')).toEqual(
      empty,
    );
    expect(
      scripts.parse!('{"devEngines": {"packageManager": {"name": "yarn"}}, "workspaces": ["a"]}'),
    ).toEqual({
      ...empty,
      package_manager: 'yarn',
      workspaces: ['a'],
    });
    for (const text of ['', '[]', '"shop"', '{']) expect(() => scripts.parse!(text)).toThrow();
  });

  it('reads installed packages and problems', () => {
    expect(parseRecorded(npm, 'list', 'list-problems.json')).toEqual({
      name: 'shop',
      version: '0.3.0',
      packages: [
        { name: '@shop/a', version: '0.1.0', from: 'file:../../packages/a' },
        { name: 'is-number', version: '6.0.0', within: '@shop/a@0.1.0' },
        { name: 'is-number', version: '1.0.0' },
        { name: 'is-odd', version: '2.0.0' },
        { name: 'stray', version: '9.9.9' },
      ],
      problems: [
        'invalid: is-number@1.0.0 /home/dev/shop/node_modules/is-number',
        'missing: left-pad@1.3.0, required by shop@0.3.0',
        'extraneous: stray@9.9.9 /home/dev/shop/node_modules/stray',
      ],
    });
  });

  it('reads why a package is installed', () => {
    expect(parseRecorded(npm, 'list', 'list-one.json')).toEqual({
      name: 'shop',
      version: '0.3.0',
      packages: [
        { name: '@shop/a', version: '0.1.0', from: 'file:../../packages/a' },
        { name: 'is-number', version: '6.0.0', within: '@shop/a@0.1.0' },
        { name: 'is-number', version: '1.0.0' },
        { name: 'is-odd', version: '2.0.0' },
        { name: 'is-number', version: '4.0.0', within: 'is-odd@2.0.0' },
      ],
      problems: ['invalid: is-number@1.0.0 /home/dev/shop/node_modules/is-number'],
    });
    expect(parseRecorded(npm, 'list', 'list-none.json')).toEqual({
      name: 'shop',
      version: '0.3.0',
      packages: [],
      problems: [],
    });
  });

  it('reads what is outdated', () => {
    expect(parseRecorded(npm, 'outdated', 'outdated.json')).toEqual({
      packages: [
        { name: 'fsevents', wanted: '2.3.3', latest: '2.3.3', dependent: 'shop' },
        { name: 'is-number', current: '6.0.0', wanted: '6.0.0', latest: '7.0.0', dependent: 'a' },
        { name: 'is-number', current: '1.0.0', wanted: '3.0.0', latest: '7.0.0', dependent: 'shop' },
        { name: 'is-odd', current: '2.0.0', wanted: '2.0.0', latest: '3.0.1', dependent: 'shop' },
      ],
    });
    expect(outdated.parse!('{}')).toEqual({ packages: [] });
    // There is a package of this name.
    expect(outdated.parse!('{"error": {"wanted": "10.4.0", "latest": "10.4.0"}}')).toEqual({
      packages: [{ name: 'error', wanted: '10.4.0', latest: '10.4.0' }],
    });
  });

  it('reads what the registry knows of a package', () => {
    expect(parseRecorded(npm, 'view', 'view.json')).toEqual({
      name: 'is-odd',
      version: '2.0.0',
      description: 'Returns true if the given number is odd.',
      license: 'MIT',
      homepage: 'https://github.com/jonschlinkert/is-odd',
      repository: undefined,
      deprecated: undefined,
      engines: { node: '>=0.10.0' },
      dependencies: { 'is-number': '^4.0.0' },
      peer_dependencies: {},
      tags: { latest: '3.0.1' },
    });
    expect(view.parse!('{"name": "a", "version": "1.0.0", "license": {"type": "MIT"}}')).toMatchObject({
      license: 'MIT',
    });
    expect(() => parseRecorded(npm, 'view', 'view-several.json')).toThrow('4 versions match');
  });

  it('reads known vulnerabilities', () => {
    expect(parseRecorded(npm, 'audit', 'audit.json')).toEqual({
      vulnerabilities: [
        {
          name: 'is-number',
          severity: 'low',
          direct: false,
          range: '<7.0.0',
          because: ['Numbers are odd https://github.com/advisories/GHSA-dddd-eeee-ffff'],
          fix: undefined,
        },
        { name: 'is-odd', severity: 'low', direct: true, range: '*', because: ['is-number'], fix: undefined },
        {
          name: 'left-pad',
          severity: 'high',
          direct: true,
          range: '*',
          because: ['Padding may overflow https://github.com/advisories/GHSA-aaaa-bbbb-cccc'],
          fix: undefined,
        },
      ],
    });
    const found = (fixAvailable: unknown) =>
      JSON.stringify({
        vulnerabilities: {
          a: { name: 'a', severity: 'high', isDirect: true, range: '*', via: [], fixAvailable },
        },
      });
    const fixes = [{ name: 'a', version: '2.0.0', isSemVerMajor: true }, true].map((fix) =>
      audit.parse!(found(fix)),
    );
    expect(fixes).toMatchObject([
      { vulnerabilities: [{ fix: 'a@2.0.0' }] },
      { vulnerabilities: [{ fix: 'a newer version within the range' }] },
    ]);
  });

  it('passes on why npm could not answer', () => {
    expect(() => parseRecorded(npm, 'outdated', 'unreachable.json')).toThrow('connect ECONNREFUSED');
    expect(() => parseRecorded(npm, 'audit', 'audit-no-lock.json')).toThrow('requires an existing lockfile');
    expect(() => parseRecorded(npm, 'view', 'view-missing.json')).toThrow('Not Found');
  });

  it('throws on what npm does not print', () => {
    for (const action of [list, view, audit]) {
      for (const output of ['', '[]', '"x"', 'npm error']) expect(() => action.parse!(output)).toThrow();
    }
    for (const output of ['[]', '{"a": 1}', 'npm error']) expect(() => outdated.parse!(output)).toThrow();
  });

  it.each(['react', '@types/node', 'react@19.0.0', 'react@next', 'react@^19', '@scope/a.b@1.0.0-beta.1+x'])(
    'installs %s',
    (spec) => {
      expect(argvOf(npm, 'install', { packages: [spec] }).at(-1)).toBe(spec);
    },
  );

  it.each([
    '--script-shell=./evil.sh',
    '-g',
    '.',
    './evil',
    '../evil',
    '/etc',
    '~/evil',
    'user/repo',
    'github:user/repo',
    'git+ssh://evil/x',
    'git@github.com:user/repo',
    'https://evil/x.tgz',
    'file:evil',
    'evil.tgz',
    'evil.TAR.GZ',
    'evil.tgz@1.0.0',
    'a@evil.tar',
    '@a/b.tgz',
    'a@npm:b',
    'a@./evil',
    'a@~/evil',
    'a@>=1',
    'a b',
    'a\n--global',
    'C:evil',
    '',
  ])('refuses to install %j', (spec) => {
    expect(() => argvOf(npm, 'install', { packages: [spec] })).toThrow(/expected/);
    if (spec !== '') expect(() => argvOf(npm, 'view', { package: spec })).toThrow(/expected/);
    expect(() => argvOf(npm, 'uninstall', { packages: [spec] })).toThrow(/expected/);
    expect(() => argvOf(npm, 'list', { package: spec })).toThrow(/expected/);
  });

  it('14: works on no package above the roots, and looks things up without one', async () => {
    const top = temporaryFolder();
    const root = join(top, 'packages');
    const folder = join(root, 'a', 'src');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(top, 'package.json'), '{"workspaces":["packages/*"]}');
    const where = { folder, roots: [root] };
    for (const name of ['run', 'list', 'install'])
      await expect(inspected(npm, name, where)).rejects.toThrow(`${folder}: there is no package`);
    expect(await inspected(npm, 'view', where)).toEqual({});
    mkdirSync(join(root, 'a', 'node_modules'));
    expect(await inspected(npm, 'list', where)).toEqual({});
    expect(await inspected(npm, 'run', { folder: top })).toEqual({});
  });

  it('32: never lets an install run scripts', () => {
    for (const action of ['install', 'clean_install']) {
      expect(argvOf(npm, action)).toContain('--ignore-scripts');
    }
    expect(argvOf(npm, 'uninstall', { packages: ['a'] })).toContain('--ignore-scripts');
  });
});
