import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { keptTree, type KeptTree } from '../support/kept-tree.ts';
import { temporaryRepository } from '../support/repository.ts';
import { callerWith, failureOf, services, textOf, type Caller } from './folder.ts';

const callerOf = (tree: KeptTree, ...roots: string[]): Caller =>
  callerWith(
    { ...services, history: () => Promise.resolve(tree.history) },
    ...(roots.length > 0 ? roots : [tree.folder]),
  );

it('lists checkpoints, newest first, with the action each was taken before', async () => {
  const tree = await keptTree();
  const call = callerOf(tree);
  const list = async (given = {}) => textOf(await call('list_checkpoints', given)).split('\n');
  expect(await list()).toEqual(['No checkpoints.']);
  await tree.take('npm_test');
  tree.write('src/a.txt', 'changed');
  await tree.take('git_reset_hard');
  const line = (before: string) =>
    expect.stringMatching(new RegExp(`^c_\\w{8}  \\d{4}-.*Z  before ${before}  ${tree.folder}$`));
  expect(await list()).toEqual([line('git_reset_hard'), line('npm_test')]);
  expect(await list({ limit: 1 })).toEqual([line('git_reset_hard'), '[1 of 2: raise limit]']);
});

/** The lines of an answer that say what was done to which file. */
const filesIn = (text: string): string[] =>
  text.split('\n').filter((line) => /^(?:changed|made|removed) /.test(line));

it('restores a checkpoint, says what was done to which file, shows it, and how to undo it', async () => {
  const tree = await keptTree();
  const call = callerOf(tree);
  const checkpoint = await tree.id();
  tree.write('src/a.txt', 'changed');
  tree.write('new.txt', 'new');
  rmSync(join(tree.folder, 'README.md'));
  const files = ['changed src/a.txt', 'made README.md', 'removed new.txt'];

  const planned = textOf(await call('restore_checkpoint', { checkpoint, dry_run: true }));
  expect(planned).toContain(`Would restore ${checkpoint}: 3 files`);
  expect(filesIn(planned).sort()).toEqual(files);
  expect(readFileSync(join(tree.folder, 'src/a.txt'), 'utf8')).toBe('changed');

  const restored = textOf(await call('restore_checkpoint', { checkpoint }));
  expect(filesIn(restored).sort()).toEqual(files);
  expect(restored).toContain('-changed\n\\ No newline at end of file\n+one\n+two\n+three\n');
  expect(readFileSync(join(tree.folder, 'src/a.txt'), 'utf8')).toBe('one\ntwo\nthree\n');

  const undo = /restore (c_\w+) to undo this/.exec(restored)?.[1];
  await call('restore_checkpoint', { checkpoint: undo });
  expect(readFileSync(join(tree.folder, 'new.txt'), 'utf8')).toBe('new');
  expect(readFileSync(join(tree.folder, 'src/a.txt'), 'utf8')).toBe('changed');
});

it('restores only the files and folders that were named', async () => {
  const tree = await keptTree();
  const call = callerOf(tree);
  const checkpoint = await tree.id();
  rmSync(join(tree.folder, 'src'), { recursive: true });
  tree.write('README.md', 'changed');
  const text = textOf(await call('restore_checkpoint', { checkpoint, paths: ['src/a.txt'] }));
  expect(filesIn(text)).toEqual(['made src/a.txt']);
  expect(await failureOf(call('restore_checkpoint', { checkpoint, paths: ['../x'] }))).toMatch(
    /^PATH_OUTSIDE_ROOTS/,
  );
});

it('does nothing when nothing has changed', async () => {
  const tree = await keptTree();
  const checkpoint = await tree.id();
  const text = textOf(await callerOf(tree)('restore_checkpoint', { checkpoint }));
  expect(text).toBe(`No file had to be changed for ${checkpoint}.`);
});

it('tells the files it has left, and why', async () => {
  const tree = await keptTree();
  tree.write('.envrc', 'one');
  const checkpoint = await tree.id();
  tree.write('.envrc', 'two');
  const text = textOf(await callerOf(tree)('restore_checkpoint', { checkpoint }));
  expect(text).toMatch(/^No file had to be changed.*\nleft \.envrc: .*is not changed from here/);
});

it('shows the first hundred of many files, and how many there are', async () => {
  const tree = await keptTree();
  const checkpoint = await tree.id();
  for (let n = 0; n < 150; n++) tree.write(`many/${n}.txt`, '');
  const text = textOf(await callerOf(tree)('restore_checkpoint', { checkpoint }));
  expect(filesIn(text)).toHaveLength(100);
  expect(text).toContain(': 150 files');
  expect(text).toContain('… and 50 files more');
});

it('names files as the next call can take them, where the work tree is not the first root', async () => {
  const first = temporaryRepository();
  const tree = await keptTree();
  const call = callerOf(tree, first.folder, tree.folder);
  const checkpoint = await tree.id();
  tree.write('src/a.txt', 'changed');
  const text = textOf(await call('restore_checkpoint', { checkpoint }));
  expect(filesIn(text)).toEqual([`changed ${join(tree.folder, 'src/a.txt')}`]);
});

it.each([
  ['c_00000000', /^NOT_FOUND: c_00000000: there is no such checkpoint/],
  ['HEAD', /^ARG_INVALID: checkpoint: .*c_1a2b3c4d/],
  ['../../x', /^ARG_INVALID/],
])('refuses %s', async (checkpoint, failure) => {
  const tree = await keptTree();
  await tree.id();
  expect(await failureOf(callerOf(tree)('restore_checkpoint', { checkpoint }))).toMatch(failure);
});
