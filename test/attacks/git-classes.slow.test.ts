import { execFileSync } from 'node:child_process';
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
  ['file', { file: 'src/a.txt' }],
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

/** Everything with which configuration can name a program, or files elsewhere; `X` is the program. */
const programs: [key: string, value: string][] = [
  ['core.fsmonitor', 'X'],
  ['core.pager', 'X'],
  ['core.editor', 'X'],
  ['core.askPass', 'X'],
  ['core.sshCommand', 'X'],
  ['core.gitProxy', 'X'],
  ['core.alternateRefsCommand', 'X'],
  ['sequence.editor', 'X'],
  ['pager.status', 'X'],
  ['pager.log', 'X'],
  ['pager.diff', 'X'],
  ['interactive.diffFilter', 'X'],
  ['alias.status', '!X'],
  ['alias.log', '!X'],
  ['alias.for-each-ref', '!X'],
  ['diff.external', 'X'],
  ['diff.evil.command', 'X'],
  ['diff.evil.textconv', 'X'],
  ['diff.evil.cachetextconv', 'true'],
  ['diff.evil.trustExitCode', 'true'],
  ['filter.evil.clean', 'X'],
  ['filter.evil.smudge', 'X'],
  ['filter.evil.process', 'X'],
  ['filter.evil.required', 'true'],
  ['merge.evil.driver', 'X %A'],
  ['merge.default', 'evil'],
  ['merge.tool', 'evil'],
  ['mergetool.evil.cmd', 'X'],
  ['difftool.evil.cmd', 'X'],
  ['gpg.program', 'X'],
  ['gpg.ssh.program', 'X'],
  ['gpg.ssh.defaultKeyCommand', 'X'],
  ['log.showSignature', 'true'],
  ['merge.verifySignatures', 'true'],
  ['push.gpgSign', 'if-asked'],
  ['tag.gpgSign', 'true'],
  ['credential.helper', '!X'],
  ['credential.https://example.org.helper', 'X'],
  ['trailer.see.command', 'X'],
  ['trailer.see.cmd', 'X'],
  ['trailer.ifexists', 'addIfDifferent'],
  ['commit.template', '/etc/passwd'],
  ['commit.verbose', 'true'],
  ['uploadpack.packObjectsHook', 'X'],
  ['submodule.inner.update', '!X'],
  ['submodule.recurse', 'true'],
  ['status.submoduleSummary', 'true'],
  ['diff.submodule', 'log'],
  ['fetch.recurseSubmodules', 'true'],
  ['push.recurseSubmodules', 'check'],
  ['column.ui', 'always'],
  ['color.ui', 'always'],
  ['ssh.variant', 'plink'],
  ['protocol.ext.allow', 'always'],
  ['init.templateDir', 'X'],
  ['gc.recentObjectsHook', 'X'],
  ['maintenance.strategy', 'incremental'],
  ['rerere.enabled', 'true'],
  ['merge.renormalize', 'true'],
  ['receive.procReceiveRefs', 'refs'],
  ['fetch.fsckObjects', 'true'],
  ['browser.evil.cmd', 'X'],
  ['instaweb.httpd', 'X'],
  ['man.evil.cmd', 'X'],
  ['sendemail.smtpserver', 'X'],
  ['guitool.evil.cmd', 'X'],
  ['remote.origin.promisor', 'true'],
  ['remote.origin.partialclonefilter', 'blob:none'],
  ['branch.main.mergeOptions', '--no-ff --strategy=evil'],
  ['pull.twohead', 'evil'],
  ['core.worktree', '.'],
  ['core.attributesFile', '/etc/passwd'],
  ['blame.ignoreRevsFile', '/etc/passwd'],
  ['mailmap.file', '/etc/passwd'],
  ['fetch.fsck.skipList', '/etc/passwd'],
  ['url.ext::sh -c evil.insteadOf', 'ssh://'],
  ['http.cookieFile', '/etc/passwd'],
  ['remote.origin.uploadpack', 'X'],
  ['remote.origin.vcs', 'ext'],
  ['lfs.extension.evil.clean', 'X'],
  ['hook.evil.command', 'X'],
  ['extensions.partialClone', 'origin'],
  ['something.new.command', 'X'],
];
const hooks = [
  'pre-commit prepare-commit-msg commit-msg post-commit post-checkout post-merge pre-push post-rewrite pre-auto-gc',
  'reference-transaction post-index-change pre-merge-commit fsmonitor-watchman pre-rebase sendemail-validate',
]
  .join(' ')
  .split(' ');

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

it('ATTACK 24–29: nothing that an ordinary repository has is run when it is looked into', async () => {
  const { repository, ran } = armedRepository();
  await looksWithoutTrust(repository);
  expect(ran()).toEqual([]);
});

it('ATTACK 24–29: a repository that sets anything of this is not looked into unasked', async () => {
  const { folder, git: run, write } = temporaryRepository();
  const plain = readFileSync(join(folder, '.git', 'config'), 'utf8');
  for (const [key, value] of programs) {
    write('.git/config', plain);
    run('config', key, value);
    const [section = '', ...rest] = key.toLowerCase().split('.');
    await asksForTrust(folder, `(${section}.${rest.at(-1)})`);
  }
});

it('the settings of that test are as bad as they should be', () => {
  const { repository, program, ran } = armedRepository();
  for (const [key, value] of programs)
    repository.git(
      'config',
      key,
      value.replace('X', () => program(key)),
    );
  for (const args of [
    ['status'],
    ['diff'],
    ['-c', 'diff.external=', 'diff'],
    ['commit', '--all', '--message=x'],
  ]) {
    try {
      repository.git('-c', 'core.pager=cat', ...args);
    } catch {
      // The programs fail on purpose.
    }
  }
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

/** Ways to have git read what is elsewhere, or settings where nobody sees them at once, and what is said of each. */
const detours: [unusual: string, way: string, lead: (repository: Repository) => void][] = [
  [
    'include.path',
    'settings that are included',
    (repository) => {
      repository.write('conf/other', evilFilter);
      repository.git('config', 'include.path', '../conf/other');
    },
  ],
  [
    'includeif.path',
    'settings that are included on a branch',
    (repository) => {
      repository.write('.git/other', evilFilter);
      repository.git('config', 'includeIf.onbranch:main.path', 'other');
    },
  ],
  [
    '.git/config.worktree',
    'settings of a work tree',
    (repository) => {
      repository.git('config', 'extensions.worktreeConfig', 'true');
      repository.write('.git/config.worktree', evilFilter);
    },
  ],
  [
    '.git is no folder',
    'a .git file',
    ({ folder, write }) => {
      renameSync(join(folder, '.git'), join(folder, 'data'));
      write('.git', 'gitdir: data\n');
    },
  ],
  [
    '.git is no folder',
    'a .git link',
    ({ folder }) => {
      rmSync(join(folder, '.git'), { recursive: true });
      symlinkSync('/etc', join(folder, '.git'));
    },
  ],
  ['.git/commondir', 'a common folder', ({ write }) => void write('.git/commondir', '/elsewhere/.git\n')],
  [
    '.git/objects/info/alternates',
    'borrowed objects',
    ({ write }) => void write('.git/objects/info/alternates', '/elsewhere/.git/objects\n'),
  ],
  ['.git/remotes', 'an old remotes file', ({ write }) => void write('.git/remotes/origin', 'URL: x\n')],
  ['.git/branches', 'an old branches file', ({ write }) => void write('.git/branches/origin', 'x\n')],
  ['.git/info/grafts', 'other parents', ({ write }) => void write('.git/info/grafts', '')],
  ['.git/config', 'settings behind a link', linked('config')],
  ['.git/HEAD is a link', 'another HEAD', linked('HEAD')],
  ['.git/packed-refs is a link', 'other branches', linked('packed-refs')],
  ['.git/shallow is a link', 'a quoted file', linked('shallow')],
  ['.git/objects is a link', 'all objects', linked('objects')],
  ['.git/objects/pack is a link', 'packs', linked('objects/pack')],
  ['.git/objects/5e is a link', 'a folder of objects', linked('objects/5e')],
  [
    '.git/objects/../.* is a link',
    'one object',
    ({ folder, git: run }) => {
      const [id = ''] = run('rev-parse', 'HEAD').trim().split('\n');
      linked(`objects/${id.slice(0, 2)}/${id.slice(2)}`)({ folder } as Repository);
    },
  ],
  ['.git/refs/heads/leak is a link', 'a branch', linked('refs/heads/leak')],
  ['.git/logs/refs/heads/leak is a link', 'a log', linked('logs/refs/heads/leak')],
  ['.git/info/attributes is a link', 'attributes', linked('info/attributes')],
  ['.git/worktrees/a/gitdir is a link', 'a work tree', linked('worktrees/a/gitdir')],
  [
    '.git/ORIG_HEAD is a device',
    'a pipe without end',
    ({ folder }) => void execFileSync('mkfifo', [join(folder, '.git', 'ORIG_HEAD')]),
  ],
];

it.each(detours)('ATTACK 16, 26: %s: by way of %s nothing is read unasked', async (unusual, _way, lead) => {
  const repository = temporaryRepository();
  lead(repository);
  const pattern = new RegExp(unusual.replaceAll('/..', '/[0-9a-f]{2}'));
  await asksForTrust(repository.folder, unusual.includes('.*') ? pattern : unusual);
});

it('ATTACK 16: a bare repository among the files is not looked into unasked', async () => {
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

it('ATTACK 31: submodules are not started in, whatever they have', async () => {
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

it('looks into a linked work tree once it is trusted', async () => {
  const main = temporaryRepository();
  const folder = join(temporaryFolder(), 'linked');
  main.git('worktree', 'add', '--quiet', folder, '-b', 'linked');
  await asksForTrust(folder, '.git is no folder');
  const { said } = await runInspected(git, 'status', {}, { folder, trusted: true });
  expect(said).toContain('on linked at');
  await looksWithoutTrust(main);
});

it('says what git itself says, with the person’s own configuration', async () => {
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
  expect(await call('show', {})).toBe(shortened(plain('show', '--abbrev-commit')));
  repository.write('src/a.txt', 'one\n');
  expect(await call('diff', {})).toBe(shortened(plain('diff')));
  expect(await call('status', {})).toMatch(/^on main at \w{9}; 1 changed\n M src\/a\.txt$/);
  expect(readdirSync(join(repository.folder, '.git'))).not.toContain('index.lock');
});
