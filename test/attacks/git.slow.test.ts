import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect, inherited } from '../support/server.ts';
import { temporaryFolder, temporaryRepository, type Repository } from '../support/repository.ts';
import { textOf } from '../support/text-of.ts';

// Two servers for all: their roots are the parent of the temporary folders, and each call names its folder. One cannot
// ask, and trusts nothing; the other one does what a person would have agreed to.
let client: Client;
let agreed: Client;
beforeAll(async () => {
  const place = (...args: string[]) => ({
    roots: [realpathSync(tmpdir())],
    args: ['--no-checkpoints', ...args],
  });
  client = await connect('2025-11-25', place());
  agreed = await connect('2025-11-25', place('--questions', 'none'));
});
afterAll(() => Promise.all([client.close(), agreed.close()]));

const call = (name: string, cwd: string, given: Record<string, unknown> = {}) =>
  client.callTool({ name, arguments: { cwd, ...given } });
const act = (name: string, cwd: string, given: Record<string, unknown> = {}) =>
  agreed.callTool({ name, arguments: { cwd, ...given } });

const looking: [string, Record<string, unknown>][] = [
  ['git_status', {}],
  ['git_status', { untracked: 'all' }],
  ['git_diff', {}],
  ['git_diff', { staged: true }],
  ['git_diff', { from: 'HEAD' }],
  ['git_log', { body: true }],
  ['git_show', {}],
  ['git_show', { ref: 'HEAD:src/a.txt' }],
  ['git_blame', { path: 'src/a.txt', lines: '1,3' }],
  ['git_branches', { which: 'all' }],
  ['git_tags', {}],
  ['git_remotes', {}],
  ['git_stashes', {}],
  ['git_grep', { pattern: 'one' }],
  ['git_reflog', {}],
];

async function lookEverywhere(repository: Repository): Promise<void> {
  for (const [name, given] of looking) {
    const result = await call(name, repository.folder, given);
    expect(result.isError, `${name}: ${textOf(result)}`).toBeFalsy();
  }
}

const options: [row: string, name: string, given: Record<string, unknown>][] = [
  ['1', 'git_log', { ref: '--output=OUT' }],
  ['1', 'git_show', { ref: '--output=OUT' }],
  ['1', 'git_reflog', { ref: '--output=OUT' }],
  ['2', 'git_diff', { from: '--output=OUT' }],
  ['2', 'git_diff', { from: 'HEAD', to: '--output=OUT' }],
  ['1', 'git_blame', { path: 'README.md', ref: '--contents=/etc/passwd' }],
  ['4', 'git_grep', { pattern: 'x', ref: '-Otouch OUT;' }],
  ['5', 'git_fetch', { remote: '--upload-pack=touch OUT;' }],
  ['5', 'git_push', { remote: '--receive-pack=touch OUT;' }],
  ['1', 'git_checkout', { branch: '--orphan=x' }],
  ['1', 'git_create_branch', { branch: '--force' }],
  ['1', 'git_restore', { paths: ['README.md'], from: '-x' }],
  ['1', 'git_reset_hard', { ref: '--pathspec-from-file=/etc/passwd' }],
];

/** Asks about everything that looks, and about what changes something; with nobody to ask, nothing is done. */
async function asksEverywhere({ folder }: Repository, unusual: string): Promise<void> {
  for (const [name, given] of looking)
    expect(textOf(await call(name, folder, given)), name).toMatch(
      new RegExp(`^NEEDS_CONFIRM.* unusual configuration \\(${unusual}\\)`, 's'),
    );
  // Nor does anybody who is never asked look into it: hosts were told that looking is looking.
  expect(textOf(await act('git_status', folder))).toMatch(/^EFFECT_DENIED/);
}

const changing: [string, Record<string, unknown>][] = [
  ['git_add', { paths: ['.'] }],
  ['git_unstage', { paths: ['src'] }],
  ['git_commit', { message: 'All', all: true }],
  ['git_stash', { untracked: true }],
  ['git_apply_stash', {}],
  ['git_drop_stash', {}],
  ['git_create_branch', { branch: 'third' }],
  ['git_checkout', { branch: 'main' }],
  ['git_delete_branch', { branch: 'third' }],
  ['git_restore', { paths: ['README.md'] }],
  ['git_reset_hard', { ref: 'HEAD' }],
  ['git_fetch', {}],
  ['git_pull', {}],
  ['git_push', {}],
];

it('ATTACK 5, 13, 27, 29: whatever git writes, runs or talks to waits for trust', async () => {
  const repository = temporaryRepository();
  const { script, mark } = repository.trap('hook');
  const hooks = join(repository.folder, '.git', 'hooks');
  mkdirSync(hooks, { recursive: true });
  for (const hook of ['pre-commit', 'post-checkout', 'reference-transaction', 'post-index-change'])
    symlinkSync(script, join(hooks, hook));
  repository.git('remote', 'add', 'origin', `ext::sh -c touch% ${mark}`);
  repository.write('src/a.txt', 'changed\n');
  const before = repository.git('--no-optional-locks', 'status', '--porcelain=v2');
  await lookEverywhere(repository);
  for (const [name, given] of changing)
    expect(textOf(await call(name, repository.folder, given)), name).toMatch(
      /^NEEDS_CONFIRM.*lets git write/s,
    );
  expect(repository.git('--no-optional-locks', 'status', '--porcelain=v2')).toBe(before);
  expect(existsSync(mark)).toBe(false);
});

it('ATTACK 29: an address that is a command needs a setting of git, too, once a folder is trusted', async () => {
  const repository = temporaryRepository();
  const { mark } = repository.trap('ext');
  repository.git('remote', 'add', 'evil', `ext::sh -c touch% ${mark}`);
  expect(textOf(await act('git_fetch', repository.folder, { remote: 'evil' }))).toContain('not allowed');
  expect(existsSync(mark)).toBe(false);
});

it('fetches from a folder, and runs hooks and filters, once that is agreed to', async () => {
  const repository = temporaryRepository();
  const { script, mark } = repository.trap('hook');
  const other = temporaryRepository();
  other.git('branch', 'news');
  repository.git('remote', 'add', 'origin', other.folder);
  mkdirSync(join(repository.folder, '.git', 'hooks'), { recursive: true });
  symlinkSync(script, join(repository.folder, '.git', 'hooks', 'post-checkout'));
  const fetched = await act('git_fetch', repository.folder);
  expect(fetched.isError, textOf(fetched)).toBeFalsy();
  expect(repository.git('branch', '--remotes')).toContain('origin/news');
  await act('git_create_branch', repository.folder, { branch: 'mine' });
  expect(existsSync(mark)).toBe(true);
});

it.each([
  ['24', 'core.fsmonitor', 'core.fsmonitor'],
  ['25', 'diff.external', 'diff.external'],
  ['26', 'filter.a=b.clean', 'filter.clean'],
  ['29', 'url.ext::sh -c evil.insteadOf', 'url.insteadof'],
  ['16', 'core.worktree', 'core.worktree'],
  ['16', 'blame.ignoreRevsFile', 'blame.ignorerevsfile'],
])('ATTACK %s: a repository that sets %s is asked about, and not looked into', async (_row, key, unusual) => {
  const repository = temporaryRepository();
  const { script, mark } = repository.trap('setting');
  repository.write('.gitattributes', '*.txt diff=evil filter=a=b\n');
  repository.git('config', key, script);
  repository.write('src/a.txt', 'changed\n');
  await asksEverywhere(repository, unusual);
  expect(existsSync(mark)).toBe(false);
});

it.each(options)('ATTACK %s: %s %j is refused before anything starts', async (_row, name, given) => {
  const { folder } = temporaryRepository();
  const out = join(folder, 'out.txt');
  const hostile = JSON.parse(JSON.stringify(given).replaceAll('OUT', out)) as Record<string, unknown>;
  const result = await call(name, folder, hostile);
  expect(result.isError).toBe(true);
  expect(textOf(result)).toMatch(/^ARG_(FLAG|INVALID)/);
  expect(existsSync(out)).toBe(false);
});

it.each([
  ['3', 'git_diff', { args: ['--no-index', '/etc/passwd', '/dev/null'] }],
  ['4', 'git_grep', { pattern: 'x', args: ['-Otouch /tmp/p;'] }],
  ['8', 'git_show', { exec: 'touch /tmp/p;' }],
  ['17', 'git_log', { args: '--oneline -20 --output=/x' }],
] as const)('ATTACK %s: %s takes no arguments of the caller: %j', async (_row, name, given) => {
  const { folder } = temporaryRepository();
  const result = await call(name, folder, given);
  expect(textOf(result)).toMatch(/^ARG_INVALID: (args|exec): there is no such parameter/);
});

it('ATTACK 8, 9: there is no archive, submodule, difftool or filter-branch', async () => {
  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name);
  for (const action of ['archive', 'submodule', 'difftool', 'filter_branch']) {
    expect(names).not.toContain(`git_${action}`);
    await expect(call(`git_${action}`, '.')).rejects.toThrow();
  }
});

it('ATTACK 5, 13: a remote is a name, never an address', async () => {
  const { folder } = temporaryRepository();
  for (const remote of [
    'ext::sh -c touch% /tmp/p',
    'file:///etc',
    'ssh://-oProxyCommand=x',
    '../other',
    'https://example.org/x.git',
  ]) {
    expect(textOf(await call('git_fetch', folder, { remote }))).toMatch(/^ARG_INVALID/);
  }
});

it('says where the remotes are listed when there is none of that name', async () => {
  const { folder } = temporaryRepository();
  const said = textOf(await act('git_fetch', folder, { remote: 'nope' }));
  expect(said).toMatch(/There is no remote of that name.*git_remotes lists them/);
});

it('ATTACK 5: a push cannot overwrite, delete or send elsewhere', async () => {
  const { folder } = temporaryRepository();
  for (const branch of ['+main', ':main', 'main:other', '^main', '*']) {
    expect(textOf(await call('git_push', folder, { branch }))).toMatch(/^ARG_INVALID/);
  }
});

it('ATTACK 14: files outside the roots cannot be staged', async () => {
  const { folder, git } = temporaryRepository();
  for (const path of ['../../../etc/passwd', '/etc/passwd']) {
    expect(textOf(await call('git_add', folder, { paths: [path] }))).toMatch(
      /^PATH_(OUTSIDE_ROOTS|NOT_FOUND)/,
    );
  }
  expect(git('status', '--porcelain')).toBe('');
});

it('ATTACK 29: a missing object is not fetched by way of a program the repository names', async () => {
  const repository = temporaryRepository();
  const { mark } = repository.trap('promisor');
  repository.git('config', 'extensions.partialClone', 'origin');
  repository.git('config', 'remote.origin.promisor', 'true');
  repository.git('config', 'remote.origin.url', `ext::sh -c touch% ${mark}`);
  repository.git('config', 'protocol.ext.allow', 'always');
  const blob = repository.git('rev-parse', 'HEAD:src/a.txt').trim();
  writeFileSync(join(repository.folder, '.git', 'gone'), '');
  repository.git('prune-packed');
  const object = join(repository.folder, '.git', 'objects', blob.slice(0, 2), blob.slice(2));
  expect(readFileSync(object).length).toBeGreaterThan(0);
  const { rmSync } = await import('node:fs');
  rmSync(object);
  expect((await call('git_show', repository.folder, { ref: 'HEAD' })).isError).toBe(true);
  expect((await call('git_show', repository.folder, { ref: 'HEAD:src/a.txt' })).isError).toBe(true);
  expect(existsSync(mark)).toBe(false);
});

it('ATTACK 30: a repository of another user is refused, with the remedy git names', async () => {
  if (process.getuid?.() !== 0) return;
  const repository = temporaryRepository();
  const { chownSync } = await import('node:fs');
  chownSync(repository.folder, 12345, 12345);
  chownSync(join(repository.folder, '.git'), 12345, 12345);
  const result = await call('git_status', repository.folder);
  expect(result.isError).toBe(true);
  expect(textOf(result)).toContain('safe.directory');
});

it('ATTACK 16: a repository above or outside the roots is not found', async () => {
  const outer = temporaryRepository();
  mkdirSync(join(outer.folder, 'part'));
  const inner = await connect('2025-11-25', { roots: [join(outer.folder, 'part')] });
  try {
    expect(textOf(await inner.callTool({ name: 'git_status', arguments: {} }))).toContain(
      'there is no repository',
    );
    const outside = await inner.callTool({ name: 'git_status', arguments: { cwd: outer.folder } });
    expect(textOf(outside)).toMatch(/^PATH_OUTSIDE_ROOTS/);
  } finally {
    await inner.close();
  }
});

it('ATTACK 16: an embedded bare repository is refused', async () => {
  const folder = temporaryFolder();
  const repository = temporaryRepository(folder);
  repository.git('init', '--quiet', '--bare', 'bare');
  expect(textOf(await call('git_log', join(folder, 'bare')))).toMatch(/safe\.bareRepository|bare repository/);
});

it('paths are names, not patterns', async () => {
  const repository = temporaryRepository();
  repository.write('axb.txt', '1');
  for (const pattern of ['a*b.txt', 'a?b.txt', ':(glob)a*', '*']) {
    expect((await act('git_add', repository.folder, { paths: [pattern] })).isError).toBe(true);
  }
  expect(repository.git('diff', '--cached', '--name-only')).toBe('');
});

it('a configuration too long to be read stops every action', async () => {
  const repository = temporaryRepository();
  const { script, mark } = repository.trap('filter');
  repository.write('.gitattributes', '*.txt filter=evil\n');
  const long = (name: string) => `[http "${name}"]\n\tversion = ${'x'.repeat(4_300_000)}\n`;
  const config = join(repository.folder, '.git', 'config');
  const given = readFileSync(config, 'utf8');
  writeFileSync(config, `${given}${long('a')}[filter "evil"]\n\tclean = ${script}\n${long('b')}`);
  repository.write('src/a.txt', 'changed\n');
  expect(textOf(await call('git_status', repository.folder))).toMatch(/^NEEDS_CONFIRM/);
  expect(existsSync(mark)).toBe(false);
});

it('ATTACK 26: a filter whose name is no UTF-8 stops every action', async () => {
  const repository = temporaryRepository();
  const { script, mark } = repository.trap('filter');
  writeFileSync(join(repository.folder, '.gitattributes'), Buffer.from('*.txt filter=ev\xe9l\n', 'latin1'));
  const config = join(repository.folder, '.git', 'config');
  writeFileSync(
    config,
    Buffer.concat([readFileSync(config), Buffer.from(`[filter "ev\xe9l"]\n\tclean = ${script}\n`, 'latin1')]),
  );
  repository.write('src/a.txt', 'other\n');
  for (const name of ['git_status', 'git_diff']) {
    expect(textOf(await call(name, repository.folder))).toMatch(/^NEEDS_CONFIRM/);
  }
  expect(existsSync(mark)).toBe(false);
});

it('ATTACK 16: a .git file, or a commondir, does not lead to a repository outside', async () => {
  const root = temporaryFolder();
  const other = temporaryRepository();
  const inner = await connect('2025-11-25', { roots: [root] });
  try {
    writeFileSync(join(root, '.git'), `gitdir: ${other.folder}/.git\n`);
    const asFile = await inner.callTool({ name: 'git_show', arguments: { ref: 'HEAD:README.md' } });
    expect(textOf(asFile)).toMatch(/^NEEDS_CONFIRM/);
    const { rmSync } = await import('node:fs');
    rmSync(join(root, '.git'));
    const own = temporaryRepository(root);
    own.write('.git/commondir', `${other.folder}/.git\n`);
    expect(textOf(await inner.callTool({ name: 'git_log', arguments: {} }))).toMatch(/^NEEDS_CONFIRM/);
  } finally {
    await inner.close();
  }
});

it('switching does not overwrite an ignored file', async () => {
  const repository = temporaryRepository();
  repository.git('switch', '--quiet', '--create', 'other');
  repository.write('.env', 'theirs');
  repository.git('add', '.env');
  repository.git('commit', '--quiet', '--message=Env');
  repository.git('switch', '--quiet', 'main');
  repository.write('.gitignore', '.env\n');
  repository.write('.env', 'mine');
  expect((await act('git_switch', repository.folder, { branch: 'other' })).isError).toBe(true);
  expect(readFileSync(join(repository.folder, '.env'), 'utf8')).toBe('mine');
});

it('stashes untracked files, and brings them back', async () => {
  const repository = temporaryRepository();
  const file = repository.write('new.txt', 'new');
  await act('git_stash', repository.folder, { untracked: true });
  expect(existsSync(file)).toBe(false);
  const back = await act('git_apply_stash', repository.folder, { remove: true });
  expect(back.isError, textOf(back)).toBeFalsy();
  expect(readFileSync(file, 'utf8')).toBe('new');
});

it('shows as much of a change as it was asked for', async () => {
  const repository = temporaryRepository();
  repository.write('src/a.txt', 'changed\n');
  for (const form of ['stat', 'names']) {
    expect(textOf(await call('git_diff', repository.folder, { form }))).not.toContain('@@');
  }
  expect(textOf(await call('git_diff', repository.folder, { context: 0 }))).toContain('@@ -1,3 +1 @@');
});

it("ATTACK 47: a program of the project is not taken for the machine's", async () => {
  const repository = temporaryRepository();
  const { mark } = repository.trap('planted');
  repository.write('bin/git', `#!/bin/sh\ntouch '${mark}'\n`);
  const { chmodSync } = await import('node:fs');
  chmodSync(join(repository.folder, 'bin', 'git'), 0o755);
  const env = { ...inherited(), PATH: `${join(repository.folder, 'bin')}:${process.env['PATH']}` };
  for (const options of [{ cwd: repository.folder }, { cwd: '/', roots: [repository.folder] }]) {
    const planted = await connect('2025-11-25', { ...options, env });
    const result = await planted.callTool({ name: 'git_status', arguments: {} });
    expect(result.isError, textOf(result)).toBeFalsy();
    await planted.close();
  }
  expect(existsSync(mark)).toBe(false);
});

it('ATTACK 107: looking does not even refresh the index', async () => {
  const repository = temporaryRepository();
  utimesSync(join(repository.folder, 'README.md'), 1, 1);
  const index = () => readFileSync(join(repository.folder, '.git', 'index'));
  const before = index();
  await lookEverywhere(repository);
  expect(index().equals(before)).toBe(true);
  repository.git('status');
  expect(index().equals(before)).toBe(false);
});

const at = (repository: Repository, path: string) => join(repository.folder, path);

it('ATTACK 16: what git borrows or links to lies inside the roots', async () => {
  const outside = temporaryRepository();
  const secret = outside.write('secret.txt', 'TOP SECRET');
  outside.git('add', '.');
  outside.git('commit', '--quiet', '--message=Secret');
  const commit = outside.git('rev-parse', 'HEAD').trim();
  const borrow = (repository: Repository) =>
    repository.write('.git/objects/info/alternates', `${outside.folder}/.git/objects\n`);
  const linkObjects = async (repository: Repository) => {
    const { rmSync } = await import('node:fs');
    rmSync(at(repository, '.git/objects'), { recursive: true });
    symlinkSync(join(outside.folder, '.git', 'objects'), at(repository, '.git/objects'));
  };
  const longCommondir = (repository: Repository) =>
    repository.write('.git/commondir', `${outside.folder}/.git${'\n'.repeat(20_000)}`);
  const borrowInTurn = (repository: Repository) => {
    repository.write('store/info/alternates', `${outside.folder}/.git/objects\n`);
    repository.write('.git/objects/info/alternates', `${repository.folder}/store\n`);
  };
  const quote = (repository: Repository) =>
    repository.write(
      '.git/objects/info/alternates',
      `"${outside.folder.replace('/', '\\057')}/.git/objects"\n`,
    );
  const linkPacks = async (repository: Repository) => {
    const { rmSync } = await import('node:fs');
    rmSync(at(repository, '.git/objects/pack'), { recursive: true });
    symlinkSync(join(outside.folder, '.git', 'objects', 'pack'), at(repository, '.git/objects/pack'));
  };
  const pipe = async (repository: Repository) => {
    const { execFileSync } = await import('node:child_process');
    execFileSync('mkfifo', [at(repository, '.git/objects/info/alternates')]);
  };
  for (const open of [borrow, borrowInTurn, quote, linkPacks, pipe, linkObjects, longCommondir]) {
    const repository = temporaryRepository();
    await open(repository);
    const own = await connect('2025-11-25', { roots: [repository.folder] });
    for (const [name, given] of [
      ['git_show', { ref: commit }],
      ['git_log', { ref: commit }],
      ['git_drop_stash', {}],
    ] as const) {
      const text = textOf(await own.callTool({ name, arguments: given }));
      expect(text, `${open.name} ${name}`).toMatch(/^NEEDS_CONFIRM/);
    }
    await own.close();
  }
  expect(readFileSync(secret, 'utf8')).toBe('TOP SECRET');
});

it('reads each line in its own encoding', async () => {
  const repository = temporaryRepository();
  repository.write('u.txt', 'é ü 日本\n');
  writeFileSync(at(repository, 'w.txt'), Buffer.from('caf\xe9\n', 'latin1'));
  repository.git('add', '--all', '--intent-to-add');
  const text = textOf(await call('git_diff', repository.folder));
  expect(text).toContain('+é ü 日本');
  expect(text).toContain('+café');
});
