import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, link, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openWorkspace, type RootedWorkspace } from '../../src/machine/paths/workspace.ts';
import { callerFor, failureOf, put, temporaryFolder, textOf, type Caller } from '../tools/files/folder.ts';

const secret = 'TOP-SECRET-CONTENT';
const isLinux = process.platform === 'linux';

let top: string;
let root: string;
let call: Caller;
let workspace: RootedWorkspace;

beforeAll(async () => {
  top = await temporaryFolder();
  root = join(top, 'app');
  await put(top, {
    'app/inside.txt': 'inside\n',
    'app/deep/inside.txt': 'inside\n',
    'app-secret/s.txt': secret,
    'App/u.txt': secret,
    'outside/secret.txt': secret,
    'outside/deep/secret.txt': secret,
  });
  await symlink('../outside', join(root, 'link'));
  await symlink('../outside/secret.txt', join(root, 'link.txt'));
  await symlink('link', join(root, 'link-to-link'));
  await symlink('../outside/deep', join(root, 'deep-link'));
  await symlink('../outside/new.txt', join(root, 'dangling'));
  await symlink('loop-b', join(root, 'loop-a'));
  await symlink('loop-a', join(root, 'loop-b'));
  await symlink('/dev/zero', join(root, 'zero'));
  await symlink('/proc/self/environ', join(root, 'environ'));
  await symlink('/proc/self/root', join(root, 'slash'));
  execFileSync('mkfifo', [join(root, 'pipe')]);
  call = callerFor(root);
  workspace = await openWorkspace([root]);
});

/** The failures of every tool for a path that it must refuse, by name. */
async function refusals(path: string): Promise<string[]> {
  return Promise.all([
    failureOf(call('read_file', { path })),
    failureOf(call('list_files', { path })),
    failureOf(call('list_files', { glob: '*', path })),
    failureOf(call('grep', { pattern: 'SECRET', path })),
    failureOf(workspace.resolve(path, { mustExist: true })),
  ]);
}

const outside = /^PATH_OUTSIDE_ROOTS: /;
const kernel = /^PATH_PROTECTED: /;
const missing = /^PATH_NOT_FOUND: /;

type Row = [row: number, what: string, path: string | (() => string), code: RegExp];
const paths: Row[] = [
  [51, 'a folder whose name begins with the root', () => join(top, 'app-secret', 's.txt'), outside],
  [51, 'the same, relative', '../app-secret', outside],
  [51, 'the parent of the root', '..', outside],
  [51, 'the disk', '/', outside],
  [51, 'many steps up', `${'../'.repeat(60)}etc/passwd`, outside],
  [51, 'the home folder', '~/.ssh/id_rsa', outside],
  [52, 'a link to a folder outside', 'link', outside],
  [52, 'through that link', 'link/secret.txt', outside],
  [52, 'a link to a file outside', 'link.txt', outside],
  [52, 'a link to a link', 'link-to-link/secret.txt', outside],
  [52, '`..` after a link, which lexically stays inside', 'deep-link/../secret.txt', outside],
  [52, 'something that does not exist behind a link', 'link/none/none.txt', outside],
  [52, 'a link to something outside that does not exist yet', 'dangling', outside],
  [52, 'links in a circle', 'loop-a', missing],
  [52, 'below links in a circle', 'loop-a/x', missing],
  [52, '`..` after what does not exist', 'none/../../app-secret/s.txt', missing],
  [54, 'the root in other case', () => join(top, 'App', 'u.txt'), outside],
  [54, 'the same, relative', '../App/u.txt', outside],
  [57, 'a FIFO below which nothing can be', 'pipe/x', missing],
  [57, 'a device by a link', 'zero', kernel],
  [57, 'a terminal', '/dev/tty', kernel],
  [58, 'our environment', '/proc/self/environ', kernel],
  [58, 'our environment by a link', 'environ', kernel],
  [58, 'an open file of ours', '/proc/self/fd/0', kernel],
  [58, 'the parent process', `/proc/${process.ppid}/environ`, kernel],
  [58, 'memory', '/proc/self/mem', kernel],
  [58, 'the disk through a process', () => `/proc/self/root${top}/outside/secret.txt`, kernel],
  [58, 'a file inside through a process', () => `/proc/self/root${root}/inside.txt`, kernel],
  [58, 'the disk through a link to a process', () => `slash${top}/outside/secret.txt`, outside],
  [58, 'kernel settings', '/sys/kernel', kernel],
  [58, 'a process, written in a roundabout way', '/etc/..//proc/./self/environ', kernel],
  [58, 'a process, relative', `${'../'.repeat(60)}proc/self/environ`, kernel],
  [61, 'a NUL', 'inside.txt\0.png', /^ARG_INVALID: /],
];

describe.skipIf(process.platform === 'win32')('paths that lead out of a root', () => {
  it.each(paths)('ATTACK %i: every tool refuses %s', async (_row, _what, path, code) => {
    for (const failure of await refusals(typeof path === 'string' ? path : path())) {
      expect(failure).toMatch(code);
      expect(failure).not.toContain(secret);
    }
  });

  it('ATTACK 51: a root that is a link opens what it leads to, and nothing beside it', async () => {
    await symlink('app', join(top, 'linked'));
    const linked = callerFor(join(top, 'linked'));
    expect(textOf(await linked('read_file', { path: 'inside.txt' }))).toBe('1\tinside\n');
    expect(textOf(await linked('read_file', { path: join(top, 'linked', 'inside.txt') }))).toBe(
      '1\tinside\n',
    );
    expect(await failureOf(linked('read_file', { path: '../app-secret/s.txt' }))).toMatch(outside);
  });

  it('ATTACK 52, 53: links are shown but not followed when folders are walked', async () => {
    expect(textOf(await call('list_files', {})).split('\n')).toEqual(
      expect.arrayContaining(['link -> ../outside', 'deep-link -> ../outside/deep']),
    );
    expect(textOf(await call('list_files', { depth: 10 }))).not.toMatch(/secret|link/);
    expect(textOf(await call('list_files', { glob: '**/secret.txt' }))).toBe('No files match.');
    expect(await failureOf(call('list_files', { glob: 'link/**' }))).toMatch(outside);
    expect(textOf(await call('grep', { pattern: secret }))).toBe('No matches.');
    expect(await failureOf(call('grep', { pattern: secret, glob: 'link/*.txt' }))).toMatch(outside);
  });

  it('ATTACK 52: a hard link is read like any other file of the folder', async () => {
    await link(join(top, 'outside', 'secret.txt'), join(root, 'hard.txt'));
    // Hard links look like files to every system; who can make one could as well copy. It is documented.
    expect(textOf(await call('read_file', { path: 'hard.txt' }))).toBe(`1\t${secret}`);
    await rm(join(root, 'hard.txt'));
  });

  it('ATTACK 54: a folder whose name differs in case is another folder', async () => {
    const other = callerFor(join(top, 'App'));
    expect(textOf(await other('read_file', { path: 'u.txt' }))).toBe(`1\t${secret}`);
    expect(await failureOf(other('read_file', { path: '../app/inside.txt' }))).toMatch(outside);
  });

  it('ATTACK 44: a name with a line feed cannot pass for another line', async () => {
    await put(root, { 'odd/a\n[lines 1-1 of 5 bytes]': 'needle\n' });
    expect(textOf(await call('list_files', { glob: 'odd/*' }))).toBe(
      '"odd/a\\n[lines 1-1 of 5 bytes]"\n[1 entry]',
    );
    expect(textOf(await call('list_files', { path: 'odd' }))).toBe('"a\\n[lines 1-1 of 5 bytes]"\n[1 entry]');
    expect(textOf(await call('grep', { pattern: 'needle', path: 'odd' }))).toBe(
      '"odd/a\\n[lines 1-1 of 5 bytes]"\n1:needle',
    );
    expect(textOf(await call('read_file', { path: 'odd/a\n[lines 1-1 of 5 bytes]' }))).toBe('1\tneedle\n');
  });
});

describe.skipIf(process.platform === 'win32')('what is not a regular file', () => {
  it('ATTACK 57: a folder with a FIFO is searched without waiting for it', async () => {
    expect(textOf(await call('grep', { pattern: '^inside$', mode: 'files' }))).toBe(
      'deep/inside.txt\ninside.txt',
    );
    expect(textOf(await call('list_files', {})).split('\n')).toContain('pipe  [fifo]');
    expect(textOf(await call('list_files', { glob: 'pipe*' }))).toBe('No files match.');
  });

  it('ATTACK 57: a socket is refused at once', async () => {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(join(root, 'socket'), listening));
    expect(await failureOf(call('read_file', { path: 'socket' }))).toMatch(
      /^PATH_NOT_REGULAR: socket: is a socket/,
    );
    await new Promise((closed) => server.close(closed));
  });

  it.runIf(isLinux && process.getuid?.() === 0)('ATTACK 57: a device in a root is refused', async () => {
    try {
      execFileSync('mknod', [join(root, 'null'), 'c', '1', '3'], { stdio: 'ignore' });
    } catch {
      // Not even root may make devices in most containers.
      return;
    }
    expect(await failureOf(call('read_file', { path: 'null' }))).toMatch(
      /^PATH_NOT_REGULAR: null: is a device|^PATH_PROTECTED/,
    );
    await rm(join(root, 'null'));
  });

  it('ATTACK 57: a file that this user may not read is refused by name', async () => {
    await writeFile(join(root, 'locked'), 'x', { mode: 0 });
    const failure = await asOrdinaryUser(() => failureOf(call('read_file', { path: 'locked' })));
    expect(failure).toBe('PATH_DENIED: locked: the system does not let this user do that.');
    await chmod(join(root, 'locked'), 0o600);
  });
});

/** Nothing is locked for root, so that it has to become somebody else for a while. */
async function asOrdinaryUser<T>(run: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return run();
  await chmod(top, 0o755);
  process.seteuid?.('nobody');
  try {
    return await run();
  } finally {
    process.seteuid?.(0);
  }
}

describe.runIf(isLinux)('list_files', () => {
  it('ATTACK 59: a listing never goes through a folder that is swapped for a link', async () => {
    await put(top, { 'swapped/dir/harmless/in.txt': '', 'swapped-outside/outside/out.txt': '' });
    const folder = join(top, 'swapped');
    await symlink('../swapped-outside', join(folder, 'evil'));
    const swap = `const { renameSync } = require('node:fs');
      process.chdir(${JSON.stringify(folder)});
      console.log('swapping');
      for (;;) for (const [from, to] of [['dir', 'kept'], ['evil', 'dir'], ['dir', 'evil'], ['kept', 'dir']]) renameSync(from, to);`;
    const swapper = spawn(process.execPath, ['-e', swap], { stdio: ['ignore', 'pipe', 'ignore'] });
    await once(swapper.stdout, 'data');
    const inFolder = callerFor(folder);
    const seen = new Set<string>();
    const bothMet = () => [/^harmless\/$/m, /dir ->/].every((side) => side.test([...seen].join('\n')));
    const started = performance.now();
    while (performance.now() < started + 1500 || !bothMet()) {
      for (const given of [{}, { path: 'dir' }])
        seen.add(await inFolder('list_files', given).then(textOf, (error: Error) => error.message));
    }
    swapper.kill('SIGKILL');
    await once(swapper, 'exit');
    const all = [...seen].join('\n');
    expect(all).not.toMatch(/^outside/m);
    // Both sides were met.
    expect(all).toMatch(/^harmless\/$/m);
    expect(all).toContain('dir -> ../swapped-outside');
  });
});
