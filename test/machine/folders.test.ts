import { mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  cacheFolder,
  isPrivate,
  makePrivate,
  readCache,
  stateFolder,
  writeCache,
} from '../../src/store/own-files.ts';
import { temporaryFolder } from '../support/repository.ts';

type Row = [
  platform: 'linux' | 'darwin' | 'win32',
  home: string,
  env: Record<string, string>,
  folder?: string,
];

it.each<Row>([
  ['linux', '/home/ada', {}, '/home/ada/.cache/toolcrib'],
  ['linux', '/home/ada', { XDG_CACHE_HOME: '/fast' }, '/fast/toolcrib'],
  ['darwin', '/Users/ada', { XDG_CACHE_HOME: '/fast' }, '/Users/ada/Library/Caches/toolcrib'],
  ['win32', 'C:\\Users\\ada', { LOCALAPPDATA: 'D:\\Local' }, 'D:\\Local\\toolcrib\\Cache'],
  ['win32', 'C:\\Users\\ada', {}, 'C:\\Users\\ada\\AppData\\Local\\toolcrib\\Cache'],
  // Never a relative folder, which would lie in the project.
  ['linux', '/home/ada', { XDG_CACHE_HOME: 'cache' }, '/home/ada/.cache/toolcrib'],
  ['win32', '', { LOCALAPPDATA: '.' }],
])('puts the cache on %s of %j with %j into its folder', (platform, home, env, folder) =>
  expect(cacheFolder(platform, env, home)).toBe(folder),
);

it.each<Row>([
  ['linux', '/home/ada', {}, '/home/ada/.local/state/toolcrib'],
  ['darwin', '/Users/ada', {}, '/Users/ada/Library/Application Support/toolcrib'],
  ['win32', 'C:\\Users\\ada', {}, 'C:\\Users\\ada\\AppData\\Local\\toolcrib\\State'],
])('puts the state on %s of %j with %j into its folder', (platform, home, env, folder) =>
  expect(stateFolder(platform, env, home)).toBe(folder),
);

describe.skipIf(process.platform === 'win32')('a cache', () => {
  let parent: string;
  let folder: string;
  beforeEach(() => {
    parent = temporaryFolder();
    folder = join(parent, 'deep', 'cache');
  });

  it('gives back what was kept, in a folder and a file that nobody else can open', () => {
    writeCache(folder, 'a.json', { answer: 42 });
    expect(readCache(folder, 'a.json')).toEqual({ answer: 42 });
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'a.json')).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['a.json']);
  });

  it('holds nothing below a file, and where the system makes no folder', () => {
    const file = join(parent, 'file');
    writeFileSync(file, '');
    expect(isPrivate(join(file, 'cache'))).toBe(false);
    for (const place of [join(file, 'deep', 'cache'), '/dev/null/cache']) {
      writeCache(place, 'a.json', 1);
      expect(readCache(place, 'a.json')).toBeUndefined();
      expect(() => makePrivate(place)).toThrow(/ENOTDIR|ENOENT/);
    }
  });

  it('is not used through a symbolic link', () => {
    const elsewhere = join(parent, 'elsewhere');
    mkdirSync(elsewhere, { mode: 0o700 });
    writeFileSync(join(elsewhere, 'a.json'), '1', { mode: 0o600 });
    symlinkSync(elsewhere, join(parent, 'link'));
    expect(readCache(join(parent, 'link'), 'a.json')).toBeUndefined();
    writeCache(join(parent, 'link'), 'b.json', 2);
    expect(readdirSync(elsewhere)).toEqual(['a.json']);

    writeCache(folder, 'own.json', 3);
    symlinkSync(join(elsewhere, 'a.json'), join(folder, 'linked.json'));
    expect(readCache(folder, 'linked.json')).toBeUndefined();
    // A write takes the link's place and leaves alone what it leads to.
    writeCache(folder, 'linked.json', 4);
    expect(readCache(folder, 'linked.json')).toBe(4);
    expect(readCache(elsewhere, 'a.json')).toBe(1);
  });
});
