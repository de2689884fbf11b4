import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { git } from '../../src/discoverers/git.ts';
import { callAction, saidBy } from '../support/call-action.ts';
import { temporaryFolder, temporaryRepository, type Repository } from '../support/repository.ts';

const call = ({ folder }: Repository, name: string, given: Record<string, unknown> = {}, env = {}) =>
  callAction(git, name, given, { folder, env });

const looking: [string, Record<string, unknown>][] = [
  ['status', { untracked: 'all' }],
  ['diff', {}],
  ['diff', { staged: true }],
  ['diff', { from: 'HEAD~1' }],
  ['log', { body: true }],
  ['show', {}],
  ['blame', { path: 'src/a.txt', last: 3 }],
  ['branches', { which: 'all' }],
  ['tags', {}],
  ['remotes', {}],
  ['stashes', {}],
  ['grep', { pattern: 'one' }],
  ['file', { file: 'src/a.txt' }],
  ['reflog', {}],
];
const changing: [string, Record<string, unknown>][] = [
  ['add', { paths: ['.'] }],
  ['unstage', { paths: ['src'] }],
  ['stash', { untracked: true }],
  ['apply_stash', { remove: true }],
  ['commit', { message: 'All', all: true }],
  ['create_branch', { branch: 'third' }],
  ['switch', { branch: 'other' }],
  ['switch', { branch: 'main' }],
  ['delete_branch', { branch: 'third' }],
  ['restore', { paths: ['README.md'] }],
  ['fetch', {}],
  ['pull', {}],
  ['push', {}],
  ['reset_hard', { ref: 'HEAD' }],
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

/** Everything with which configuration can name a program, by the key that does; `X` is the program. */
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
  ['gc.auto', '1'],
  ['gc.recentObjectsHook', 'X'],
  ['maintenance.auto', 'true'],
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
];
const hooks = [
  'pre-commit prepare-commit-msg commit-msg post-commit post-checkout post-merge pre-push post-rewrite pre-auto-gc',
  'reference-transaction post-index-change pre-merge-commit fsmonitor-watchman pre-rebase sendemail-validate',
]
  .join(' ')
  .split(' ');

function evilRepository() {
  const repository = temporaryRepository();
  const { program, ran } = witnesses(repository);
  repository.git('branch', 'other');
  repository.write('.gitattributes', '* diff=evil filter=evil merge=evil\n');
  repository.git('add', '.');
  repository.git('commit', '--quiet', '--message=Attributes\n\nSee: it');
  repository.git('remote', 'add', 'origin', 'ssh://127.0.0.1:1/x.git');
  repository.git('config', 'branch.main.remote', 'origin');
  repository.git('config', 'branch.main.merge', 'refs/heads/main');
  for (const [key, value] of programs)
    repository.git(
      'config',
      key,
      value.replace('X', () => program(key)),
    );
  for (const name of hooks) symlinkSync(program(name), join(repository.folder, '.git', 'hooks', name));
  repository.write('README.md', 'changed\n');
  repository.write('src/a.txt', 'changed\n');
  repository.write('new.txt', 'new\n');
  return { repository, ran };
}

it('ATTACK 24–29: nothing that a repository can name is run, whatever is asked of it', async () => {
  const { repository, ran } = evilRepository();
  for (const [name, given] of looking) {
    const result = await call(repository, name, given);
    expect(result.isError, `${name}: ${saidBy(result)}`).toBeFalsy();
  }
  expect(ran()).toEqual([]);
  for (const [name, given] of changing) {
    const result = await call(repository, name, given);
    // Nobody listens at that address; everything else works.
    if (!['fetch', 'pull', 'push'].includes(name))
      expect(result.isError, `${name}: ${saidBy(result)}`).toBeFalsy();
    expect(ran(), name).toEqual([]);
  }
});

it('the repository of that test is as bad as it should be', () => {
  const { repository, ran } = evilRepository();
  for (const args of [
    ['status'],
    ['diff'],
    ['-c', 'diff.external=', 'diff'],
    ['commit', '--all', '--message=x'],
    ['fetch'],
    ['-c', 'core.hooksPath=/dev/null', 'switch', '--force', 'other'],
  ]) {
    try {
      repository.git('-c', 'core.pager=cat', ...args);
    } catch {
      // The programs fail on purpose.
    }
  }
  expect(ran()).toEqual(expect.arrayContaining(['core.fsmonitor', 'filter.evil.process', 'core.sshCommand']));
});

/** Ways to put configuration where it is not seen at once. */
const hidden: [string, (repository: Repository, config: string) => void][] = [
  [
    'include.path',
    (repository, config) => {
      repository.write('conf/other', config);
      repository.git('config', 'include.path', '../conf/other');
    },
  ],
  [
    'includeIf',
    (repository, config) => {
      repository.write('.git/other', config);
      repository.git('config', 'includeIf.gitdir:**.path', 'other');
      repository.git('config', 'includeIf.onbranch:main.path', 'other');
    },
  ],
  [
    'config.worktree',
    (repository, config) => {
      repository.git('config', 'extensions.worktreeConfig', 'true');
      repository.write('.git/config.worktree', config);
    },
  ],
  [
    'a .git file that points inside',
    (repository, config) => {
      execFileSync('mv', [join(repository.folder, '.git'), join(repository.folder, 'data')]);
      repository.write('.git', 'gitdir: data\n');
      appendFileSync(join(repository.folder, 'data', 'config'), config);
    },
  ],
  [
    'core.bare with core.worktree',
    (repository, config) => {
      appendFileSync(join(repository.folder, '.git', 'config'), config);
      repository.git('config', 'core.worktree', '..');
    },
  ],
  [
    'attributes of the repository alone',
    (repository, config) => {
      rmSync(join(repository.folder, '.gitattributes'));
      repository.write('.git/info/attributes', '*.txt filter=evil\n');
      appendFileSync(join(repository.folder, '.git', 'config'), config);
    },
  ],
  [
    'attributes in the index alone',
    (repository, config) => {
      repository.git('add', '.gitattributes');
      rmSync(join(repository.folder, '.gitattributes'));
      appendFileSync(join(repository.folder, '.git', 'config'), config);
    },
  ],
  [
    'core.attributesFile',
    (repository, config) => {
      rmSync(join(repository.folder, '.gitattributes'));
      const file = repository.write('.git/attributes', '*.txt filter=evil\n');
      appendFileSync(join(repository.folder, '.git', 'config'), config);
      repository.git('config', 'core.attributesFile', file);
    },
  ],
];

it.each(hidden)('ATTACK 26: a filter is found by way of %s', async (_way, hide) => {
  const repository = temporaryRepository();
  const { program, ran } = witnesses(repository);
  repository.write('.gitattributes', '*.txt filter=evil\n');
  repository.write('src/a.txt', 'other\n');
  hide(repository, `[filter "evil"]\n\tclean = ${temporaryCopy(program('clean'))}\n`);
  for (const [name, given] of [
    ['status', {}],
    ['diff', {}],
    ['add', { paths: ['src'] }],
    ['commit', { message: 'x', all: true }],
  ] as const)
    await call(repository, name, given);
  expect(ran()).toEqual([]);
});

/** A program that stays where it is when `.git` is moved. */
function temporaryCopy(file: string): string {
  const copy = join(temporaryFolder(), 'clean.sh');
  writeFileSync(copy, readFileSync(file));
  chmodSync(copy, 0o755);
  return copy;
}

it('ATTACK 16: an embedded bare repository is refused, whatever git there is', async () => {
  const repository = temporaryRepository();
  repository.git('init', '--quiet', '--bare', 'fixtures/bare');
  const bare = join(repository.folder, 'fixtures', 'bare');
  for (const folder of [bare, join(bare, 'hooks')]) {
    const said = saidBy(await callAction(git, 'status', { cwd: folder }, { folder: repository.folder }));
    expect(said).toMatch(/^REPO_UNTRUSTED.*embedded bare repository/);
  }
  expect((await call(repository, 'status')).isError).toBeFalsy();
});

it('ATTACK 71: rerere does not write through a link', async () => {
  const repository = temporaryRepository();
  const outside = join(temporaryFolder(), 'precious');
  writeFileSync(outside, 'precious');
  repository.git('config', 'rerere.enabled', 'true');
  mkdirSync(join(repository.folder, '.git', 'rr-cache', 'aa'), { recursive: true });
  symlinkSync(outside, join(repository.folder, '.git', 'rr-cache', 'aa', 'preimage'));
  expect(saidBy(await call(repository, 'apply_stash'))).toMatch(/^REPO_UNTRUSTED.*rr-cache/);
  expect(readFileSync(outside, 'utf8')).toBe('precious');
});

it.each([
  ['core.attributesFile', 'status'],
  ['blame.ignoreRevsFile', 'blame'],
  ['mailmap.file', 'log'],
])('ATTACK 16: %s does not show lines of a file outside', async (key, name) => {
  const repository = temporaryRepository();
  const secret = join(temporaryFolder(), 'credentials');
  writeFileSync(secret, 'aws_secret_access_key = abc/SECRET+value,x\n');
  repository.git('config', key, secret);
  repository.write('src/a.txt', 'other\n');
  const given = name === 'blame' ? { path: 'src/a.txt' } : {};
  expect(saidBy(await call(repository, name, given))).not.toContain('SECRET');
  expect(saidBy(await call(repository, 'add', { paths: ['src'] }))).not.toContain('SECRET');
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
  repository.write('ü.up', 'loud\n');
  repository.write('src/a.txt', 'one\nTWO\nthree\n');
  const added = await call(repository, 'add', { paths: ['.'] }, env);
  expect(saidBy(added)).toBe(["add 'src/a.txt'", "add 'ü.up'"].join('\n'));
  expect(plain('show', ':ü.up')).toBe('LOUD\n');
  expect(saidBy(await call(repository, 'diff', { staged: true }, env))).toBe(
    plain('diff', '--cached').trimEnd(),
  );
  await call(repository, 'commit', { message: 'Two' }, env);
  expect(plain('log', '-1', '--format=%an %s')).toBe('Grace Two\n');
  expect(saidBy(await call(repository, 'show', {}, env))).toBe(plain('show', '--format=fuller').trimEnd());
  repository.write('src/a.txt', 'one\n');
  expect(saidBy(await call(repository, 'diff', {}, env))).toBe(plain('diff').trimEnd());
  const status = await call(repository, 'status', {}, env);
  const porcelain = plain(
    'status',
    '--porcelain=v2',
    '-z',
    '--branch',
    '--show-stash',
    '--untracked-files=normal',
  );
  const action = git.actions['status'];
  expect(status.data).toEqual('parse' in action ? action.parse?.(porcelain) : undefined);
  expect(readdirSync(join(repository.folder, '.git'))).not.toContain('index.lock');
});
