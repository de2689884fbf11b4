import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { callAction, planOf, saidBy } from '../support/call-action.ts';
import { folderWith } from '../support/files-in.ts';
import { programOf } from './programs.ts';

const biome = programOf('biome');
const project = () => {
  const folder = folderWith({
    'packages/a/x.js': '',
    'node_modules/.bin/biome': '#!/bin/sh\necho "ran in $PWD"\n',
  });
  chmodSync(join(folder, 'node_modules/.bin/biome'), 0o755);
  return folder;
};

it("takes a project's own copy from below too, shows it, and counts it as code of the project", async () => {
  const place = { folder: project(), program: process.execPath };
  const plan = await planOf(biome, 'lint', { cwd: 'packages/a' }, place);
  expect(plan).toMatchObject({ effects: ['read'], trust: 'runs code of this folder' });
  const said = saidBy(await callAction(biome, 'format', { cwd: 'packages/a' }, { ...place, trusted: true }));
  expect(said).toContain(`ran in ${place.folder}/packages/a`);
  expect(said).toContain(`[ran ${place.folder}/node_modules/.bin/biome]`);
});
