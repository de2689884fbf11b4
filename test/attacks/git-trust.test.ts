import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { git } from '../../src/discoverers/git.ts';
import { callAction, saidBy } from '../support/call-action.ts';
import { temporaryFolder, temporaryRepository, type Repository } from '../support/repository.ts';

const call = (
  { folder }: Repository,
  name: string,
  given: Record<string, unknown> = {},
  rest: { trusted?: boolean; env?: Record<string, string>; path?: readonly string[] } = {},
) => callAction(git, name, given, { folder, ...rest });

/** Installs a hook that says when it runs, and takes nothing. */
function hook(repository: Repository, name: string, folder = join(repository.folder, '.git', 'hooks')) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, name),
    `#!/bin/sh\necho ${name} >> '${join(repository.folder, '.git', 'ran')}'\n`,
  );
  chmodSync(join(folder, name), 0o755);
}

const ran = ({ folder }: Repository): string[] => {
  const file = join(folder, '.git', 'ran');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
};

/** A remote that is reached by an `ssh` of ours, which runs what it is asked to right here. */
function withRemote() {
  const repository = temporaryRepository();
  const bin = temporaryFolder();
  const upstream = temporaryFolder();
  writeFileSync(join(bin, 'ssh'), '#!/bin/sh\nfor last; do :; done\nexec sh -c "$last"\n');
  chmodSync(join(bin, 'ssh'), 0o755);
  repository.git('clone', '--quiet', '--bare', repository.folder, join(upstream, 'up.git'));
  repository.git('remote', 'add', 'origin', `ssh://example.invalid${upstream}/up.git`);
  return { repository, path: [bin], upstream: join(upstream, 'up.git') };
}

it('ATTACK 27: the answer names the hooks that were not run, and no others', async () => {
  const repository = temporaryRepository();
  for (const name of ['pre-commit', 'post-commit', 'pre-push']) hook(repository, name);
  writeFileSync(join(repository.folder, '.git', 'hooks', 'commit-msg'), 'not executable');
  repository.write('a.txt', '1');
  expect(saidBy(await call(repository, 'add', { paths: ['a.txt'] }))).not.toContain('hooks');
  const said = saidBy(await call(repository, 'commit', { message: 'One' }));
  expect(said).toContain(
    'hooks that were not run, since nobody has trusted the project: pre-commit, post-commit]',
  );
  expect(ran(repository)).toEqual([]);
  expect(saidBy(await call(repository, 'status'))).not.toContain('notes');
});

it('ATTACK 27: hooks in a folder of the repository’s choosing are named too', async () => {
  const repository = temporaryRepository();
  hook(repository, 'commit-msg', join(repository.folder, 'tools', 'hooks'));
  repository.git('config', 'core.hooksPath', 'tools/hooks');
  const said = saidBy(await call(repository, 'commit', { message: 'One', amend: true }));
  expect(said).toContain('not run, since nobody has trusted the project: commit-msg');
  expect(ran(repository)).toEqual([]);
});

it('runs hooks of a trusted project, for what changes it', async () => {
  const { repository, path } = withRemote();
  for (const name of ['pre-commit', 'commit-msg', 'pre-push', 'post-checkout', 'post-index-change'])
    hook(repository, name);
  const trusted = { trusted: true, path };
  for (const name of ['status', 'diff', 'log', 'show']) await call(repository, name, {}, trusted);
  expect(ran(repository)).toEqual([]);
  const said = saidBy(await call(repository, 'commit', { message: 'Two', amend: true }, trusted));
  expect(said).toContain('Two');
  expect(said).not.toContain('hooks');
  expect(ran(repository)).toEqual(expect.arrayContaining(['pre-commit', 'commit-msg']));
  repository.git('commit', '--quiet', '--allow-empty', '--message=Three', '--no-verify');
  await call(repository, 'create_branch', { branch: 'other' }, trusted);
  expect(ran(repository)).toContain('post-checkout');
  const pushed = await call(repository, 'push', { branch: 'other' }, trusted);
  expect(pushed.isError, saidBy(pushed)).toBeFalsy();
  expect(ran(repository)).toContain('pre-push');
});

it('lets a hook of a trusted project refuse, and passes on what it says', async () => {
  const repository = temporaryRepository();
  const file = join(repository.folder, '.git', 'hooks', 'pre-commit');
  mkdirSync(join(repository.folder, '.git', 'hooks'), { recursive: true });
  writeFileSync(file, '#!/bin/sh\necho "no tabs, please" >&2\nexit 1\n');
  chmodSync(file, 0o755);
  const refused = await call(repository, 'commit', { message: 'x', amend: true }, { trusted: true });
  expect(refused.isError).toBe(true);
  expect(saidBy(refused)).toContain('no tabs, please');
});

it('uses filters of a trusted project for what changes it, and for nothing else', async () => {
  const repository = temporaryRepository();
  repository.write('.gitattributes', '*.txt filter=up diff=up\n');
  repository.git('config', 'filter.up.clean', `echo x >> .git/ran; tr a-z A-Z`);
  repository.git('config', 'diff.up.textconv', `echo x >> .git/ran; cat`);
  repository.git('config', 'core.fsmonitor', join(repository.folder, 'monitor.sh'));
  repository.write('src/a.txt', 'new\n');
  for (const name of ['status', 'diff', 'show', 'log'])
    expect(saidBy(await call(repository, name, {}, { trusted: true }))).not.toContain('monitor.sh');
  expect(ran(repository)).toEqual([]);
  await call(repository, 'add', { paths: ['src'] }, { trusted: true });
  expect(repository.git('show', ':src/a.txt')).toBe('NEW\n');
});

it('ATTACK 29: fetches without the programs that the repository names, and says which', async () => {
  const { repository, path, upstream } = withRemote();
  const { script, mark } = repository.trap('transport');
  const other = temporaryRepository();
  other.git('push', '--quiet', upstream, 'HEAD:refs/heads/news');
  repository.write('.git/objects/info/alternates', `${join(repository.folder, 'shared')}\n`);
  mkdirSync(join(repository.folder, 'shared'));
  for (const [key, value] of [
    ['core.sshCommand', script],
    ['ssh.variant', 'simple'],
    ['core.gitProxy', script],
    ['core.askPass', script],
    ['core.alternateRefsCommand', script],
    ['credential.helper', `!${script}`],
    ['credential.https://example.org.helper', script],
    ['http.proxy', 'http://evil.invalid'],
    ['http.https://example.org/.sslVerify', 'false'],
    ['protocol.ext.allow', 'always'],
    ['remote.origin.proxy', 'http://evil.invalid'],
    ['fetch.fsckObjects', 'true'],
    ['core.hooksPath', '.git'],
  ] as const)
    repository.git('config', key, value);
  const fetched = await call(repository, 'fetch', {}, { path });
  expect(fetched.isError, saidBy(fetched)).toBeFalsy();
  expect(repository.git('branch', '--remotes')).toContain('origin/news');
  for (const key of [
    'core.sshcommand',
    'credential.helper',
    'core.gitproxy',
    'http.proxy',
    'protocol.ext.allow',
  ])
    expect(saidBy(fetched)).toContain(key);
  expect(saidBy(await call(repository, 'push', {}, { path }))).toContain('core.sshcommand');
  expect(existsSync(mark)).toBe(false);
});

it.each([
  ['url.ext::sh -c evil.insteadOf', 'ssh://example.invalid'],
  ['url.ssh://evil.invalid/.pushInsteadOf', 'ssh://example.invalid/'],
  ['remote.origin.uploadpack', 'evil'],
  ['remote.origin.receivepack', 'evil'],
  ['remote.origin.vcs', 'ext'],
  ['http.cookieFile', '/etc/passwd'],
  ['http.sslCAInfo', 'evil.pem'],
  ['http.curloptResolve', 'example.invalid:22:127.0.0.1'],
  ['fetch.bundleURI', '/etc/passwd'],
  ['fetch.fsck.skipList', '/etc/passwd'],
  ['credential.credentialStore', 'plaintext'],
])('ATTACK 29: what leads elsewhere and cannot be set aside is refused: %s', async (key, value) => {
  const { repository, path } = withRemote();
  repository.git('config', key, value);
  expect(saidBy(await call(repository, 'fetch', {}, { path }))).toMatch(/^REPO_UNTRUSTED/);
});

it('reaches a trusted project’s remote as the project says, but overwrites no branch', async () => {
  const { repository, path } = withRemote();
  const mark = join(repository.folder, '.git', 'own-ssh');
  repository.git('config', 'core.sshCommand', `touch '${mark}'; false`);
  await call(repository, 'fetch', {}, { path, trusted: true });
  expect(existsSync(mark)).toBe(true);
  repository.git('config', 'remote.origin.fetch', '+refs/heads/*:refs/heads/*');
  expect(saidBy(await call(repository, 'fetch', {}, { path, trusted: true }))).toMatch(/^REPO_UNTRUSTED/);
});

it('keeps the user’s own filter, also where the repository has one of that name', async () => {
  const repository = temporaryRepository();
  const { script, mark } = repository.trap('filter');
  const home = temporaryFolder();
  writeFileSync(join(home, '.gitconfig'), '[filter "lfs"]\n\tclean = tr a-z A-Z\n\trequired = true\n');
  repository.git('config', 'filter.lfs.clean', script);
  repository.write('.gitattributes', '*.txt filter=lfs\n');
  repository.write('src/a.txt', 'new\n');
  const env = { HOME: home };
  expect(saidBy(await call(repository, 'add', { paths: ['src'] }, { env }))).toContain('filter.lfs');
  expect(repository.git('show', ':src/a.txt')).toBe('NEW\n');
  expect(existsSync(mark)).toBe(false);
  repository.git('config', 'filter.lfs.clean', 'tr a-z A-Z');
  expect(saidBy(await call(repository, 'add', { paths: ['src'] }, { env }))).not.toContain('switched off');
  repository.git('config', 'lfs.extension.evil.clean', script);
  expect(saidBy(await call(repository, 'status', {}, { env }))).toMatch(/^REPO_UNTRUSTED.*lfs\.extension/);
});

it('ATTACK 26: a filter of a submodule is not run for a trusted project, and takes none of its own away', async () => {
  const repository = temporaryRepository();
  const inner = temporaryRepository(join(repository.folder, 'inner'));
  const { script, mark } = inner.trap('inner');
  for (const one of [repository, inner]) one.write('.gitattributes', '*.txt filter=up\n');
  inner.git('config', 'filter.up.clean', script);
  inner.write('src/a.txt', 'changed\n');
  repository.git('config', 'filter.up.clean', 'tr a-z A-Z');
  repository.git('-c', 'advice.addEmbeddedRepo=false', 'add', 'inner');
  repository.write('src/a.txt', 'new\n');
  const added = await call(repository, 'add', { paths: ['.'] }, { trusted: true });
  expect(added.isError, saidBy(added)).toBeFalsy();
  expect(repository.git('show', ':src/a.txt')).toBe('NEW\n');
  expect(existsSync(mark)).toBe(false);
});

/** Of the git of this machine, `2.55`. Hooks can be configured since 2.54. */
const version = Number(/(\d+\.\d+)/.exec(execFileSync('git', ['--version'], { encoding: 'utf8' }))?.[1]);

it('ATTACK 27: hooks that the repository’s configuration names run for a trusted project only', async () => {
  const repository = temporaryRepository();
  const inner = temporaryRepository(join(repository.folder, 'inner'));
  const mark = join(repository.folder, '.git', 'ran');
  for (const one of [repository, inner]) {
    for (const event of ['pre-commit', 'post-index-change', 'reference-transaction', 'post-checkout']) {
      one.git('config', `hook.on-${event}.event`, event);
      one.git('config', `hook.on-${event}.command`, `echo ${event} >> '${mark}'`);
    }
  }
  repository.git('-c', 'advice.addEmbeddedRepo=false', 'add', 'inner');
  inner.write('src/a.txt', 'changed\n');
  rmSync(mark, { force: true });
  repository.write('a.txt', '1');
  const said = [];
  for (const [name, given] of [
    ['add', { paths: ['a.txt'] }],
    ['commit', { message: 'One' }],
    ['create_branch', { branch: 'other' }],
    ['stash', {}],
    ['switch', { branch: 'main' }],
    ['status', {}],
  ] as const) {
    const result = await call(repository, name, given);
    expect(result.isError, saidBy(result)).toBeFalsy();
    said.push(saidBy(result));
  }
  expect(ran(repository)).toEqual([]);
  expect(said[1]).toContain('switched off, since the repository configures them: hook.on-pre-commit');
  expect(said.at(-1)).not.toContain('hook');
  repository.git('-c', 'hook.on-pre-commit.enabled=false', 'config', 'hook.a=b.command', 'true');
  expect(saidBy(await call(repository, 'status'))).toMatch(/^REPO_UNTRUSTED.*hook\.a=b/);
  repository.git('config', '--unset', 'hook.a=b.command');
  await call(repository, 'commit', { message: 'Two', amend: true }, { trusted: true });
  expect(ran(repository).includes('pre-commit')).toBe(version >= 2.54);
});
