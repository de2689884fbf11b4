import { lstat, mkdir, readdir, rename, symlink } from 'node:fs/promises';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { ToolcribError } from '../../src/core/errors.ts';
import { noConsent } from '../../src/machine/paths/protected-paths.ts';
import { openPlaceAt, type PathTarget } from '../../src/machine/paths/path-target.ts';
import { openWorkspace, type RootedWorkspace } from '../../src/machine/paths/workspace.ts';
import { failureOf, put, temporaryFolder } from '../tools/files/folder.ts';

let top: string;
let root: string;
let workspace: RootedWorkspace;

beforeEach(async () => {
  top = await temporaryFolder();
  root = join(top, 'app');
  await put(top, { 'app/a.txt': 'a', 'app/deep/b.txt': 'b', 'second/c.txt': 'c', 'outside/secret.txt': 's' });
  workspace = await openWorkspace([root, join(top, 'second')]);
});

type Options = Parameters<RootedWorkspace['openPlace']>[1];

/** The path that is opened, without holding on to it. */
async function placeOf(path: string, options?: Options): Promise<Omit<PathTarget, 'folder'>> {
  const { folder, ...place } = await workspace.openPlace(path, options);
  await folder.handle.close();
  return place;
}

describe('a path that is opened', () => {
  it('means what a link at the end leads to', async () => {
    await symlink('deep/b.txt', join(root, 'to-b'));
    await symlink('deep', join(root, 'to-deep'));
    await symlink('to-deep/to-come', join(root, 'dangling'));
    await symlink('dangling', join(root, 'to-dangling'));
    expect((await placeOf('to-b')).path).toBe(join(root, 'deep', 'b.txt'));
    expect((await placeOf('to-deep/x')).path).toBe(join(root, 'deep', 'x'));
    expect((await placeOf('dangling')).path).toBe(join(root, 'deep', 'to-come'));
    expect((await placeOf('to-dangling')).path).toBe(join(root, 'deep', 'to-come'));
  });

  it('means what `.`, `..` and a slash at the end name', async () => {
    await mkdir(join(root, 'deep', 'deeper'));
    await symlink('deep/deeper', join(root, 'to-deeper'));
    expect((await placeOf('to-deeper/')).path).toBe(join(root, 'deep', 'deeper'));
    // Never more than the link goes.
    for (const path of ['to-deeper/', 'to-deeper/.', 'to-deeper//'])
      expect((await placeOf(path, { follow: false })).path).toBe(join(root, 'to-deeper'));
    for (const follow of [true, false]) {
      expect((await placeOf('deep/.', { follow })).path).toBe(join(root, 'deep'));
      expect((await placeOf('to-deeper/..', { follow })).path).toBe(join(root, 'deep'));
      expect((await placeOf('to-come/', { follow })).path).toBe(join(root, 'to-come'));
    }
  });
});

describe('missing folders', () => {
  it('are made with `make` as any program would make them', async () => {
    const place = await placeOf('x/y/z.txt', { make: true });
    expect(place.made).toEqual([join(root, 'x'), join(root, 'x', 'y')]);
    expect(place.path).toBe(join(root, 'x', 'y', 'z.txt'));
    if (process.platform !== 'win32')
      expect((await lstat(join(root, 'x', 'y'))).mode & 0o777).toBe(0o777 & ~process.umask());
    expect((await placeOf('x/y/other.txt', { make: true })).made).toEqual([]);
  });

  it('are made where a link leads', async () => {
    await symlink('deep/later', join(root, 'to-later'));
    expect((await placeOf('to-later/x/y', { make: true })).made).toEqual([
      join(root, 'deep', 'later'),
      join(root, 'deep', 'later', 'x'),
    ]);
  });

  it('may be made by several calls at once', async () => {
    // Again and again, since one may come by in the moment between two looks of another.
    for (let round = 0; round < 30; round++) {
      const top = `p${round}`;
      const places = await Promise.all(
        Array.from({ length: 20 }, (_, index) => placeOf(`${top}/q/r/${index}`, { make: true })),
      );
      expect(places.map(({ path }) => path)).toEqual(
        places.map((_, index) => join(root, `${top}/q/r`, `${index}`)),
      );
      expect(places.flatMap(({ made }) => made).sort()).toEqual(
        [top, `${top}/q`, `${top}/q/r`].map((name) => join(root, name)),
      );
    }
  });

  it('are not made when they would complete a repository by now', async () => {
    const d = join(root, 'd');
    const refs = join(d, 'refs');
    await put(d, { config: '', HEAD: '' });
    const check = () => put(d, { 'objects/x': '' });
    expect(
      await failureOf(openPlaceAt(join(refs, 'x'), 'd/refs/x', { make: true, check, consent: noConsent })),
    ).toMatch(/^PATH_PROTECTED: d\/refs\/x: .*git takes its folder for a repository/);
    expect((await readdir(d)).sort()).toEqual(['HEAD', 'config', 'objects']);
  });

  it('are not made in a folder that has been moved by now', async () => {
    const check = () => rename(join(root, 'deep'), join(root, 'moved'));
    expect(
      await failureOf(
        openPlaceAt(join(root, 'deep', 'x', 'y'), 'deep/x/y', { make: true, check, consent: noConsent }),
      ),
    ).toMatch(/^STALE_FILE: deep\/x\/y: the folder that it is in was moved/);
    expect(await readdir(join(root, 'moved'))).toEqual(['b.txt']);
  });

  it('are removed again when the path is refused in the end', async () => {
    const check = (path: string) =>
      readdirSync(root).includes('x')
        ? Promise.reject(new ToolcribError('PATH_DENIED', path))
        : Promise.resolve();
    const z = join(root, 'x', 'y', 'z');
    expect(await failureOf(openPlaceAt(z, 'x/y/z', { make: true, check, consent: noConsent }))).toBe(
      `PATH_DENIED: ${z}`,
    );
    expect(await readdir(root)).toEqual(['a.txt', 'deep']);
  });
});

describe('a path that is refused', () => {
  it.each([
    ['../outside/new', 'PATH_OUTSIDE_ROOTS'],
    ['out/new', 'PATH_OUTSIDE_ROOTS'],
    ['out-file', 'PATH_OUTSIDE_ROOTS'],
    ['out-dangling', 'PATH_OUTSIDE_ROOTS'],
    ['circle', 'PATH_NOT_FOUND'],
    ['a.txt/x', 'PATH_NOT_FOUND'],
    ['missing/../x', 'PATH_NOT_FOUND'],
    ['', 'ARG_INVALID'],
    ['a\0b', 'ARG_INVALID'],
    ['x'.repeat(300), 'ARG_INVALID'],
    ['.', 'PATH_PROTECTED'],
    ['../second', 'PATH_PROTECTED'],
    ['to-root', 'PATH_PROTECTED'],
    ['..', 'PATH_OUTSIDE_ROOTS'],
    ['/proc/self/cwd/x', 'PATH_PROTECTED'],
    ['to-proc/x', 'PATH_PROTECTED'],
  ])('leaves nothing open or made for %j with %s', async (path, code) => {
    await symlink('../outside', join(root, 'out'));
    await symlink('../outside/secret.txt', join(root, 'out-file'));
    await symlink('../outside/to-come.txt', join(root, 'out-dangling'));
    await symlink('circle', join(root, 'circle'));
    await symlink('../second', join(root, 'to-root'));
    await symlink('/proc/self', join(root, 'to-proc'));
    const before = opened();
    for (const make of [true, false])
      expect(await failureOf(workspace.openPlace(path, { make }))).toMatch(`${code}: `);
    expect(opened()).toEqual(before);
    expect(await readdir(top)).toEqual(['app', 'outside', 'second']);
    expect(await readdir(join(top, 'outside'))).toEqual(['secret.txt']);
    expect((await readdir(root)).sort()).toEqual(
      ['a.txt', 'circle', 'deep', 'out', 'out-dangling', 'out-file', 'to-proc', 'to-root'].sort(),
    );
  });

  it('holds a root, while a link to a folder that holds one is accepted', async () => {
    await put(root, { 'holds/inner/x': '' });
    workspace = await openWorkspace([root, join(root, 'holds', 'inner')]);
    await symlink('holds', join(root, 'to-holds'));
    expect(await failureOf(workspace.openPlace('holds'))).toBe(
      'PATH_PROTECTED: holds: holds a folder that is open to the model itself. Name what is to be changed inside it.',
    );
    expect(await failureOf(workspace.openPlace('holds/inner', { follow: false }))).toMatch(
      /is a folder that is open to the model itself/,
    );
    expect((await placeOf('to-holds', { follow: false })).path).toBe(join(root, 'to-holds'));
  });

  it('is a link outside the roots, while what it leads to inside is accepted', async () => {
    await symlink('app/a.txt', join(top, 'to-a'));
    expect(await failureOf(workspace.openPlace('../to-a', { follow: false }))).toMatch(/^PATH_OUTSIDE_ROOTS/);
    expect((await placeOf('../to-a')).path).toBe(join(root, 'a.txt'));
  });
});

/** The number of files that this process holds open, where the system lists them. */
function opened(): number {
  return process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0;
}
