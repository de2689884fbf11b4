import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect } from '../support/server.ts';
import { temporaryRepository, type Repository } from '../support/repository.ts';
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

/** Asks about everything that looks, and about what changes something; with nobody to ask, nothing is done. */
async function asksEverywhere({ folder }: Repository, unusual: string): Promise<void> {
  for (const [name, given] of looking)
    expect(textOf(await call(name, folder, given)), name).toMatch(
      new RegExp(`^NEEDS_CONFIRM.* unusual configuration \\(${unusual}\\)`, 's'),
    );
  // Nor does anybody who is never asked look into it: hosts were promised that looking is looking.
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

it('ATTACK 29: an address that is a command needs a setting of git even after trust', async () => {
  const repository = temporaryRepository();
  const { mark } = repository.trap('ext');
  repository.git('remote', 'add', 'evil', `ext::sh -c touch% ${mark}`);
  expect(textOf(await act('git_fetch', repository.folder, { remote: 'evil' }))).toContain('not allowed');
  expect(existsSync(mark)).toBe(false);
});

it.each([
  ['24', 'core.fsmonitor', 'core.fsmonitor'],
  ['25', 'diff.external', 'diff.external'],
  ['26', 'filter.a=b.clean', 'filter.clean'],
  ['29', 'url.ext::sh -c evil.insteadOf', 'url.insteadof'],
  ['16', 'core.worktree', 'core.worktree'],
  ['16', 'blame.ignoreRevsFile', 'blame.ignorerevsfile'],
])('ATTACK %s: a repository that sets %s is asked about, and not read', async (_row, key, unusual) => {
  const repository = temporaryRepository();
  const { script, mark } = repository.trap('setting');
  repository.write('.gitattributes', '*.txt diff=evil filter=a=b\n');
  repository.git('config', key, script);
  repository.write('src/a.txt', 'changed\n');
  await asksEverywhere(repository, unusual);
  expect(existsSync(mark)).toBe(false);
});

it('ATTACK 30: a repository of another user is refused, with the remedy that git names', async () => {
  if (process.getuid?.() !== 0) return;
  const repository = temporaryRepository();
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

it('takes the paths of git_add for names, not patterns', async () => {
  const repository = temporaryRepository();
  repository.write('axb.txt', '1');
  for (const pattern of ['a*b.txt', 'a?b.txt', ':(glob)a*', '*']) {
    expect((await act('git_add', repository.folder, { paths: [pattern] })).isError).toBe(true);
  }
  expect(repository.git('diff', '--cached', '--name-only')).toBe('');
});

it('asks about every action when a configuration is too long to be read', async () => {
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

it('ATTACK 26: a filter whose name is not UTF-8 has every action asked about', async () => {
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

it('does not overwrite an ignored file when it switches the branch', async () => {
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

const at = (repository: Repository, path: string) => join(repository.folder, path);

it('reads each line of a diff in its own encoding', async () => {
  const repository = temporaryRepository();
  repository.write('u.txt', 'é ü 日本\n');
  writeFileSync(at(repository, 'w.txt'), Buffer.from('caf\xe9\n', 'latin1'));
  repository.git('add', '--all', '--intent-to-add');
  const text = textOf(await call('git_diff', repository.folder));
  expect(text).toContain('+é ü 日本');
  expect(text).toContain('+café');
});
