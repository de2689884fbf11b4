import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { keptTree, type KeptTree } from '../../support/kept-tree.ts';
import { temporaryRepository } from '../../support/repository.ts';
import { callerWith, failureOf, session, textOf, type Caller } from './folder.ts';

const callerOf = (tree: KeptTree, ...roots: string[]): Caller =>
  callerWith(
    { ...session, history: () => Promise.resolve(tree.history) },
    ...(roots.length > 0 ? roots : [tree.folder]),
  );

/** A tree that a command changes. */
async function changedBy(command: string, change: (tree: KeptTree) => void, tree?: KeptTree) {
  const changed = tree ?? (await keptTree());
  await changed.during(command, () => change(changed));
  return { tree: changed, call: callerOf(changed) };
}

/** The lines of an answer that say what was done to which file. */
const filesIn = (text: string): string[] =>
  text.split('\n').filter((line) => /^(?:changed|made|removed) /.test(line));

it('lists edits and commands in one list, newest first, without commands that changed nothing', async () => {
  const { tree, call } = await changedBy('npm test', () => {});
  expect(textOf(await call('undo', {}))).toBe('Nothing to take back.');
  await call('write_file', { path: 'b.txt', content: 'two\n' });
  await tree.during('npm install', () => {
    tree.write('src/a.txt', 'changed');
    tree.write('c.txt', 'new');
  });
  await call('move_path', { from: 'b.txt', to: 'd.txt' });
  const listed = textOf(await call('undo', {})).split('\n');
  expect(listed.map((line) => line.replace(/^[0-9a-z]+  \S+ \S+Z  /, ''))).toEqual([
    'move b.txt -> d.txt',
    'ran npm install: 2 files',
    'write b.txt +1 -0',
    '[undo last=1 takes back the newest]',
  ]);
});

it('takes back the last changes, each in its turn, and forward again', async () => {
  const { tree, call } = await changedBy('make', (one) => one.write('src/a.txt', 'made\n'));
  await call('read_file', { path: 'src/a.txt' });
  await call('edit_file', { path: 'src/a.txt', old_string: 'made', new_string: 'edited' });
  const read = () => readFileSync(join(tree.folder, 'src/a.txt'), 'utf8');
  expect(textOf(await call('undo', { last: 2, dry_run: true }))).toMatch(/^Would take back 2 changes\n/);
  expect(read()).toBe('edited\n');
  const undone = textOf(await call('undo', { last: 1 }));
  expect(undone).toMatch(
    /^Took back edit src\/a\.txt \+1 -1 \(to redo: undo since=[\w-]+\)\nchanged src\/a\.txt\n/,
  );
  expect(read()).toBe('made\n');
  // What was taken back does not count.
  await call('undo', { last: 1 });
  expect(read()).toBe('one\ntwo\nthree\n');
  const redo = /undo since=([\w-]+)/.exec(undone)?.[1];
  await call('undo', { since: redo });
  expect(read()).toBe('edited\n');
});

it('names what was done to which file, shows it, and explains how to redo it', async () => {
  const { tree, call } = await changedBy('make', (one) => {
    one.write('src/a.txt', 'changed');
    one.write('new.txt', 'new');
    rmSync(join(one.folder, 'README.md'));
  });
  const files = ['changed src/a.txt', 'made README.md', 'removed new.txt'];
  const planned = textOf(await call('undo', { last: 1, dry_run: true }));
  expect(planned).toMatch(/^Would take back ran make: 3 files\n/);
  expect(filesIn(planned).sort()).toEqual(files);
  expect(readFileSync(join(tree.folder, 'src/a.txt'), 'utf8')).toBe('changed');
  const undone = textOf(await call('undo', { last: 1 }));
  expect(filesIn(undone).sort()).toEqual(files);
  expect(undone).toContain('-changed\n\\ No newline at end of file\n+one\n+two\n+three\n');
  await call('undo', { since: /undo since=([\w-]+)/.exec(undone)?.[1] });
  expect(readFileSync(join(tree.folder, 'new.txt'), 'utf8')).toBe('new');
  expect(readFileSync(join(tree.folder, 'src/a.txt'), 'utf8')).toBe('changed');
});

it('names a file once, however many of its changes are taken back', async () => {
  const { tree, call } = await changedBy('make', (one) => one.write('src/a.txt', 'made\n'));
  for (const [old, next] of ['made', 'second', 'third', 'fourth'].map((word, at, all) => [word, all[at + 1]]))
    if (next) await call('edit_file', { path: 'src/a.txt', old_string: old, new_string: next });
  await call('write_file', { path: 'b.txt', content: 'one\n' });
  await call('edit_file', { path: 'b.txt', old_string: 'one', new_string: 'two' });
  const text = textOf(await call('undo', { last: 5 }));
  expect(filesIn(text).sort()).toEqual(['changed src/a.txt', 'removed b.txt']);
  expect(text).toContain('-fourth\n+made\n');
  expect(readFileSync(join(tree.folder, 'src/a.txt'), 'utf8')).toBe('made\n');
});

it('takes back only the files and folders that were named, and the rest later', async () => {
  const { call } = await changedBy('make', (one) => {
    rmSync(join(one.folder, 'src'), { recursive: true });
    one.write('README.md', 'changed');
  });
  expect(filesIn(textOf(await call('undo', { last: 1, paths: ['src/a.txt'] })))).toEqual(['made src/a.txt']);
  expect(filesIn(textOf(await call('undo', { last: 1 })))).toEqual(['changed README.md']);
  expect(await failureOf(call('undo', { last: 1, paths: ['../x'] }))).toMatch(/^PATH_OUTSIDE_ROOTS/);
});

it('passes over commands that did nothing to the files that were named', async () => {
  const { tree, call } = await changedBy('make', (one) => one.write('README.md', 'first\n'));
  await changedBy('make again', (one) => one.write('src/a.txt', 'second\n'), tree);
  await call('undo', { last: 1, paths: ['README.md'] });
  expect(readFileSync(join(tree.folder, 'README.md'), 'utf8')).toBe('# Example\n\nA line.\n');
  expect(readFileSync(join(tree.folder, 'src/a.txt'), 'utf8')).toBe('second\n');
});

it('names the files that it has left, and why, and leaves what somebody has changed since', async () => {
  const { tree, call } = await changedBy('make', (one) => {
    for (const name of ['.envrc', 'README.md', 'src/a.txt']) one.write(name, 'two');
  });
  tree.write('README.md', 'by hand');
  const text = textOf(await call('undo', { last: 1 }));
  expect(text).toMatch(/\nleft \.envrc: .*is not changed from here/);
  expect(text).toMatch(/\nleft README\.md: .*changed since/);
  expect(readFileSync(join(tree.folder, 'README.md'), 'utf8')).toBe('by hand');
  expect(readFileSync(join(tree.folder, 'src/a.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
});

it('shows the first of many files, and how many there are', async () => {
  const { call } = await changedBy('make', (one) => {
    for (let n = 0; n < 150; n++) one.write(`many/${n}.txt`, '');
  });
  const text = textOf(await call('undo', { last: 1 }));
  expect(text.split(', ').filter((name) => /many\/\d+\.txt$/.test(name))).toHaveLength(5);
  expect(text).toContain(': 150 files');
  expect(text).toContain('… 150 in all');
});

it('names files as the next call can take them, where the work tree is not the first root', async () => {
  const first = temporaryRepository();
  const { tree } = await changedBy('make', (one) => one.write('src/a.txt', 'changed'));
  const text = textOf(await callerOf(tree, first.folder, tree.folder)('undo', { last: 1 }));
  expect(filesIn(text)).toEqual([`changed ${join(tree.folder, 'src/a.txt')}`]);
});

it('refuses an id that does not exist', async () => {
  const { call } = await changedBy('make', () => {});
  expect(await failureOf(call('undo', { since: '../../x' }))).toMatch(
    /^NOT_FOUND: .*there is no such change/,
  );
});
