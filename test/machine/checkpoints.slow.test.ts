import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryName } from '../../src/machine/history/entry.ts';
import { openWorkspace } from '../../src/machine/paths/workspace.ts';
import { findGit } from './find-git.ts';
import { temporaryFolder, temporaryRepository } from '../support/repository.ts';
import { contentOf, keptTree } from '../support/kept-tree.ts';

const { signal } = new AbortController();
const posix = process.platform !== 'win32';

/** The one shadow repository in a state folder. */
function shadowIn(state: string): string {
  const names = readdirSync(join(state, 'checkpoints')).filter((name) => !name.startsWith('.'));
  expect(names).toHaveLength(1);
  return join(state, 'checkpoints', names[0]!);
}

describe('taking a checkpoint', () => {
  it('makes none outside a work tree, and reports nothing', async () => {
    const folder = temporaryFolder();
    const tree = await keptTree();
    const workspace = await openWorkspace([folder]);
    expect(await tree.checkpoints.take(folder, 'x', workspace, signal)).toBe(undefined);
    mkdirSync(join(folder, '.git'));
    expect(await tree.checkpoints.take(folder, 'x', workspace, signal)).toBe(undefined);
  });

  it('keeps nothing of a work tree that begins outside the roots but what is inside', async () => {
    const repository = temporaryRepository();
    repository.write('secret.txt', 'outside');
    repository.write('.gitignore', 'logs/\n');
    repository.write('src/logs/a.log', 'ignored by the file above the root');
    const tree = await keptTree({ repository, roots: [join(repository.folder, 'src')] });
    const id = await tree.id();
    repository.write('secret.txt', 'changed');
    repository.write('src/a.txt', 'changed');
    const { done } = await tree.restore(id);
    expect(done.map(({ name }) => name)).toEqual(['src/a.txt']);
    expect(readFileSync(join(repository.folder, 'src/a.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
    expect(readFileSync(join(repository.folder, 'secret.txt'), 'utf8')).toBe('changed');
    const shadow = shadowIn(tree.state);
    const kept = execFileSync('git', ['--git-dir', shadow, 'cat-file', '--batch-all-objects', '--batch'], {
      encoding: 'utf8',
    });
    expect(kept).toContain('one\ntwo');
    expect(kept).not.toContain('outside');
    expect(kept).not.toContain('ignored by');
  });

  it('leaves out what is ignored, by the project or on this machine alone', async () => {
    const tree = await keptTree();
    tree.write('.gitignore', '*.log\n');
    tree.write('.git/info/exclude', 'mine.txt\n');
    const id = await tree.id();
    tree.write('a.log', 'x');
    tree.write('mine.txt', 'x');
    tree.write('src/a.txt', 'x');
    expect((await tree.restore(id)).done.map(({ name }) => name)).toEqual(['src/a.txt']);
    expect(existsSync(join(tree.folder, 'a.log'))).toBe(true);
  });

  it('does not enter repositories inside', async () => {
    const tree = await keptTree();
    const inner = temporaryRepository(join(tree.folder, 'vendor', 'inner'));
    const id = await tree.id();
    inner.write('README.md', 'changed');
    inner.write('new.txt', 'new');
    tree.write('src/a.txt', 'x');
    expect((await tree.restore(id)).done.map(({ name }) => name)).toEqual(['src/a.txt']);
    expect(readFileSync(join(inner.folder, 'README.md'), 'utf8')).toBe('changed');
  });

  it('makes one checkpoint for calls that come together', async () => {
    const tree = await keptTree();
    const ids = await Promise.all(Array.from({ length: 16 }, () => tree.id()));
    expect(readdirSync(join(shadowIn(tree.state), 'refs', 'checkpoints'))).toHaveLength(1);
    tree.write('src/a.txt', 'spoilt');
    expect((await tree.restore(ids[0]!)).done).toHaveLength(1);
  });

  it('lets two servers make theirs at the same time', async () => {
    const tree = await keptTree();
    const another = await keptTree({ folder: tree.state, repository: tree });
    for (let round = 0; round < 5; round++) {
      tree.write('src/a.txt', `round ${round}`);
      const ids = await Promise.all([tree.id(), another.id()]);
      tree.write('src/a.txt', 'spoilt');
      await Promise.all([tree.end(), another.end()]);
      await (round % 2 ? tree : another).restore(ids.toSorted()[0]!);
      expect(readFileSync(join(tree.folder, 'src/a.txt'), 'utf8')).toBe(`round ${round}`);
    }
  });

  it('ends at once for a call that is cancelled', async () => {
    const tree = await keptTree();
    const cancelled = AbortSignal.abort();
    const workspace = await openWorkspace([tree.folder]);
    expect(await tree.checkpoints.take(tree.folder, 'x', workspace, cancelled)).toBe(undefined);
    expect(existsSync(tree.state)).toBe(false);
  });

  it.runIf(posix)('writes only where nobody else can look', async () => {
    const tree = await keptTree();
    await tree.id();
    for (const folder of [tree.state, join(tree.state, 'checkpoints'), shadowIn(tree.state)])
      expect(lstatSync(folder).mode & 0o777).toBe(0o700);
  });

  it.runIf(posix)('uses no state folder that somebody else has brought, and reads none', async () => {
    const tree = await keptTree();
    const id = await tree.id();
    // As in a clone: git makes no folder that is closed to others.
    chmodSync(shadowIn(tree.state), 0o755);
    expect(await tree.take()).toMatch(/^no undo of this: .* is not a folder of this user alone$/);
    await expect(tree.restore(id)).rejects.toThrow('no longer kept');
  });
});

it('is ready with the first complete state, for paths that the next one would bring back', async () => {
  const tree = await keptTree();
  const { workspace } = tree;
  const isReady = (...names: string[]) => tree.checkpoints.isReady(tree.folder, names, workspace);
  tree.write('.gitignore', '*.log\n');
  tree.write('.git/info/exclude', 'mine.txt\n');
  for (const name of ['a.log', 'mine.txt', '.envrc', 'huge.bin']) tree.write(name, 'x');
  truncateSync(join(tree.folder, 'huge.bin'), 1024 ** 3);
  temporaryRepository(join(tree.folder, 'vendor', 'inner'));
  expect(await isReady('src/a.txt')).toBe(false);
  tree.checkpoints.begin(tree.folder, workspace);
  await expect.poll(() => isReady('src/a.txt')).toBe(true);
  expect(await isReady('src/a.txt', 'README.md', 'src/gone/b.txt')).toBe(true);
  const lost = ['a.log', 'mine.txt', '.envrc', 'src', 'huge.bin', 'vendor/inner/README.md', 'src/a.txt/x'];
  for (const name of lost) expect([name, await isReady('src/a.txt', name)]).toEqual([name, false]);
});

it('leaves out a sparse file of 30 GB, reports so, and keeps the rest', async () => {
  const tree = await keptTree();
  tree.write('huge.log', '');
  truncateSync(join(tree.folder, 'huge.log'), 30 * 1024 ** 3);
  const said = await tree.take();
  expect(said).toBe('undo would not bring back 1 too large or not readable: "huge.log"');
  for (const content of ['one', 'two']) {
    tree.write('src/a.txt', content);
    const id = await tree.id();
    tree.write('src/a.txt', 'spoilt');
    expect((await tree.restore(id)).left).toEqual([]);
    expect(readFileSync(join(tree.folder, 'src/a.txt'), 'utf8')).toBe(content);
  }
  expect(lstatSync(join(tree.folder, 'huge.log')).size).toBe(30 * 1024 ** 3);
});

it('reports once that the first state is not complete, and waits for it only once', async () => {
  let go = () => {};
  const wait = new Promise<void>((resolve) => {
    go = resolve;
  });
  const { git } = { git: () => wait.then(() => ({ program: findGit(), leading: [], env: {} })) };
  const tree = await keptTree({ git });
  expect(await tree.take()).toMatch(/^no undo of this: the first state of .* is still being kept$/);
  expect(await tree.take()).toBe(undefined);
  go();
  await expect.poll(() => tree.checkpoints.isReady(tree.folder, [], tree.workspace)).toBe(true);
});

describe('restoring a checkpoint', () => {
  it('brings back what was changed and deleted, and removes what was made', async () => {
    const tree = await keptTree();
    tree.write('deep/er/file.txt', 'deep');
    tree.write('empty.txt', '');
    const before = await contentOf(tree.folder);
    const id = await tree.id();

    tree.write('src/a.txt', 'changed');
    rmSync(join(tree.folder, 'deep'), { recursive: true });
    rmSync(join(tree.folder, 'empty.txt'));
    tree.write('made/since/then.txt', 'new');
    const { done, left } = await tree.restore(id);

    expect(left).toEqual([]);
    expect(done.map(({ name }) => name).sort()).toEqual([
      'deep/er/file.txt',
      'empty.txt',
      'made/since/then.txt',
      'src/a.txt',
    ]);
    expect(await contentOf(tree.folder)).toEqual(before);
    expect(existsSync(join(tree.folder, 'made'))).toBe(false);
  });

  it('changes nothing about the repository: branch, index, history, configuration', async () => {
    const tree = await keptTree();
    const id = await tree.id();
    tree.write('src/a.txt', 'staged');
    tree.git('add', '.');
    tree.write('src/a.txt', 'changed');
    const looks = () => [
      tree.git('rev-parse', 'HEAD'),
      tree.git('ls-files', '--stage'),
      tree.git('for-each-ref'),
      readFileSync(join(tree.folder, '.git', 'config'), 'utf8'),
    ];
    const before = looks();
    await tree.restore(id);
    expect(looks()).toEqual(before);
  });

  it.runIf(posix)('brings back links, permissions to run, and what changed its kind', async () => {
    const tree = await keptTree();
    tree.write('run.sh', '#!/bin/sh\n');
    chmodSync(join(tree.folder, 'run.sh'), 0o755);
    symlinkSync('src/a.txt', join(tree.folder, 'link'));
    symlinkSync('/nowhere/at/all', join(tree.folder, 'dangling'));
    symlinkSync('loop', join(tree.folder, 'loop'));
    tree.write('file-then-folder', 'a file');
    tree.write('folder-then-file/inner.txt', 'inner');
    tree.write('folder-then-link/inner.txt', 'inner');
    const before = await contentOf(tree.folder);
    const id = await tree.id();

    chmodSync(join(tree.folder, 'run.sh'), 0o644);
    rmSync(join(tree.folder, 'link'));
    tree.write('link', 'a file now');
    rmSync(join(tree.folder, 'dangling'));
    symlinkSync('README.md', join(tree.folder, 'dangling'));
    rmSync(join(tree.folder, 'loop'));
    rmSync(join(tree.folder, 'file-then-folder'));
    tree.write('file-then-folder/with/a.txt', 'a folder now');
    rmSync(join(tree.folder, 'folder-then-file'), { recursive: true });
    tree.write('folder-then-file', 'a file now');
    rmSync(join(tree.folder, 'folder-then-link'), { recursive: true });
    symlinkSync('src', join(tree.folder, 'folder-then-link'));
    const changed = await contentOf(tree.folder);

    const { undo, left } = await tree.restore(id);
    expect(left).toEqual([]);
    expect(await contentOf(tree.folder)).toEqual(before);
    expect((await tree.restore(undo)).left).toEqual([]);
    expect(await contentOf(tree.folder)).toEqual(changed);
  });

  it.runIf(posix)('keeps the other permissions of a file', async () => {
    const tree = await keptTree();
    tree.write('private.txt', 'one');
    chmodSync(join(tree.folder, 'private.txt'), 0o600);
    const id = await tree.id();
    writeFileSync(join(tree.folder, 'private.txt'), 'two');
    await tree.restore(id);
    expect(readFileSync(join(tree.folder, 'private.txt'), 'utf8')).toBe('one');
    expect(lstatSync(join(tree.folder, 'private.txt')).mode & 0o777).toBe(0o600);
  });

  it.runIf(posix)('does not open to others what was closed to them, when it was deleted', async () => {
    const tree = await keptTree();
    for (const [name, mode] of [
      ['secret.env', 0o600],
      ['key.sh', 0o700],
      ['open.txt', 0o644],
    ] as const)
      chmodSync(tree.write(name, name), mode);
    const modes = () => {
      const all = ['secret.env', 'key.sh', 'open.txt'].map((name) => lstatSync(join(tree.folder, name)).mode);
      return all.map((mode) => (mode & 0o777).toString(8));
    };
    const [, , open] = modes();
    const id = await tree.id();
    for (const name of ['secret.env', 'key.sh', 'open.txt']) rmSync(join(tree.folder, name));
    await tree.end();
    // Another server knows it too, after the index has been read anew.
    const another = await keptTree({ folder: tree.state, repository: tree });
    expect((await another.restore(id)).left).toEqual([]);
    expect(modes()).toEqual(['600', '700', open]);
  });

  it.runIf(posix)('does not bring back a link that makes other files run', async () => {
    const tree = await keptTree();
    tree.write('x/keep', '1');
    symlinkSync('x', join(tree.folder, '.claude'));
    symlinkSync('x', join(tree.folder, 'plain'));
    const id = await tree.id();
    rmSync(join(tree.folder, '.claude'));
    rmSync(join(tree.folder, 'plain'));
    for (const dryRun of [true, false]) {
      const { done, left } = await tree.restore(id, [], dryRun);
      expect(done.map(({ name }) => name)).toEqual(['plain']);
      expect(left).toMatchObject([
        { name: '.claude', why: expect.stringContaining('as a link it could lead to files that are run') },
      ]);
    }
    expect(readdirSync(tree.folder)).not.toContain('.claude');
  });

  it('leaves ignored files beside what it brings back', async () => {
    const tree = await keptTree();
    tree.write('.gitignore', 'cache/\n');
    const id = await tree.id();
    rmSync(join(tree.folder, 'src'), { recursive: true });
    tree.write('src/cache/x', 'ignored');
    tree.write('src/new.txt', 'new');
    expect((await tree.restore(id)).left).toEqual([]);
    expect(await contentOf(join(tree.folder, 'src'))).toEqual({
      'a.txt': '- one\ntwo\nthree\n',
      'cache/x': '- ignored',
    });
  });

  it('does not replace a folder that still holds ignored files', async () => {
    const tree = await keptTree();
    tree.write('.gitignore', 'ignored.txt\n');
    tree.write('thing', 'a file');
    const id = await tree.id();
    rmSync(join(tree.folder, 'thing'));
    tree.write('thing/ignored.txt', 'keep me');
    const { left } = await tree.restore(id);
    expect(left).toMatchObject([{ name: 'thing', why: expect.stringContaining('changed since') }]);
    expect(readFileSync(join(tree.folder, 'thing/ignored.txt'), 'utf8')).toBe('keep me');
  });

  it('leaves nothing behind in the project or the shadow', async () => {
    const tree = await keptTree();
    const id = await tree.id();
    for (let n = 0; n < 30; n++) tree.write(`n/${n}.txt`, String(n));
    const { undo } = await tree.restore(id);
    await tree.restore(undo);
    expect(Object.keys(await contentOf(tree.folder)).filter((name) => name.includes('toolcrib'))).toEqual([]);
    expect(readdirSync(shadowIn(tree.state)).filter((name) => name.startsWith('staged'))).toEqual([]);
  });
});

describe('the repository of checkpoints', () => {
  it.each([
    ['its index is cut short', (shadow: string) => truncateSync(join(shadow, indexOf(shadow)), 40)],
    ['its objects are gone', (shadow: string) => emptyFolder(join(shadow, 'objects'))],
    ['it is no repository any more', (shadow: string) => rmSync(join(shadow, 'HEAD'))],
    ['what says where to go on is damaged', (shadow: string) => writeFileSync(join(shadow, 'current'), '{')],
  ])('goes on being used when %s', async (_what, damage) => {
    const tree = await keptTree();
    await tree.id();
    damage(shadowIn(tree.state));
    tree.write('src/a.txt', 'changed');
    tree.write('src/b.txt', 'new');
    const id = await tree.id();
    tree.write('src/a.txt', 'spoilt');
    rmSync(join(tree.folder, 'README.md'));
    const { left } = await tree.restore(id);
    expect(left).toEqual([]);
    expect(await contentOf(tree.folder)).toMatchObject({
      'src/a.txt': '- changed',
      'src/b.txt': '- new',
      'README.md': '- # Example\n\nA line.\n',
    });
  });

  it('leaves out files that toolcrib is just writing', async () => {
    const tree = await keptTree();
    const id = await tree.id();
    tree.write(`src/${temporaryName()}`, 'half a file');
    tree.write('src/a.txt', 'changed');
    expect((await tree.restore(id)).done.map(({ name }) => name)).toEqual(['src/a.txt']);
  });

  it('keeps the states of a folder inside the work tree out of it', async () => {
    const repository = temporaryRepository();
    const tree = await keptTree({ repository, folder: join(repository.folder, 'home', 'toolcrib') });
    const id = await tree.id();
    repository.write('src/a.txt', 'changed');
    const { done } = await tree.restore(id);
    expect(done.map(({ name }) => name)).toEqual(['src/a.txt']);
  });

  it('notices a change that leaves size and time as they were', async () => {
    const tree = await keptTree();
    const path = tree.write('same.txt', 'aaaa');
    const time = new Date(Date.now() - 60_000);
    utimesSync(path, time, time);
    const id = await tree.id();
    writeFileSync(`${path}.new`, 'bbbb');
    utimesSync(`${path}.new`, time, time);
    renameSync(`${path}.new`, path);
    expect((await tree.restore(id)).done.map(({ name }) => name)).toEqual(['same.txt']);
  });
});

function indexOf(shadow: string): string {
  return readFileSync(join(shadow, 'current'), 'utf8');
}

function emptyFolder(folder: string): void {
  rmSync(folder, { recursive: true });
  mkdirSync(join(folder, 'pack'), { recursive: true });
}
