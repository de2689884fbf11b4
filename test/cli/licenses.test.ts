import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { licensesOf, licensesWith } from '../../scripts/licenses.mjs';
import { temporaryFolder } from '../support/repository.ts';
import { program } from '../support/server.ts';

const root = join(import.meta.dirname, '../..');
const permission = 'Permission is hereby granted, free of charge, to any person obtaining a copy. '.repeat(4);

/** Packages with these files, and what their licences come to. */
function licences(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const inputs = Object.keys(files).filter((path) => path.endsWith('.mjs'));
  return licensesOf(folder, inputs);
}

const box = {
  'node_modules/box/package.json': '{"name":"box","version":"1.0.0","license":"MIT"}',
  'node_modules/box/LICENSE': permission,
};

it('has the text of its licence for every entry, and one for code that packages have inlined', () => {
  const { status, stdout } = spawnSync(process.execPath, [program, '--licenses'], { encoding: 'utf8' });
  expect(status).toBe(0);
  expect(stdout).toContain(readFileSync(join(root, 'LICENSE'), 'utf8'));
  expect(stdout).toContain(readFileSync(join(root, 'THIRD-PARTY-LICENSES.md'), 'utf8'));
  const entries = [...stdout.matchAll(/^## (\S+)(?: [\d.]+)? \([^)]+\)\n[^]*?```\n([^]*?)\n```$/gm)];
  expect(entries.length).toBeGreaterThan(60);
  const short = entries.filter(([, , text = '']) => text.length < 200).map(([, name]) => name);
  expect(short).toEqual([]);
  const names = entries.map(([, name]) => name);
  const ofTheSdk = 'ajv ajv-formats content-type fast-deep-equal fast-uri json-schema-traverse'.split(' ');
  expect(names).toEqual(expect.arrayContaining([...ofTheSdk, 'partial-json-parser', 'denque', 'pgpass']));
});

it('adds the licences of what is shipped with programs', () => {
  const more = { name: 'Node.js', version: '20.0.0', license: 'MIT', text: permission };
  expect(licensesWith(root, [more])).toMatch(/\n## Node\.js 20\.0\.0 \(MIT\)\n\n```\nPermission/);
});

it.each([
  [
    'a comment of a bundler',
    'index.mjs',
    '//#region ../node_modules/.pnpm/lid@2.0.0/node_modules/lid/a.js',
    'lid',
  ],
  ['a path of its own', 'index.mjs', '/***/ "./node_modules/@of/lid/a.js":', '@of/lid'],
  ['a folder', '_vendor/lid/a.mjs', 'export {}', 'lid'],
])('ends the build at an unknown package, named by %s', (_, file, source, name) => {
  expect(() => licences({ ...box, [`node_modules/box/${file}`]: source })).toThrow(
    `${name}: no licence is known: put it into scripts/licenses/${name}.txt`,
  );
});

it('ends the build at a package that only a source map names, unless its licence is there', () => {
  const source = {
    'node_modules/box/a.mjs': '',
    'node_modules/box/a.mjs.map': '{"sources":["../node_modules/lid/a.ts"]}',
  };
  expect(() => licences({ ...box, ...source })).toThrow('lid: no licence is known');
  const lid = {
    'node_modules/lid/package.json': '{"name":"lid","license":"ISC"}',
    'node_modules/lid/LICENSE': permission,
  };
  expect(licences({ ...box, ...source, ...lid })).toContain(
    '\n## lid (ISC)\n\nPart of box.\n\n```\nPermission',
  );
});

it('ends the build at code that a comment calls foreign, and keeps notices that are dropped', () => {
  const file = 'node_modules/box/a.mjs';
  expect(() => licences({ ...box, [file]: ' * Adapted from https://example.org/lid' })).toThrow(
    'has to say whose that is',
  );
  expect(licences({ ...box, [file]: '// Copyright (c) 2020 Somebody' })).toContain(
    'Notices in its files:\nCopyright (c) 2020 Somebody\n```',
  );
});

it('ends the build at a package without a text', () => {
  const { 'node_modules/box/LICENSE': _, ...bare } = box;
  expect(() => licences({ ...bare, 'node_modules/box/a.mjs': '' })).toThrow(
    'box: there is no text of its licence (MIT)',
  );
});
