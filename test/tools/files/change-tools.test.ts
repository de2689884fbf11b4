import { chmod, link, lstat, mkdir, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { callerFor, failureOf, put, temporaryFolder, textOf, type Caller } from './folder.ts';

/** A folder with files, and a caller that has it as its root. */
async function workspaceWith(files: Record<string, string | Buffer>) {
  const folder = await temporaryFolder();
  await put(folder, files);
  const call = callerFor(folder);
  return {
    folder,
    call,
    read: (path: string) => call('read_file', { path }),
    bytes: (path: string) => readFile(join(folder, path)),
    edit: (path: string, old: string, next: string, more: object = {}) =>
      call('edit_file', { path, old_string: old, new_string: next, ...more }),
    undo: async (change: string) => textOf(await call('undo', { since: change })),
  };
}

const changeIn = (result: Awaited<ReturnType<Caller>>): string =>
  /change ([\w-]+)/.exec(textOf(result))?.[1] ?? `no change in ${textOf(result)}`;

describe('edit_file', () => {
  it('replaces exact text, and shows a diff where the caller has not written it', async () => {
    const { read, edit, bytes } = await workspaceWith({ 'a.txt': 'one\ntwo\nthree\n' });
    await read('a.txt');
    const text = textOf(await edit('a.txt', 'two', 'zwei'));
    expect(text).toMatch(/^Edited a\.txt: \+1 -1 \(change [\w-]+\)$/);
    expect(String(await bytes('a.txt'))).toBe('one\nzwei\nthree\n');
    expect(textOf(await edit('a.txt', 'zwei  \nthree', 'drei\nthree'))).toContain('-zwei\n+drei\n three\n');
  });

  it('applies all edits or none', async () => {
    const { read, call, bytes } = await workspaceWith({ 'a.txt': 'one\ntwo\n' });
    await read('a.txt');
    const edits = [
      { path: 'a.txt', old_string: 'one', new_string: '1' },
      { path: 'a.txt', old_string: 'three', new_string: '3' },
    ];
    expect(await failureOf(call('edit_files', { edits }))).toMatch(
      /^NOT_FOUND: a\.txt: edit 2 of 2 \(none was made\)/,
    );
    expect(String(await bytes('a.txt'))).toBe('one\ntwo\n');
  });

  it('needs no reading before, and refuses once after somebody has changed the file since', async () => {
    const { folder, read, edit, bytes } = await workspaceWith({ 'a.txt': 'one\ntwo\n' });
    await edit('a.txt', 'one', '1');
    expect(String(await bytes('a.txt'))).toBe('1\ntwo\n');
    await read('a.txt');
    await writeFile(join(folder, 'a.txt'), '1\ntwo!\n');
    const failure = await failureOf(edit('a.txt', '1', 'one'));
    expect(failure).toMatch(/^STALE_FILE: a\.txt: /);
    expect(failure).toContain('-two\n+two!');
    expect(String(await bytes('a.txt'))).toBe('1\ntwo!\n');
    // Another one is not the same call.
    expect(await failureOf(edit('a.txt', '1', 'eins'))).toMatch(/^STALE_FILE/);
    await edit('a.txt', '1', 'one');
    expect(String(await bytes('a.txt'))).toBe('one\ntwo!\n');
  });

  it('accepts a file that was only touched', async () => {
    const { folder, read, edit, bytes } = await workspaceWith({ 'a.txt': 'one\n' });
    await read('a.txt');
    await writeFile(join(folder, 'a.txt'), 'one\n');
    await edit('a.txt', 'one', '1');
    expect(String(await bytes('a.txt'))).toBe('1\n');
  });

  it('only shows the diff of a dry run', async () => {
    const { read, call, bytes, folder } = await workspaceWith({ 'a.txt': 'one\n' });
    await read('a.txt');
    const edit = { old_string: 'one', new_string: '1' };
    const text = textOf(await call('edit_file', { path: 'a.txt', ...edit, dry_run: true }));
    expect(text).toMatch(/^Would edit a\.txt: \+1 -1/);
    expect(text).toContain('-one\n+1\n');
    expect(text).not.toContain('change ');
    expect(String(await bytes('a.txt'))).toBe('one\n');
    expect(await readdir(folder)).toEqual(['a.txt']);
  });

  it('keeps the mode, and follows a link to the file that it names', async () => {
    const { folder, read, edit } = await workspaceWith({ 'real/a.sh': '#!/bin/sh\necho one\n' });
    await chmod(join(folder, 'real/a.sh'), 0o751);
    await symlink('real/a.sh', join(folder, 'link'));
    await read('link');
    await edit('link', 'one', 'two');
    expect((await lstat(join(folder, 'link'))).isSymbolicLink()).toBe(true);
    expect((await stat(join(folder, 'real/a.sh'))).mode & 0o777).toBe(0o751);
    expect(await readFile(join(folder, 'real/a.sh'), 'utf8')).toContain('two');
  });

  it('reports a hard link, whose other name keeps the old content', async () => {
    const { folder, read, edit, undo, bytes } = await workspaceWith({ 'a.txt': 'one\n' });
    await link(join(folder, 'a.txt'), join(folder, 'b.txt'));
    await read('a.txt');
    const result = await edit('a.txt', 'one', 'two');
    expect(textOf(result)).toMatch(/hard link/);
    expect(await readFile(join(folder, 'b.txt'), 'utf8')).toBe('one\n');
    await writeFile(join(folder, 'b.txt'), 'changed in its place\n');
    await undo(changeIn(result));
    expect(String(await bytes('a.txt'))).toBe('one\n');
    // A file that has been edited has no more names than before.
    expect((await stat(join(folder, 'a.txt'))).nlink).toBe(1);
  });
});

describe('write_file', () => {
  it('makes a file and its folders, without reading first', async () => {
    const { call, bytes } = await workspaceWith({});
    const text = textOf(await call('write_file', { path: 'src/deep/a.txt', content: 'hello\n' }));
    expect(text).toMatch(/^Wrote src\/deep\/a\.txt, a new file: \+1 -0 \(change [\w-]+\)$/);
    expect(String(await bytes('src/deep/a.txt'))).toBe('hello\n');
  });

  it('makes nothing in a dry run, not even folders', async () => {
    const { call, folder } = await workspaceWith({});
    const text = textOf(
      await call('write_file', { path: 'src/deep/a.txt', content: 'hello\n', dry_run: true }),
    );
    expect(text).toMatch(/^Would write src\/deep\/a\.txt, a new file: \+1 -0/);
    expect(await readdir(folder)).toEqual([]);
  });

  it('refuses once to replace what was not read, and shows what is there', async () => {
    const { call, bytes } = await workspaceWith({ 'a.txt': 'one\n', 'b.txt': 'bee\n' });
    const write = (content: string, path = 'a.txt') => call('write_file', { path, content });
    expect(await failureOf(write('two\n'))).toMatch(
      /^NOT_READ: a\.txt: is there already, and was not shown\. It has 4 bytes:\none\n The same call again/,
    );
    // Neither other content nor another file is the same call.
    expect(await failureOf(write('three\n'))).toMatch(/^NOT_READ/);
    expect(await failureOf(write('two\n', 'b.txt'))).toMatch(/^NOT_READ/);
    expect(String(await bytes('a.txt'))).toBe('one\n');
    await write('two\n');
    expect(String(await bytes('a.txt'))).toBe('two\n');
  });

  it('refuses once more when the shown content has changed again', async () => {
    const { folder, call, read, bytes } = await workspaceWith({ 'a.txt': 'one\n' });
    const write = () => call('write_file', { path: 'a.txt', content: 'mine\n' });
    await read('a.txt');
    await writeFile(join(folder, 'a.txt'), 'two\n');
    expect(await failureOf(write())).toMatch(/^STALE_FILE: [^]*-one\n\+two/);
    await writeFile(join(folder, 'a.txt'), 'three\n');
    expect(await failureOf(write())).toMatch(/^STALE_FILE: [^]*-one\n\+three/);
    await write();
    expect(String(await bytes('a.txt'))).toBe('mine\n');
  });

  it('writes nothing when the content is there already', async () => {
    const { call, read, folder } = await workspaceWith({ 'a.txt': 'one\n' });
    await read('a.txt');
    const { ino } = await stat(join(folder, 'a.txt'));
    expect(textOf(await call('write_file', { path: 'a.txt', content: 'one\n' }))).toMatch(
      /nothing was written/,
    );
    expect((await stat(join(folder, 'a.txt'))).ino).toBe(ino);
  });

  it('refuses to write to a folder', async () => {
    const { call, folder } = await workspaceWith({});
    await mkdir(join(folder, 'src'));
    expect(await failureOf(call('write_file', { path: 'src', content: 'x' }))).toMatch(/^PATH_NOT_REGULAR/);
  });
});

describe('undo', () => {
  it.each(['b.txt', 'sub'])(
    'takes a deletion of %s back and forth, as often as it is asked',
    async (path) => {
      const { call, undo, bytes } = await workspaceWith({ 'b.txt': 'bee\n', 'sub/c.txt': 'sea\n' });
      const file = path === 'sub' ? 'sub/c.txt' : path;
      const deleted = changeIn(await call('delete_path', { path }));
      for (let round = 0; round < 3; round++) {
        const undone = textOf(await call('undo', { last: 1 }));
        expect(String(await bytes(file))).toMatch(/^(bee|sea)\n$/);
        const redone = await undo(/to redo: undo since=([\w-]+)/.exec(undone)?.[1] ?? '');
        expect(await failureOf(call('read_file', { path: file }))).toMatch(/^PATH_NOT_FOUND/);
        expect(redone).toMatch(/to redo: undo since=/);
      }
      expect(textOf(await call('undo', {}))).toContain(deleted);
    },
  );

  it('refuses when the file has changed since', async () => {
    const { folder, read, edit, call, bytes } = await workspaceWith({ 'a.txt': 'one\n' });
    await read('a.txt');
    await edit('a.txt', 'one', 'two');
    await writeFile(join(folder, 'a.txt'), 'three\n');
    expect(await failureOf(call('undo', { last: 1 }))).toMatch(
      /^STALE_FILE: .*a\.txt: it has been changed since/,
    );
    expect(String(await bytes('a.txt'))).toBe('three\n');
  });

  it('knows nothing of changes in other folders', async () => {
    const one = await workspaceWith({});
    const two = await workspaceWith({});
    const change = changeIn(await one.call('write_file', { path: 'a.txt', content: 'x\n' }));
    expect(await failureOf(two.call('undo', { since: change }))).toMatch(/^NOT_FOUND/);
    expect(textOf(await two.call('undo', {}))).toBe('Nothing to take back.');
    expect(textOf(await one.call('undo', {}))).toContain(change);
  });
});

describe('move_path and delete_path', () => {
  it('moves a file and back, but never over another', async () => {
    const { call, undo, folder } = await workspaceWith({ 'a.txt': 'a', 'b.txt': 'b' });
    expect(await failureOf(call('move_path', { from: 'a.txt', to: 'b.txt' }))).toMatch(/^PATH_EXISTS/);
    const change = changeIn(await call('move_path', { from: 'a.txt', to: 'sub/c.txt' }));
    expect(await readFile(join(folder, 'sub/c.txt'), 'utf8')).toBe('a');
    expect(await readdir(folder)).toEqual(['b.txt', 'sub']);
    await undo(change);
    expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe('a');
  });

  it('deletes a folder with all that is in it, links as links, and brings it back', async () => {
    const { call, undo, folder } = await workspaceWith({
      'keep.txt': 'k',
      'old/a.txt': 'a',
      'old/deep/b.txt': 'b',
    });
    await symlink('../keep.txt', join(folder, 'old/link'));
    const text = textOf(await call('delete_path', { path: 'old' }));
    expect(text).toMatch(/^Deleted old, a folder with 4 entries/);
    expect(await readdir(folder)).toEqual(['keep.txt']);
    await undo(/change ([\w-]+)/.exec(text)?.[1] ?? '');
    expect(await readFile(join(folder, 'old/deep/b.txt'), 'utf8')).toBe('b');
    expect((await lstat(join(folder, 'old/link'))).isSymbolicLink()).toBe(true);
  });

  it('does not delete a folder that holds a repository', async () => {
    const { call } = await workspaceWith({ 'sub/.git/HEAD': 'ref: refs/heads/main\n' });
    expect(await failureOf(call('delete_path', { path: 'sub' }))).toMatch(/^PATH_PROTECTED/);
  });

  it('only reports the change in a dry run', async () => {
    const { call, folder } = await workspaceWith({ 'a.txt': 'a\n' });
    expect(textOf(await call('delete_path', { path: 'a.txt', dry_run: true }))).toMatch(
      /^Would delete a\.txt/,
    );
    expect(textOf(await call('move_path', { from: 'a.txt', to: 'b.txt', dry_run: true }))).toMatch(
      /^Would move/,
    );
    expect(await readdir(folder)).toEqual(['a.txt']);
  });
});

it('edits files of all sizes one after the other and at once, in shared memory', async () => {
  const { call, read, edit, bytes } = await workspaceWith({});
  const sizes = [1_500_000, 10, 70_000, 1_000_000, 300];
  const contentOf = (size: number, word: string) => `${'x'.repeat(size)} ${word}\n${'y'.repeat(size)}\n`;
  for (const [index, size] of sizes.entries())
    await call('write_file', { path: `${index}.txt`, content: contentOf(size, 'one') });
  for (const [from, to] of [
    ['one', 'two'],
    ['two', 'three'],
  ] as const)
    await Promise.all(sizes.map((_, index) => edit(`${index}.txt`, `x ${from}`, `x ${to}`)));
  for (const [index, size] of sizes.entries()) {
    await read(`${index}.txt`);
    expect(String(await bytes(`${index}.txt`)) === contentOf(size, 'three')).toBe(true);
  }
});
