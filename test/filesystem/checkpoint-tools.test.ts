import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { keptTree, type KeptTree } from '../machine/kept-trees.ts';
import { temporaryRepository } from '../support/repository.ts';
import { callerWith, failureOf, services, type Caller } from './folder.ts';

const callerOf = (tree: KeptTree, ...roots: string[]): Caller =>
  callerWith(
    { ...services, checkpoints: () => Promise.resolve(tree.checkpoints) },
    ...(roots.length > 0 ? roots : [tree.folder]),
  );

it('lists checkpoints, newest first, with the action each was taken before', async () => {
  const tree = await keptTree();
  const call = callerOf(tree);
  expect((await call('list_checkpoints', {})).data).toEqual({ checkpoints: [], total: 0 });
  await tree.take('npm_test');
  tree.write('src/a.txt', 'changed');
  await tree.take('git_reset_hard');
  const { data } = await call('list_checkpoints', {});
  expect(data).toMatchObject({
    checkpoints: [
      { before: 'git_reset_hard', folder: tree.folder },
      { before: 'npm_test', folder: tree.folder },
    ],
    total: 2,
  });
  const { data: one } = await call('list_checkpoints', { limit: 1 });
  expect(one).toMatchObject({ checkpoints: [{ before: 'git_reset_hard' }], total: 2 });
});

it('restores a checkpoint, says what was done to which file, and how to undo it', async () => {
  const tree = await keptTree();
  const call = callerOf(tree);
  const checkpoint = await tree.id();
  tree.write('src/a.txt', 'changed');
  tree.write('new.txt', 'new');
  rmSync(join(tree.folder, 'README.md'));

  const files = [
    { path: 'README.md', done: 'made' },
    { path: 'new.txt', done: 'removed' },
    { path: 'src/a.txt', done: 'changed' },
  ];
  const inOrder = (data: unknown) =>
    (data as { files: { path: string }[] }).files.toSorted((a, b) => (a.path < b.path ? -1 : 1));

  const { data: planned } = await call('restore_checkpoint', { checkpoint, dry_run: true });
  expect(inOrder(planned)).toEqual(files);
  expect(readFileSync(join(tree.folder, 'src/a.txt'), 'utf8')).toBe('changed');

  const { data } = await call('restore_checkpoint', { checkpoint });
  expect(inOrder(data)).toEqual(files);
  expect(readFileSync(join(tree.folder, 'src/a.txt'), 'utf8')).toBe('one\ntwo\nthree\n');

  await call('restore_checkpoint', { checkpoint: (data as { undo: string }).undo });
  expect(readFileSync(join(tree.folder, 'new.txt'), 'utf8')).toBe('new');
  expect(readFileSync(join(tree.folder, 'src/a.txt'), 'utf8')).toBe('changed');
});

it('restores only the files and folders that were named', async () => {
  const tree = await keptTree();
  const call = callerOf(tree);
  const checkpoint = await tree.id();
  rmSync(join(tree.folder, 'src'), { recursive: true });
  tree.write('README.md', 'changed');
  const { data } = await call('restore_checkpoint', { checkpoint, paths: ['src/a.txt'] });
  expect(data).toMatchObject({ files: [{ path: 'src/a.txt', done: 'made' }], total: 1 });
  expect(await failureOf(call('restore_checkpoint', { checkpoint, paths: ['../x'] }))).toMatch(
    /^PATH_OUTSIDE_ROOTS/,
  );
});

it('does nothing when nothing has changed', async () => {
  const tree = await keptTree();
  const checkpoint = await tree.id();
  const { data } = await callerOf(tree)('restore_checkpoint', { checkpoint });
  expect(data).toEqual({ undo: checkpoint, files: [], total: 0 });
});

it('tells the files it has left, and why', async () => {
  const tree = await keptTree();
  tree.write('.envrc', 'one');
  const checkpoint = await tree.id();
  tree.write('.envrc', 'two');
  const { data } = await callerOf(tree)('restore_checkpoint', { checkpoint });
  expect(data).toMatchObject({
    files: [],
    total: 0,
    left: [{ path: '.envrc', why: expect.stringContaining('is never changed from here') }],
    left_total: 1,
  });
});

it('shows the first hundred of many files, and how many there are', async () => {
  const tree = await keptTree();
  const checkpoint = await tree.id();
  for (let n = 0; n < 150; n++) tree.write(`many/${n}.txt`, '');
  const { data } = await callerOf(tree)('restore_checkpoint', { checkpoint });
  expect((data as { files: unknown[] }).files).toHaveLength(100);
  expect(data).toMatchObject({ total: 150 });
});

it('names files as the next call can take them, where the work tree is not the first root', async () => {
  const first = temporaryRepository();
  const tree = await keptTree();
  const call = callerOf(tree, first.folder, tree.folder);
  const checkpoint = await tree.id();
  tree.write('src/a.txt', 'changed');
  const { data } = await call('restore_checkpoint', { checkpoint });
  expect(data).toMatchObject({ files: [{ path: join(tree.folder, 'src/a.txt') }] });
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
