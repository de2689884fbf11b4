import {
  appendFileSync,
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

// One server for all: its roots are the parent of the temporary folders, and each call names its folder.
let client: Client;
beforeAll(async () => {
  client = await connect('2025-11-25', { roots: [realpathSync(tmpdir())], args: ['--allow', 'destroy'] });
});
afterAll(() => client.close());

const call = (name: string, cwd: string, given: Record<string, unknown> = {}) =>
  client.callTool({ name, arguments: { cwd, ...given } });

const looking: [string, Record<string, unknown>][] = [
  ['git_status', {}],
  ['git_status', { untracked: 'all' }],
  ['git_diff', {}],
  ['git_diff', { staged: true }],
  ['git_diff', { from: 'HEAD' }],
  ['git_log', { body: true }],
  ['git_show', {}],
  ['git_show', { ref: 'HEAD:src/a.txt' }],
  ['git_blame', { path: 'src/a.txt', last: 3 }],
  ['git_branches', { which: 'all' }],
  ['git_tags', {}],
  ['git_remotes', {}],
  ['git_stashes', {}],
  ['git_grep', { pattern: 'one' }],
  ['git_file', { file: 'src/a.txt' }],
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
  ['1', 'git_file', { ref: '--output=OUT', file: 'a' }],
  ['1', 'git_file', { ref: 'HEAD', file: '--output=OUT' }],
  ['1', 'git_blame', { path: 'README.md', ref: '--contents=/etc/passwd' }],
  ['4', 'git_grep', { pattern: 'x', ref: '-Otouch OUT;' }],
  ['5', 'git_fetch', { remote: '--upload-pack=touch OUT;' }],
  ['5', 'git_push', { remote: '--receive-pack=touch OUT;' }],
  ['1', 'git_switch', { branch: '--orphan=x' }],
  ['1', 'git_create_branch', { branch: '--force' }],
  ['1', 'git_restore', { paths: ['README.md'], from: '-x' }],
  ['1', 'git_reset_hard', { ref: '--pathspec-from-file=/etc/passwd' }],
];

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

it('ATTACK 8, 9: there is no archive, rebase, bisect, submodule or config', async () => {
  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name);
  for (const action of ['archive', 'rebase', 'bisect', 'submodule', 'difftool', 'config', 'init', 'clone']) {
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

it('ATTACK 13: a remote that is a command, a file or a local folder is not fetched from', async () => {
  const repository = temporaryRepository();
  const { mark } = repository.trap('ext');
  const other = temporaryRepository();
  repository.git('remote', 'add', 'evil', `ext::sh -c touch% ${mark}`);
  repository.git('remote', 'add', 'local', other.folder);
  for (const remote of ['evil', 'local']) {
    const result = await call('git_fetch', repository.folder, { remote });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/not allowed/);
  }
  expect(existsSync(mark)).toBe(false);
});

it('says where the remotes are listed when there is none of that name', async () => {
  const { folder } = temporaryRepository();
  const said = textOf(await call('git_fetch', folder, { remote: 'nope' }));
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

it('ATTACK 24: core.fsmonitor of the repository does not run', async () => {
  const repository = temporaryRepository();
  const { script, mark } = repository.trap('fsmonitor');
  repository.git('config', 'core.fsmonitor', script);
  await lookEverywhere(repository);
  await call('git_add', repository.folder, { paths: ['.'] });
  expect(existsSync(mark)).toBe(false);
});

it('ATTACK 25: external diffs and text conversions of the repository do not run', async () => {
  const repository = temporaryRepository();
  const { script, mark } = repository.trap('diff');
  repository.write('.gitattributes', '*.txt diff=evil\n');
  repository.git('add', '.');
  repository.git('commit', '--quiet', '--message=Attributes');
  for (const key of ['diff.evil.textconv', 'diff.evil.command', 'diff.external'])
    repository.git('config', key, script);
  repository.git('config', 'diff.evil.cachetextconv', 'false');
  repository.write('src/a.txt', 'changed\n');
  await lookEverywhere(repository);
  await call('git_show', repository.folder, { ref: 'HEAD~1' });
  await call('git_stash', repository.folder);
  expect(existsSync(mark)).toBe(false);
});

it('ATTACK 26: filters of the repository do not run, and the result says so', async () => {
  const repository = temporaryRepository();
  const { script, mark } = repository.trap('filter');
  repository.write('.gitattributes', '*.txt filter=evil\n');
  for (const stage of ['clean', 'smudge', 'process'])
    repository.git('config', `filter.evil.${stage}`, script);
  repository.git('config', 'filter.evil.required', 'true');
  repository.write('src/a.txt', 'changed\n');
  await lookEverywhere(repository);
  const status = await call('git_status', repository.folder);
  expect(status.structuredContent).toMatchObject({
    unstaged: [{ path: 'src/a.txt', change: 'modified' }],
    notes: ['switched off, since the repository configures them: filter.evil'],
  });
  const added = await call('git_add', repository.folder, { paths: ['src'] });
  expect(added.isError, textOf(added)).toBeFalsy();
  expect(textOf(added)).toContain('filter.evil');
  await call('git_stash', repository.folder);
  await call('git_apply_stash', repository.folder);
  expect(existsSync(mark)).toBe(false);
});

it('ATTACK 26: a filter whose name cannot be overridden stops every action', async () => {
  const repository = temporaryRepository();
  const { script, mark } = repository.trap('filter');
  repository.write('.gitattributes', '*.txt filter=a=b\n');
  repository.git('config', 'filter.a=b.clean', script);
  repository.write('src/a.txt', 'changed\n');
  expect(textOf(await call('git_status', repository.folder))).toMatch(/^REPO_UNTRUSTED.*filter\.a=b\.clean/);
  expect(existsSync(mark)).toBe(false);
});

it('ATTACK 27: hooks of the repository do not run', async () => {
  const repository = temporaryRepository();
  const { script, mark } = repository.trap('hook');
  const hooks = join(repository.folder, '.git', 'hooks');
  mkdirSync(hooks, { recursive: true });
  for (const hook of [
    'pre-commit',
    'commit-msg',
    'post-commit',
    'prepare-commit-msg',
    'post-checkout',
    'reference-transaction',
    'post-index-change',
  ]) {
    symlinkSync(script, join(hooks, hook));
  }
  repository.write('src/a.txt', 'changed\n');
  await lookEverywhere(repository);
  await call('git_add', repository.folder, { paths: ['src'] });
  expect(textOf(await call('git_commit', repository.folder, { message: 'Change' }))).toContain('Change');
  expect((await call('git_create_branch', repository.folder, { branch: 'other' })).isError).toBeFalsy();
  repository.git('config', 'core.hooksPath', hooks);
  await call('git_switch', repository.folder, { branch: 'main' });
  expect(existsSync(mark)).toBe(false);
});

it('ATTACK 29: a repository that leads elsewhere is not talked to', async () => {
  const repository = temporaryRepository();
  const { script, mark } = repository.trap('transport');
  repository.git('remote', 'add', 'origin', 'ssh://example.invalid/x.git');
  repository.git('config', 'core.sshCommand', script);
  repository.git('config', 'url.ext::sh -c evil.insteadOf', 'ssh://');
  for (const name of ['git_fetch', 'git_push', 'git_pull']) {
    expect(textOf(await call(name, repository.folder))).toMatch(/^REPO_UNTRUSTED.*url\.ext/);
  }
  await lookEverywhere(repository);
  expect(existsSync(mark)).toBe(false);
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
  expect((await call('git_file', repository.folder, { file: 'src/a.txt' })).isError).toBe(true);
  expect(existsSync(mark)).toBe(false);
});

it('ATTACK 24: log.showSignature does not run the gpg.program of the repository', async () => {
  const repository = temporaryRepository();
  const { script, mark } = repository.trap('gpg');
  const signed = [
    'tree ' + repository.git('rev-parse', 'HEAD^{tree}').trim(),
    'author A <a@b> 0 +0000',
    'committer A <a@b> 0 +0000',
    'gpgsig -----BEGIN PGP SIGNATURE-----',
    ' x',
    ' -----END PGP SIGNATURE-----',
    '',
    'Signed',
    '',
  ].join('\n');
  repository.write('.git/signed', signed);
  const commit = repository.git('hash-object', '-t', 'commit', '-w', '.git/signed').trim();
  repository.git('update-ref', 'refs/heads/main', commit);
  repository.git('config', 'log.showSignature', 'true');
  repository.git('config', 'gpg.program', script);
  await lookEverywhere(repository);
  repository.git('config', 'commit.gpgSign', 'true');
  await call('git_commit', repository.folder, { message: 'x', amend: true });
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

it('ATTACK 31: submodules are not followed', async () => {
  const repository = temporaryRepository();
  const inner = temporaryRepository(join(repository.folder, 'inner'));
  const { script, mark } = inner.trap('inner');
  inner.git('config', 'core.fsmonitor', script);
  inner.git('config', 'filter.evil.clean', script);
  inner.write('.gitattributes', '* filter=evil\n');
  repository.git('-c', 'advice.addEmbeddedRepo=false', 'add', 'inner');
  inner.write('src/a.txt', 'changed\n');
  repository.git('config', 'submodule.recurse', 'true');
  repository.git('config', 'status.submoduleSummary', 'true');
  repository.git('config', 'diff.submodule', 'diff');
  await lookEverywhere(repository);
  expect(existsSync(mark)).toBe(false);
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

it('ATTACK 16: core.worktree does not lead out of the roots', async () => {
  const repository = temporaryRepository();
  repository.git('config', 'core.worktree', '/etc');
  const result = await call('git_status', repository.folder, { untracked: 'all' });
  expect(textOf(result)).toMatch(/^PATH_OUTSIDE_ROOTS/);
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
    expect((await call('git_add', repository.folder, { paths: [pattern] })).isError).toBe(true);
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
  expect(textOf(await call('git_status', repository.folder))).toMatch(/^REPO_UNTRUSTED/);
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
    expect(textOf(await call(name, repository.folder))).toMatch(/^REPO_UNTRUSTED/);
  }
  expect(existsSync(mark)).toBe(false);
});

/** A repository with another inside, whose commit has moved on since it was added. */
function withSubmodule() {
  const repository = temporaryRepository();
  const inner = temporaryRepository(join(repository.folder, 'inner'));
  repository.git('-c', 'advice.addEmbeddedRepo=false', 'add', 'inner');
  repository.git('commit', '--quiet', '--message=Submodule');
  inner.write('src/a.txt', 'next\n');
  inner.git('commit', '--quiet', '--all', '--message=Next');
  return { repository, inner };
}

it('ATTACK 31: a submodule is not looked into with its own external diff', async () => {
  const { repository, inner } = withSubmodule();
  const { script, mark } = inner.trap('inner');
  repository.git('config', 'diff.submodule', 'diff');
  inner.git('config', 'diff.external', script);
  await lookEverywhere(repository);
  repository.git('commit', '--quiet', '--all', '--message=Moved');
  await lookEverywhere(repository);
  expect(existsSync(mark)).toBe(false);
});

it('ATTACK 31: filters of a submodule do not run when files are staged, committed or switched', async () => {
  const { repository, inner } = withSubmodule();
  const { script, mark } = inner.trap('inner');
  inner.write('.gitattributes', '*.txt filter=deep\n');
  inner.git('config', 'filter.deep.clean', script);
  inner.write('src/a.txt', 'again\n');
  repository.write('src/a.txt', 'outer\n');
  for (const [name, given] of [
    ['git_add', { paths: ['.'] }],
    ['git_commit', { message: 'All', all: true }],
    ['git_create_branch', { branch: 'other' }],
    ['git_switch', { branch: 'main' }],
  ] as const) {
    const result = await call(name, repository.folder, given);
    expect(result.isError, `${name}: ${textOf(result)}`).toBeFalsy();
    expect(textOf(result)).toContain('filter.deep');
  }
  expect(existsSync(mark)).toBe(false);
});

it('ATTACK 71: a link inside .git does not lead writing out of it', async () => {
  const victim = join(temporaryFolder(), 'victim');
  writeFileSync(victim, 'mine');
  const { symlinkSync: link, rmSync } = await import('node:fs');
  for (const place of ['COMMIT_EDITMSG', 'logs/HEAD', 'refs/heads/evil']) {
    const repository = temporaryRepository();
    const path = join(repository.folder, '.git', place);
    rmSync(path, { force: true });
    link(victim, path);
    repository.write('src/a.txt', 'changed\n');
    const result = await call('git_commit', repository.folder, { message: 'x', all: true });
    expect(textOf(result)).toMatch(/^REPO_UNTRUSTED.*symbolic link/);
    expect(readFileSync(victim, 'utf8')).toBe('mine');
  }
});

it('ATTACK 16: a .git file, or a commondir, does not lead to a repository outside', async () => {
  const root = temporaryFolder();
  const other = temporaryRepository();
  const inner = await connect('2025-11-25', { roots: [root] });
  try {
    writeFileSync(join(root, '.git'), `gitdir: ${other.folder}/.git\n`);
    const asFile = await inner.callTool({ name: 'git_file', arguments: { file: 'README.md' } });
    expect(textOf(asFile)).toMatch(/^PATH_OUTSIDE_ROOTS/);
    const { rmSync } = await import('node:fs');
    rmSync(join(root, '.git'));
    const own = temporaryRepository(root);
    own.write('.git/commondir', `${other.folder}/.git\n`);
    expect(textOf(await inner.callTool({ name: 'git_log', arguments: {} }))).toMatch(/^PATH_OUTSIDE_ROOTS/);
  } finally {
    await inner.close();
  }
});

it('a linked worktree works, though its repository lies outside', async () => {
  const main = temporaryRepository();
  const linked = join(temporaryFolder(), 'linked');
  main.git('worktree', 'add', '--quiet', linked, '-b', 'linked');
  const inner = await connect('2025-11-25', { roots: [linked] });
  try {
    const status = await inner.callTool({ name: 'git_status', arguments: {} });
    expect(status.structuredContent).toMatchObject({ branch: 'linked', clean: true });
  } finally {
    await inner.close();
  }
});

it('push and fetch refuse a repository that says which branches they overwrite', async () => {
  const repository = temporaryRepository();
  repository.git('remote', 'add', 'origin', 'https://example.invalid/x.git');
  repository.git('config', 'remote.origin.push', '+refs/heads/main:refs/heads/production');
  expect(textOf(await call('git_push', repository.folder, { branch: 'main' }))).toMatch(
    /^REPO_UNTRUSTED.*remote\.origin\.push/,
  );
  repository.git('config', '--unset', 'remote.origin.push');
  repository.git('config', 'remote.origin.fetch', '+refs/heads/*:refs/heads/*');
  expect(textOf(await call('git_fetch', repository.folder, { prune: true }))).toMatch(
    /^REPO_UNTRUSTED.*remote\.origin\.fetch/,
  );
  repository.git('config', 'remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*');
  expect(textOf(await call('git_fetch', repository.folder))).not.toMatch(/^REPO_UNTRUSTED/);
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
  expect((await call('git_switch', repository.folder, { branch: 'other' })).isError).toBe(true);
  expect(readFileSync(join(repository.folder, '.env'), 'utf8')).toBe('mine');
});

it('an error does not quote a file that the repository names', async () => {
  const repository = temporaryRepository();
  repository.git('config', 'blame.ignoreRevsFile', '/etc/passwd');
  expect(textOf(await call('git_blame', repository.folder, { path: 'src/a.txt' }))).not.toContain('root:');
  repository.write('.git-blame-ignore-revs', '');
  repository.git('config', 'blame.ignoreRevsFile', '.git-blame-ignore-revs');
  expect((await call('git_blame', repository.folder, { path: 'src/a.txt' })).isError).toBeFalsy();
});

it('stashes untracked files, and brings them back', async () => {
  const repository = temporaryRepository();
  const file = repository.write('new.txt', 'new');
  await call('git_stash', repository.folder, { untracked: true });
  expect(existsSync(file)).toBe(false);
  const back = await call('git_apply_stash', repository.folder, { remove: true });
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

/** A repository with a changed file and an attribute that calls for a filter, whose definition the test puts somewhere. */
function withFilter() {
  const repository = temporaryRepository();
  const { script, mark } = repository.trap('filter');
  repository.write('.gitattributes', '*.txt filter=evil\n');
  repository.write('src/a.txt', 'other\n');
  return { repository, mark, filter: `[filter "evil"]\n\tclean = ${script}\n` };
}

const at = (repository: Repository, path: string) => join(repository.folder, path);

it('ATTACK 26: a configuration that git reads in another place is looked at there', async () => {
  const { repository, mark, filter } = withFilter();
  const { cpSync, renameSync } = await import('node:fs');
  mkdirSync(at(repository, '.git/common'));
  for (const name of ['objects', 'refs'])
    renameSync(at(repository, `.git/${name}`), at(repository, `.git/common/${name}`));
  cpSync(at(repository, '.git/config'), at(repository, '.git/common/config'));
  appendFileSync(at(repository, '.git/common/config'), filter);
  repository.write('.git/commondir', 'common\n');
  for (const name of ['git_status', 'git_diff']) await call(name, repository.folder);
  expect(existsSync(mark)).toBe(false);
});

it('ATTACK 26: a broken repository is not passed over for the one above it', async () => {
  const { repository, mark, filter } = withFilter();
  appendFileSync(at(repository, '.git/config'), filter);
  repository.write('sub/.git/config', '[core]\n\tbare = false\n');
  repository.write('sub/x.txt', 'x');
  const result = await call('git_status', at(repository, 'sub'));
  expect(result.isError).toBe(true);
  repository.write('sub/.git/HEAD', 'ref: nope\n');
  for (const name of ['objects', 'refs']) mkdirSync(at(repository, `sub/.git/${name}`));
  await call('git_status', at(repository, 'sub'));
  expect(existsSync(mark)).toBe(false);
});

it.each(['gitdir: good\nevil\n', 'gitdir: good ', 'gitdir: good\t', 'gitdir: good\n\n x'])(
  'ATTACK 26: a .git file that can be read in two ways is refused: %j',
  async (content) => {
    const { repository, mark, filter } = withFilter();
    const { cpSync, renameSync } = await import('node:fs');
    const named = content.slice(8).replace(/[\r\n]+$/, '');
    renameSync(at(repository, '.git'), at(repository, named));
    cpSync(at(repository, named), at(repository, 'good'), { recursive: true });
    appendFileSync(at(repository, `${named}/config`), filter);
    repository.write('.git', content);
    expect(textOf(await call('git_status', repository.folder))).toMatch(/^REPO_UNTRUSTED/);
    expect(existsSync(mark)).toBe(false);
  },
);

it('ATTACK 26: inside another repository without a work tree the question is always put', async () => {
  const { repository, mark, filter } = withFilter();
  const { cpSync } = await import('node:fs');
  cpSync(at(repository, '.git'), at(repository, 'nested'), { recursive: true });
  writeFileSync(at(repository, 'nested/config'), `[core]\n\tbare = false\n\tworktree = .\n${filter}`);
  const result = await call('git_status', at(repository, 'nested'));
  expect(result.isError).toBe(true);
  expect(existsSync(mark)).toBe(false);
});

it('ATTACK 31: a submodule that comes with a branch or a stash is not looked into', async () => {
  const repository = temporaryRepository();
  const inner = temporaryRepository(at(repository, 'sub'));
  const { script, mark } = inner.trap('inner');
  inner.write('.gitattributes', '*.txt filter=hidden\n');
  inner.git('add', '.');
  inner.git('commit', '--quiet', '--message=Attributes');
  inner.write('src/a.txt', 'changed\n');
  inner.git('config', 'filter.hidden.clean', script);
  repository.git('switch', '--quiet', '--create', 'other');
  repository.git(
    'update-index',
    '--add',
    '--cacheinfo',
    `160000,${inner.git('rev-parse', 'HEAD').trim()},sub`,
  );
  repository.git('commit', '--quiet', '--message=Link');
  const { renameSync } = await import('node:fs');
  renameSync(at(repository, 'sub'), join(repository.folder, '..', `sub-${process.pid}`));
  repository.git('switch', '--quiet', '--force', 'main');
  renameSync(join(repository.folder, '..', `sub-${process.pid}`), at(repository, 'sub'));
  await call('git_switch', repository.folder, { branch: 'other' });
  await call('git_switch', repository.folder, { branch: 'main' });
  await call('git_create_branch', repository.folder, { branch: 'third', start: 'other' });
  expect(existsSync(mark)).toBe(false);
});

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
    const own = await connect('2025-11-25', { roots: [repository.folder], args: ['--allow', 'destroy'] });
    for (const [name, given] of [
      ['git_show', { ref: commit }],
      ['git_log', { ref: commit }],
      ['git_drop_stash', {}],
    ] as const) {
      const text = textOf(await own.callTool({ name, arguments: given }));
      expect(text, `${open.name} ${name}`).toMatch(/^(REPO_UNTRUSTED|PATH_OUTSIDE_ROOTS)/);
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
