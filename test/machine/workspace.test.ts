import { realpathSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { isOwn } from '../../src/machine/paths/protected-paths.ts';
import { openWorkspace, type RootedWorkspace } from '../../src/machine/paths/workspace.ts';
import { failureOf, put, temporaryFolder } from '../tools/files/folder.ts';
import { processorMs } from '../support/processor-ms.ts';

let top: string;
let root: string;
let workspace: RootedWorkspace;

beforeAll(async () => {
  top = await temporaryFolder();
  root = join(top, 'app');
  await put(top, {
    'app/a.txt': 'a',
    'app/deep/b.txt': 'b',
    'app/ spaced ': 'blanks',
    'app/~/tilde.txt': 'tilde',
    'second/c.txt': 'c',
    'outside/secret.txt': 'secret',
  });
  await symlink('deep', join(root, 'to-deep'));
  await symlink('deep/b.txt', join(root, 'to-b'));
  await symlink('nowhere', join(root, 'dangling'));
  await symlink('../outside/new.txt', join(root, 'dangling-out'));
  await symlink(root, join(top, 'to-app'));
  workspace = await openWorkspace([root, join(top, 'second')]);
});

async function contentOf(path: string, from?: string): Promise<string> {
  const { handle } = await workspace.open('file', path, from === undefined ? {} : { from });
  try {
    return (await handle.read(0, 1024 * 1024)).toString('utf8');
  } finally {
    await handle.close();
  }
}

describe('opening a path', () => {
  it('starts relative paths at the first root, or at a folder that is named', async () => {
    expect(workspace.home).toBe(root);
    expect(await contentOf('a.txt')).toBe('a');
    expect(await contentOf('b.txt', join(root, 'deep'))).toBe('b');
    expect(await contentOf('../a.txt', join(root, 'deep'))).toBe('a');
  });

  it('takes names as they are: blanks are not trimmed and only a leading ~/ is expanded', async () => {
    expect(await contentOf(' spaced ')).toBe('blanks');
    expect(await contentOf('./~/tilde.txt')).toBe('tilde');
    expect(await failureOf(workspace.open('file', 'spaced'))).toMatch(/^PATH_NOT_FOUND/);
    const home = await openWorkspace(['~/second'], { home: top });
    expect(home.roots).toEqual([join(top, 'second')]);
    expect(await home.resolve('~/second/c.txt')).toBe(join(top, 'second', 'c.txt'));
  });
});

describe('resolving a path', () => {
  it('follows every link but the last', async () => {
    expect(await workspace.resolve('to-deep/b.txt')).toBe(join(root, 'deep', 'b.txt'));
    expect(await workspace.resolve('to-b')).toBe(join(root, 'to-b'));
    expect(await workspace.resolve('to-deep/')).toBe(join(root, 'deep'));
    expect(await workspace.resolve('to-deep/.')).toBe(join(root, 'deep'));
    expect(await workspace.resolve('.')).toBe(root);
  });

  it('takes `..` from where a link leads, as the system does', async () => {
    await mkdir(join(root, 'deep', 'deeper'), { recursive: true });
    await symlink('deep/deeper', join(root, 'to-deeper'));
    expect(await workspace.resolve('to-deeper/../b.txt', { mustExist: true })).toBe(
      join(root, 'deep', 'b.txt'),
    );
    expect(await contentOf('to-deeper/../b.txt')).toBe('b');
  });

  it('names where something would come to be', async () => {
    expect(await workspace.resolve('to-deep/new/file.txt')).toBe(join(root, 'deep', 'new', 'file.txt'));
    expect(await workspace.resolve('dangling')).toBe(join(root, 'dangling'));
    expect(await failureOf(workspace.resolve('deep/new', { mustExist: true }))).toBe(
      'PATH_NOT_FOUND: deep/new: does not exist. list_files finds files by part of their name.',
    );
    expect(await failureOf(workspace.resolve('a.txt/x'))).toMatch(/^PATH_NOT_FOUND.*not a folder/);
    expect(await failureOf(workspace.resolve('missing/../a.txt'))).toMatch(/^PATH_NOT_FOUND/);
  });

  it('checks the kind of what a link leads to', async () => {
    expect(await workspace.resolve('to-deep', { kind: 'folder' })).toBe(join(root, 'to-deep'));
    expect(await failureOf(workspace.resolve('to-deep', { kind: 'file' }))).toMatch(
      /^PATH_NOT_REGULAR: to-deep: is a folder/,
    );
    expect(await workspace.resolve('new.txt', { kind: 'file' })).toBe(join(root, 'new.txt'));
  });

  it('does not reveal what exists outside', async () => {
    const there = await failureOf(workspace.resolve('../outside/secret.txt', { mustExist: true }));
    const notThere = await failureOf(workspace.resolve('../outside/secrex.txt', { mustExist: true }));
    expect(notThere).toBe(there.replace('secret', 'secrex'));
    expect(await failureOf(workspace.resolve('dangling-out'))).toMatch(/^PATH_OUTSIDE_ROOTS/);
  });
});

describe('long paths', () => {
  /** The error of a call, which must not have taken long. */
  async function soon(call: () => Promise<unknown>): Promise<string> {
    const started = process.cpuUsage();
    const failure = await failureOf(call());
    expect(processorMs(started)).toBeLessThan(20_000);
    return failure;
  }

  it('lead nowhere soon, however deep the folders are and however many steps are missing', async () => {
    const deep = Array.from({ length: 200 }, () => 'd').join('/');
    await mkdir(join(root, 'abyss', deep), { recursive: true });
    await writeFile(join(root, 'abyss', deep, 'file'), 'found');
    expect(await contentOf(`abyss/${deep}/file`)).toBe('found');
    const missing = `abyss/${deep}/${'e/'.repeat(1000)}x`;
    expect(await soon(() => workspace.open('file', missing))).toMatch(/^PATH_NOT_FOUND/);
    expect(await workspace.resolve(missing)).toBe(join(root, missing));
  });

  it('are followed through a link to nothing with much behind it', async () => {
    const more = Array.from({ length: 20 }, (_, index) => `n${index}`).join('/');
    expect(await workspace.resolve(`dangling/${more}`)).toBe(join(root, 'nowhere', more));
    expect(await failureOf(workspace.resolve(`dangling-out/${more}`))).toMatch(/^PATH_OUTSIDE_ROOTS/);
    expect(await failureOf(workspace.resolve(`dangling/${more}/../x`))).toMatch(/^PATH_NOT_FOUND/);
  });

  it('may have any number of slashes', async () => {
    const slashes = '/'.repeat(2000);
    expect(await soon(() => workspace.openPlace(`to-b${slashes}x`, { follow: false }))).toMatch(
      /^PATH_NOT_FOUND/,
    );
    for (const end of ['/', '/.', '//./', '/.//.', slashes]) {
      const place = await workspace.openPlace(`to-b${end}`, { follow: false });
      await place.folder.handle.close();
      expect(place.path).toBe(join(root, 'to-b'));
    }
  });
});

describe('the state folder of toolcrib', () => {
  const state = () => realpathSync(process.env['XDG_STATE_HOME'] ?? '');
  const isOurs = /^PATH_PROTECTED: .*is never opened, because it is what toolcrib itself remembers/;

  it('is opened by nobody, also where a root lies around it or in it', async () => {
    await put(state(), { 'toolcrib/journal/contents/x': 'of another project', 'toolcribs/y': 'y' });
    await symlink(join(state(), 'toolcrib', 'journal'), join(state(), 'to-journal'));
    const around = await openWorkspace([state()]);
    expect(await failureOf(around.open('file', 'toolcrib/journal/contents/x'))).toMatch(isOurs);
    expect(await failureOf(around.open('folder', 'toolcrib'))).toMatch(isOurs);
    expect(await failureOf(around.open('any', 'to-journal/contents'))).toMatch(isOurs);
    expect(await failureOf(around.resolve('to-journal/contents/x'))).toMatch(isOurs);
    // The answer does not reveal what is there.
    expect(await failureOf(around.open('file', 'toolcrib/none'))).toMatch(isOurs);
    const other = await around.open('file', 'toolcribs/y');
    await other.handle.close();

    const within = await openWorkspace([join(state(), 'toolcrib', 'journal')]);
    expect(await failureOf(within.open('file', 'contents/x'))).toMatch(isOurs);
    expect(await failureOf(within.open('folder', '.'))).toMatch(isOurs);
  });

  it('is found through links that its variable leads over, and that are made later', async () => {
    const usual = process.env['XDG_STATE_HOME'];
    process.env['XDG_STATE_HOME'] = join(top, 'to-app', 'kept', 'state');
    try {
      const opened = await openWorkspace([root]);
      await put(root, { 'kept/state/toolcrib/x': 'x' });
      expect(await failureOf(opened.open('file', 'kept/state/toolcrib/x'))).toMatch(isOurs);
    } finally {
      process.env['XDG_STATE_HOME'] = usual;
    }
  });

  it('is protected under another spelling of its name too', async () => {
    const own = join(state(), 'toolcrib', 'x');
    for (const path of [own, own.toUpperCase(), join(state(), 'toolcrib. ', 'x')])
      expect([path, isOwn(path)]).toEqual([path, true]);
    expect(isOwn(join(state(), 'toolcrib-not', 'x'))).toBe(false);
  });
});

describe('the roots of a workspace', () => {
  it('are real paths, each once', async () => {
    expect((await openWorkspace([join(top, 'to-app'), root])).roots).toEqual([root]);
    const linked = await openWorkspace([join(top, 'to-app')]);
    expect(await linked.resolve(join(top, 'to-app', 'a.txt'))).toBe(join(root, 'a.txt'));
    // The link itself lies outside; what it leads to is meant.
    expect(await linked.resolve(join(top, 'to-app'))).toBe(root);
  });

  it('must be existing folders', async () => {
    expect(await failureOf(openWorkspace([join(top, 'none')]))).toMatch(/^PATH_NOT_FOUND/);
    expect(await failureOf(openWorkspace([join(root, 'a.txt')]))).toMatch(
      /^PATH_NOT_REGULAR.*is a file, not a folder/,
    );
    expect(await failureOf(openWorkspace(['/proc/self']))).toMatch(/^PATH_PROTECTED/);
  });
});
