import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import git from '../../src/discoverers/git/git.ts';
import { inspected, runInspected } from '../support/inspected.ts';
import { temporaryFolder, temporaryRepository, type Repository } from '../support/repository.ts';

const looking: [string, Record<string, unknown>][] = [
  ['status', { untracked: 'all' }],
  ['diff', {}],
  ['diff', { staged: true }],
  ['diff', { from: 'main' }],
  ['log', { body: true }],
  ['show', {}],
  ['show', { ref: 'HEAD:src/a.txt' }],
  ['blame', { path: 'src/a.txt', last: 3 }],
  ['branches', { which: 'all' }],
  ['tags', {}],
  ['remotes', {}],
  ['stashes', {}],
  ['grep', { pattern: 'one' }],
  ['reflog', {}],
];

/** Makes programs that say their name when they run, and what they say. */
function witnesses(repository: Repository) {
  const folder = join(repository.folder, '.git', 'evil');
  mkdirSync(folder);
  const log = join(repository.folder, '..', `${process.pid}-witness`);
  rmSync(log, { force: true });
  onTestFinished(() => rmSync(log, { force: true }));
  const ran = () => (existsSync(log) ? [...new Set(readFileSync(log, 'utf8').trim().split('\n'))] : []);
  const program = (name: string) => {
    const file = join(folder, name.replaceAll(/\W/g, '-'));
    writeFileSync(file, `#!/bin/sh\necho '${name}' >> '${log}'\nexit 1\n`);
    chmodSync(file, 0o755);
    return file;
  };
  return { program, ran };
}

/** Settings by which git runs a program, or reads files elsewhere, of each kind some. */
const settings = `
  core.fsmonitor core.pager core.editor core.askPass core.sshCommand core.gitProxy core.alternateRefsCommand
  sequence.editor pager.status interactive.diffFilter alias.status diff.external diff.evil.command
  diff.evil.textconv filter.evil.clean filter.evil.smudge filter.evil.process merge.evil.driver merge.tool
  gpg.program gpg.ssh.program gpg.ssh.defaultKeyCommand log.showSignature credential.helper
  trailer.see.command commit.template uploadpack.packObjectsHook submodule.inner.update submodule.recurse
  ssh.variant protocol.ext.allow init.templateDir gc.recentObjectsHook rerere.enabled browser.evil.cmd
  instaweb.httpd sendemail.smtpserver remote.origin.promisor remote.origin.partialclonefilter
  branch.main.mergeOptions pull.twohead core.worktree core.attributesFile blame.ignoreRevsFile mailmap.file
  fetch.fsck.skipList http.cookieFile remote.origin.uploadpack remote.origin.vcs lfs.extension.evil.clean
  hook.evil.command extensions.partialClone something.new.command`
  .trim()
  .split(/\s+/);
const hooks = `
  pre-commit prepare-commit-msg commit-msg post-commit post-checkout post-merge pre-push post-rewrite pre-auto-gc
  reference-transaction post-index-change pre-merge-commit fsmonitor-watchman pre-rebase sendemail-validate`
  .trim()
  .split(/\s+/);

/** Everything that a repository can have without settings of its own: attributes, hooks, changes. */
function armedRepository() {
  const repository = temporaryRepository();
  const { program, ran } = witnesses(repository);
  repository.git('branch', 'other');
  repository.write('.gitattributes', '* diff=evil filter=evil merge=evil\n');
  repository.git('add', '.');
  repository.git('commit', '--quiet', '--message=Attributes\n\nSee: it');
  repository.git('remote', 'add', 'origin', 'ext::sh -c evil');
  for (const name of hooks) symlinkSync(program(name), join(repository.folder, '.git', 'hooks', name));
  repository.write('README.md', 'changed\n');
  repository.write('src/a.txt', 'changed\n');
  repository.write('new.txt', 'new\n');
  return { repository, program, ran };
}

/** Looks in every way: nothing is run, nothing is written. */
async function looksWithoutTrust({ folder }: Repository): Promise<void> {
  const index = () => readFileSync(join(folder, '.git', 'index'));
  const before = index();
  for (const [name, given] of looking) {
    const { trust, said } = await runInspected(git, name, given, { folder });
    expect({ name, trust }, said).toEqual({ name, trust: undefined });
    expect(said).not.toContain('PROGRAM_FAILED');
  }
  expect(index().equals(before)).toBe(true);
}

async function asksForTrust(folder: string, unusual: string | RegExp, roots = [folder]): Promise<void> {
  for (const [name] of looking) {
    const { trust = 'none' } = await inspected(git, name, { folder, roots });
    expect(trust, name).toMatch(/^looks into a repository with an unusual configuration \(.*\)$/);
    expect(trust, name).toMatch(unusual);
  }
}

it('ATTACK 24–29: reading an ordinary repository runs nothing that it contains', async () => {
  const { repository, ran } = armedRepository();
  await looksWithoutTrust(repository);
  expect(ran()).toEqual([]);
});

it('ATTACK 24–29: a repository whose settings run programs is read only after a yes', async () => {
  const { folder, git: run, write } = temporaryRepository();
  const plain = readFileSync(join(folder, '.git', 'config'), 'utf8');
  for (const key of [...settings, 'url.ext::sh -c evil.insteadOf']) {
    write('.git/config', plain);
    run('config', key, 'true');
    const [section = '', ...rest] = key.toLowerCase().split('.');
    await asksForTrust(folder, `(${section}.${rest.at(-1)})`);
  }
});

it('runs the programs of the armed repository when git is started without protection', () => {
  const { repository, program, ran } = armedRepository();
  for (const key of ['core.fsmonitor', 'filter.evil.process']) repository.git('config', key, program(key));
  // The programs fail on purpose, which git may pass over.
  for (const args of [['status'], ['diff'], ['commit', '--all', '--message=x']])
    spawnSync('git', ['-c', 'core.pager=cat', ...args], { cwd: repository.folder });
  expect(ran()).toEqual(expect.arrayContaining(['core.fsmonitor', 'filter.evil.process']));
});

const evilFilter = '[filter "evil"]\n\tclean = touch ran\n';

/** Puts a link that leads elsewhere at a path in the data of a repository. */
const linked =
  (path: string) =>
  ({ folder }: Repository) => {
    const place = join(folder, '.git', path);
    rmSync(place, { recursive: true, force: true });
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync('/etc/passwd', place);
  };

type Lead = (repository: Repository) => unknown;
const write =
  (path: string, content = ''): Lead =>
  (repository) =>
    repository.write(path, content);
const move: Lead = ({ folder, write: put }) => {
  renameSync(join(folder, '.git'), join(folder, 'data'));
  put('.git', 'gitdir: data\n');
};
const link: Lead = ({ folder }) => {
  rmSync(join(folder, '.git'), { recursive: true });
  symlinkSync('/etc', join(folder, '.git'));
};
const linkObject: Lead = (repository) => {
  const [id = ''] = repository.git('rev-parse', 'HEAD').trim().split('\n');
  linked(`objects/${id.slice(0, 2)}/${id.slice(2)}`)(repository);
};
const setting =
  (key: string, value: string, file: string): Lead =>
  (repository) => {
    repository.write(file, evilFilter);
    repository.git('config', key, value);
  };
const fifo: Lead = ({ folder }) => {
  execFileSync('mkfifo', [join(folder, '.git', 'ORIG_HEAD')]);
};
const linkedFiles =
  'HEAD packed-refs shallow objects objects/pack objects/5e refs/heads/leak info/attributes';

/** Ways to have git read what is elsewhere, or settings where nobody sees them at once, by what is said of each. */
const detours: [unusual: string, lead: Lead][] = [
  ['include.path', setting('include.path', '../conf/other', 'conf/other')],
  ['includeif.path', setting('includeIf.onbranch:main.path', 'other', '.git/other')],
  ['.git/config.worktree', setting('extensions.worktreeConfig', 'true', '.git/config.worktree')],
  ['.git is no folder', move],
  ['.git is no folder', link],
  ['.git/commondir', write('.git/commondir', '/elsewhere/.git\n')],
  ['.git/objects/info/alternates', write('.git/objects/info/alternates', '/elsewhere/.git/objects\n')],
  ['.git/remotes', write('.git/remotes/origin', 'URL: x\n')],
  ['.git/branches', write('.git/branches/origin', 'x\n')],
  ['.git/info/grafts', write('.git/info/grafts')],
  ['.git/config', linked('config')],
  ...[...linkedFiles.split(' '), 'logs/refs/heads/leak', 'worktrees/a/gitdir'].map((path): [string, Lead] => [
    `.git/${path} is a link`,
    linked(path),
  ]),
  ['.git/objects/../.* is a link', linkObject],
  ['.git/ORIG_HEAD is a device', fifo],
];

it.each(detours)(
  'ATTACK 16, 26: git reads a repository with a detour only after a yes: %s',
  async (unusual, lead) => {
    const repository = temporaryRepository();
    lead(repository);
    const pattern = new RegExp(unusual.replaceAll('/..', '/[0-9a-f]{2}'));
    await asksForTrust(repository.folder, unusual.includes('.*') ? pattern : unusual);
  },
);

it('ATTACK 16: a bare repository among the files is read only after a yes', async () => {
  const repository = temporaryRepository();
  repository.git('init', '--quiet', '--bare', 'fixtures/bare');
  const bare = join(repository.folder, 'fixtures', 'bare');
  for (const folder of [bare, join(bare, 'hooks'), join(repository.folder, '.git', 'hooks')])
    await asksForTrust(folder, 'a bare repository among its files', [repository.folder]);
  await looksWithoutTrust(repository);
});

it('ATTACK 26: a broken repository is not passed over for the one above it', async () => {
  const repository = temporaryRepository();
  repository.write('sub/.git/config', '[core]\n\tbare = false\n');
  repository.write('sub/x.txt', 'x');
  const place = { folder: join(repository.folder, 'sub'), roots: [repository.folder] };
  const { said } = await runInspected(git, 'status', {}, place);
  expect(said).toContain('not a git repository');
  expect(said).toContain('PROGRAM_FAILED');
});

it('ATTACK 31: nothing starts in submodules, whatever they have', async () => {
  const repository = temporaryRepository();
  const inner = temporaryRepository(join(repository.folder, 'inner'));
  const { program, ran } = witnesses(inner);
  for (const key of ['core.fsmonitor', 'filter.evil.clean', 'diff.external'])
    inner.git('config', key, program(key));
  inner.write('.gitattributes', '* filter=evil\n');
  repository.git('-c', 'advice.addEmbeddedRepo=false', 'add', 'inner');
  repository.git('commit', '--quiet', '--message=Submodule');
  inner.write('src/a.txt', 'changed\n');
  await looksWithoutTrust(repository);
  expect(ran()).toEqual([]);
  await asksForTrust(inner.folder, 'core.fsmonitor');
});

it('reads a linked work tree once it is trusted', async () => {
  const main = temporaryRepository();
  const folder = join(temporaryFolder(), 'linked');
  main.git('worktree', 'add', '--quiet', folder, '-b', 'linked');
  await asksForTrust(folder, '.git is no folder');
  const { said } = await runInspected(git, 'status', {}, { folder, trusted: true });
  expect(said).toContain('on linked at');
  await looksWithoutTrust(main);
});

it('answers as git itself does with the person’s own configuration', async () => {
  const repository = temporaryRepository();
  const home = temporaryFolder();
  writeFileSync(
    join(home, '.gitconfig'),
    [
      '[user]\n\tname = Grace\n\temail = grace@example.org',
      '[diff]\n\tmnemonicPrefix = true\n\talgorithm = histogram\n\trenames = copies',
      '[filter "up"]\n\tclean = tr a-z A-Z\n\tsmudge = tr A-Z a-z\n\trequired = true',
      '[core]\n\tattributesFile = ~/attributes\n\tquotePath = false\n\tabbrev = 12',
      '[status]\n\tshowUntrackedFiles = all\n[log]\n\tdate = iso',
    ].join('\n'),
  );
  writeFileSync(join(home, 'attributes'), '*.up filter=up\n*.txt diff=cpp\n');
  for (const key of ['user.name', 'user.email']) repository.git('config', '--unset', key);
  const env = { HOME: home };
  const plain = (...args: string[]) =>
    execFileSync('git', args, { cwd: repository.folder, encoding: 'utf8', env: { ...process.env, ...env } });
  // The name of a changed file is said by two lines, not by three.
  const shortened = (diff: string) => diff.replaceAll(/^diff --git .*\nindex .*\n(?=--- )/gm, '').trimEnd();
  const call = async (name: string, given: Record<string, unknown>, trusted = false) => {
    const { said, trust } = await runInspected(git, name, given, { folder: repository.folder, trusted, env });
    expect(trust).toBeUndefined();
    return said;
  };
  repository.write('ü.up', 'loud\n');
  repository.write('src/a.txt', 'one\nTWO\nthree\n');
  expect(await call('add', { paths: ['.'] }, true)).toMatch(/^staged\non main at \w{9}; 2 staged$/);
  expect(plain('show', ':ü.up')).toBe('LOUD\n');
  expect(await call('diff', { staged: true })).toBe(shortened(plain('diff', '--cached')));
  await call('commit', { message: 'Two' }, true);
  expect(plain('log', '-1', '--format=%an %s')).toBe('Grace Two\n');
  const head = plain('show', '--no-patch', '--format=%h %as Grace%n    Two');
  expect(await call('show', {})).toBe(head + shortened(plain('show', '--format=').trimStart()));
  repository.write('src/a.txt', 'one\n');
  expect(await call('diff', {})).toBe(shortened(plain('diff')));
  expect(await call('status', {})).toMatch(/^on main at \w{9}; 1 changed\n M src\/a\.txt$/);
  expect(readdirSync(join(repository.folder, '.git'))).not.toContain('index.lock');
});
