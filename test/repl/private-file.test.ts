import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { chatFolders } from '../../src/repl/files/folders.ts';
import { readPrivateFile, writePrivateFile } from '../../src/repl/files/private-file.ts';
import { temporaryFolder } from '../support/repository.ts';

describe('a private file', () => {
  it('is written so that only its owner can read it, and leaves nothing else behind', () => {
    const folder = join(temporaryFolder(), 'new', 'folder');
    const path = join(folder, 'file');
    writePrivateFile(path, 'one');
    writePrivateFile(path, 'two');
    expect(readPrivateFile(path)).toBe('two');
    expect([statSync(path).mode & 0o777, statSync(folder).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(readdirSync(folder)).toEqual(['file']);
  });

  it('closes a folder of ours that others could write to', () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o777);
    writePrivateFile(join(folder, 'file'), '');
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it('is undefined when it is not there', () => {
    expect(readPrivateFile(join(temporaryFolder(), 'no', 'file'))).toBeUndefined();
  });

  it('is refused when it is a link, a folder, a pipe, or open to others', () => {
    const folder = temporaryFolder();
    const at = (name: string) => join(folder, name);
    writeFileSync(at('open'), '');
    chmodSync(at('open'), 0o666);
    symlinkSync(at('open'), at('link'));
    mkdirSync(at('folder'));
    execFileSync('mkfifo', [at('pipe')]);
    for (const [name, why] of [
      ['open', 'chmod go-w'],
      ['link', 'symbolic link'],
      ['folder', 'regular file'],
      ['pipe', 'regular file'],
    ] as const) {
      expect(() => readPrivateFile(at(name))).toThrow(
        expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(why) }),
      );
    }
  });
});

describe('folders', () => {
  it.each([
    ['linux', {}, '/home/a', '/home/a/.config/toolcrib', '/home/a/.local/state/toolcrib/chat'],
    ['linux', { XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '/s' }, '', '/c/toolcrib', '/s/toolcrib/chat'],
    ['linux', { XDG_CONFIG_HOME: 'c' }, '/h', '/h/.config/toolcrib', '/h/.local/state/toolcrib/chat'],
    [
      'darwin',
      { HOME: '/Users/a' },
      '/Users/a',
      '/Users/a/.config/toolcrib',
      '/Users/a/Library/Application Support/toolcrib/chat',
    ],
    ['win32', { APPDATA: 'D:\\r' }, 'C:\\u', 'D:\\r\\toolcrib', 'C:\\u\\AppData\\Local\\toolcrib\\chat'],
  ] as const)('are where %s has them, with %j', (platform, env, home, config, state) => {
    expect(chatFolders(env, platform, home)).toEqual({ config, state });
  });

  it('are unknown without a home', () => {
    expect(() => chatFolders({}, 'linux', '')).toThrow('XDG_CONFIG_HOME');
  });
});
