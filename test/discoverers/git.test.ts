import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { git as discoverer } from '../../src/discoverers/git.ts';
import * as output from '../../src/discoverers/git-output.ts';
import { gitGuard } from '../../src/discoverers/git-guard.ts';
import { ToolcribError } from '../../src/core/errors.ts';
import { temporaryRepository } from '../support/repository.ts';

const commit = '57f3b017dbb5061c0f86de3546c47785ef769bab';
const zeros = '0'.repeat(40);

it('reads a status with everything in it', () => {
  const recorded = [
    `# branch.oid ${commit}`,
    '# branch.head main',
    '# branch.upstream origin/main',
    '# branch.ab +1 -2',
    '# stash 3',
    `1 M. N... 100644 100644 100644 ${commit} ${commit} staged file.txt`,
    `1 .D N... 100644 100644 000000 ${commit} ${commit} gone.txt`,
    `1 AM N... 000000 100644 100644 ${zeros} ${commit} both.txt`,
    `2 R. N... 100644 100644 100644 ${commit} ${commit} R100 new name.txt`,
    'old name.txt',
    `u UU N... 100644 100644 100644 100644 ${commit} ${commit} ${commit} fight.txt`,
    '? untracked \n file.txt',
    '',
  ].join('\0');
  expect(output.parseStatus(recorded)).toEqual({
    branch: 'main',
    commit,
    upstream: 'origin/main',
    ahead: 1,
    behind: 2,
    stashes: 3,
    clean: false,
    staged: [
      { path: 'staged file.txt', change: 'modified' },
      { path: 'both.txt', change: 'added' },
      { path: 'new name.txt', change: 'renamed', from: 'old name.txt' },
    ],
    unstaged: [
      { path: 'gone.txt', change: 'deleted' },
      { path: 'both.txt', change: 'modified' },
    ],
    untracked: ['untracked \n file.txt'],
    conflicted: [{ path: 'fight.txt', change: 'modified by both' }],
  });
});

it('reads the status of a new repository and of a detached HEAD', () => {
  expect(output.parseStatus('# branch.oid (initial)\0# branch.head main\0')).toEqual({
    branch: 'main',
    stashes: 0,
    clean: true,
    staged: [],
    unstaged: [],
    untracked: [],
    conflicted: [],
  });
  expect(output.parseStatus(`# branch.oid ${commit}\0# branch.head (detached)\0`)).not.toHaveProperty(
    'branch',
  );
});

it('does not take other output for a status', () => {
  expect(() => output.parseStatus('On branch main\nnothing to commit\n')).toThrow();
  expect(() => output.parseStatus('')).toThrow('no branch header');
});

it('reads what the real git prints', () => {
  const { git, write } = temporaryRepository();
  write('src/b.txt', 'b\n');
  git('add', '.');
  git('commit', '--quiet', '--message=Second\n\nWith a body.\x1f\x1e');
  git('tag', '--annotate', '--message=The first', 'v1');
  git('branch', 'other');
  git('remote', 'add', 'origin', 'https://ada:secret@example.org/x.git');
  write('README.md', 'changed\n');
  git('stash', 'push', '--quiet', '--message=half done');
  const head = git('rev-parse', 'HEAD').trim();
  const first = git('rev-parse', 'HEAD~1').trim();

  const log = git('log', '-z', `--format=${output.commitFormat}%b`);
  const ada = { author: 'Ada', email: 'ada@example.org', date: '2026-01-02T03:04:05Z' };
  expect(output.parseCommits(log.replaceAll('+00:00', 'Z'))).toEqual({
    commits: [
      {
        commit: head,
        ...ada,
        refs: ['HEAD -> main', 'tag: v1', 'other'],
        subject: 'Second',
        body: 'With a body.\x1f\x1e',
      },
      { commit: first, ...ada, subject: 'First commit' },
    ],
  });
  expect(output.parseCommits(git('log', '-z', `--format=${output.commitFormat}`)).commits).toHaveLength(2);
  expect(
    output.parseBranches(git('for-each-ref', `--format=${output.branchFormat}`, 'refs/heads')),
  ).toMatchObject({
    branches: [
      { name: 'main', current: true, subject: 'Second' },
      { name: 'other', commit: head.slice(0, 7), subject: 'Second' },
    ],
  });
  expect(output.parseTags(git('for-each-ref', `--format=${output.tagFormat}`, 'refs/tags'))).toMatchObject({
    tags: [{ name: 'v1', commit: head.slice(0, 7), subject: 'The first' }],
  });
  expect(output.parseRemotes(git('remote', '--verbose'))).toEqual({
    remotes: [{ name: 'origin', fetch: 'https://***@example.org/x.git' }],
  });
  expect(output.parseStashes(git('stash', 'list', '-z', `--format=${output.stashFormat}`))).toMatchObject({
    stashes: [{ name: 'stash@{0}', subject: 'On main: half done' }],
  });
  expect(
    output.parseReflog(git('log', '--walk-reflogs', '-z', `--format=${output.stashFormat}`)).positions.length,
  ).toBeGreaterThan(1);
  expect(output.parseBlame(git('blame', '--porcelain', 'src/a.txt'))).toEqual({
    commits: { [first.slice(0, 10)]: { author: 'Ada', date: '2026-01-02', subject: 'First commit' } },
    lines: ['one', 'two', 'three'].map((text, index) => ({
      line: index + 1,
      commit: first.slice(0, 10),
      text,
    })),
  });
});

it('reads nothing as nothing', () => {
  expect(output.parseCommits('')).toEqual({ commits: [] });
  expect(output.parseBranches('')).toEqual({ branches: [] });
  expect(output.parseStashes('')).toEqual({ stashes: [] });
  expect(output.parseRemotes('')).toEqual({ remotes: [] });
});

const entries = (...list: [scope: string, key: string, value: string][]): string =>
  list.map(([scope, key, value]) => `${scope}\0file:.git/config\0${key}\n${value}\0`).join('');
const reads = [{ path: '.git/config', says: 'configuration' }];

const circumstances = { effects: ['read'], trusted: false, projectCode: [], hooks: [] } as const;
const changing = { ...circumstances, effects: ['network', 'write'] } as const;

it('switches off the filters and drivers of the repository, not those of the user', () => {
  const found = entries(
    ['global', 'filter.lfs.clean', 'git-lfs clean -- %f'],
    ['global', 'filter.lfs.required', 'true'],
    ['local', 'filter.lfs.clean', './evil.sh'],
    ['local', 'filter.evil.clean', './evil.sh'],
    ['local', 'filter.evil.required', 'true'],
    ['worktree', 'merge.evil.driver', './evil.sh'],
    ['global', 'gpg.openpgp.program', 'gpg2'],
    ['local', 'gpg.program', './evil.sh'],
    ['local', 'gpg.ssh.program', './evil.sh'],
    ['local', 'core.attributesfile', '/etc/shadow'],
  );
  const projectCode = ['filter', 'merge'];
  expect(gitGuard.read(found, { ...circumstances, projectCode })).toEqual({
    argv: [
      'core.hooksPath=/dev/null',
      'filter.lfs.clean=git-lfs clean -- %f',
      'filter.evil.clean=',
      'filter.lfs.required=true',
      // A required filter without a command is an error.
      'filter.evil.required=false',
      'merge.evil.driver=false',
      'gpg.program=gpg2',
      'gpg.ssh.program=ssh-keygen',
      'core.attributesFile=~/.config/git/attributes',
    ].flatMap((one) => ['-c', one]),
    notes: [
      'switched off, since the repository configures them: filter.lfs, filter.evil, merge.evil.driver, core.attributesfile',
    ],
    env: { GIT_ALLOW_PROTOCOL: 'none' },
    reads,
  });
});

it('switches off hooks that the repository configures, and leaves the user theirs', () => {
  const found = entries(
    ['global', 'hook.mine.event', 'commit-msg'],
    ['global', 'hook.mine.command', 'mine'],
    ['global', 'hook.other.event', 'pre-commit'],
    ['global', 'hook.other.command', 'other'],
    ['local', 'hook.a.b.event', 'pre-commit'],
    ['local', 'hook.a.b.command', './evil.sh'],
    ['local', 'hook.late.event', 'post-merge'],
    ['local', 'hook.mine.command', './evil.sh'],
    ['local', 'hook.mine.event', 'pre-commit'],
    ['local', 'hook.mine.enabled', 'false'],
    ['local', 'hook.jobs', '4'],
    ['local', 'hook.pre-commit.jobs', '4'],
  );
  const off = [
    'hook.a.b.enabled=false',
    'hook.late.enabled=false',
    'hook.mine.command=mine',
    'hook.mine.enabled=true',
    'hook.mine.event=',
    'hook.mine.event=commit-msg',
  ].flatMap((one) => ['-c', one]);
  const where = { ...circumstances, effects: ['write'], projectCode: ['pre-commit'] } as const;
  const { argv, notes } = gitGuard.read(found, where);
  expect(argv).toEqual(['-c', 'core.hooksPath=/dev/null', ...off]);
  expect(notes).toEqual(['switched off, since the repository configures them: hook.a.b']);
  expect(gitGuard.read(found, { ...where, within: { answer: '', trusted: true } })).toMatchObject({
    argv: off,
    notes,
  });
  expect(gitGuard.read(found, { ...where, trusted: true }).argv).toEqual([]);
});

it('sets aside what nobody here knows, and nothing that git and its everyday commands write', () => {
  const found = entries(
    ['global', 'agents.review.command', 'mine'],
    ['local', 'agents.review.command', './evil.sh'],
    ['local', 'core.nexthelper', './evil.sh'],
    ['local', 'core.unsetenvvars', 'GIT_CONFIG_PARAMETERS'],
    ['local', 'filter.up.stream', './evil.sh'],
    ['local', 'core.ignorecase', 'true'],
    ['local', 'branch.a=b.vscode-merge-base', 'origin/main'],
    ['local', 'remote.origin.url', 'x'],
    ['local', 'lfs.https://example.org/info/lfs.access', 'basic'],
  );
  expect(gitGuard.read(found, circumstances).argv.filter((arg) => arg !== '-c')).toEqual([
    'core.hooksPath=/dev/null',
    'agents.review.command=mine',
    'core.nexthelper=',
    'core.unsetenvvars=',
    'filter.up.stream=',
  ]);
});

/** Of the git of this machine, `2.39`. */
const version = Number(/(\d+\.\d+)/.exec(execFileSync('git', ['--version'], { encoding: 'utf8' }))?.[1]);

it.runIf(version <= 2.55)('knows every setting of this git', () => {
  const all = execFileSync('git', ['help', '--config'], { encoding: 'utf8' });
  const keys = all.split('\n').filter((line) => /^\w[\w-]*\.\S+$/.test(line));
  expect(keys.length).toBeGreaterThan(300);
  const asEntries = keys.map((key): [string, string, string] => [
    'local',
    key.toLowerCase().replace('<event>', 'pre-commit'),
    '',
  ]);
  const { argv } = gitGuard.read(entries(...asEntries), circumstances);
  const known = /^(?:core\.(?:editor|pager|unsetenvvars)|filter\..*|gpg\..*|merge\..*\.driver|hook\..*)=/;
  expect(
    argv.filter((arg) => /^core\.(?!hooksPath|attributesFile)|=$/.test(arg) && !known.test(arg)),
  ).toEqual([]);
});

it('asks the credential helpers of the user, in their order, and none of the repository', () => {
  const found = entries(
    ['system', 'credential.helper', 'osxkeychain'],
    ['global', 'credential.https://example.org.helper', '!mine'],
    ['local', 'credential.helper', '!evil'],
    ['local', 'credential.username', 'ada'],
  );
  const { argv, notes } = gitGuard.read(found, { ...changing, projectCode: ['transport'] });
  expect(argv.filter((arg) => arg !== '-c')).toEqual([
    'core.hooksPath=/dev/null',
    'credential.helper=',
    'credential.helper=osxkeychain',
    'credential.https://example.org.helper=!mine',
  ]);
  expect(notes).toEqual(['switched off, since the repository configures them: credential.helper']);
});

it('git takes the answers of those helpers', () => {
  const { folder, git, write } = temporaryRepository();
  const global = write(
    '.git/mine',
    '[credential]\n\thelper = "!echo username=me; echo password=right;:"\n[credential "https://other.org"]\n\thelper = "!echo password=other;:"\n',
  );
  git('config', 'credential.helper', '');
  git('config', 'credential.https://example.org.helper', '!echo username=evil; echo password=wrong;:');
  git('config', '--add', 'credential.helper', '!echo password=wrong; touch .git/ran;:');
  const ask = (leading: readonly string[], ...args: string[]) =>
    execFileSync('git', [...leading, ...args], {
      cwd: folder,
      encoding: 'utf8',
      // Only where it is read: a program that ends before takes the pipe away.
      ...(args.at(-1) === 'fill' && { input: 'protocol=https\nhost=example.org\n\n' }),
      env: { ...process.env, GIT_CONFIG_GLOBAL: global, GIT_CONFIG_NOSYSTEM: '1' },
    });
  const { argv } = gitGuard.read(ask([], ...gitGuard.argv), changing);
  expect(ask(argv, 'credential', 'fill')).toMatch(/username=me\npassword=right/);
  expect(existsSync(join(folder, '.git', 'ran'))).toBe(false);
  expect(ask([], 'credential', 'fill')).toContain('evil');
});

it('refuses a repository whose settings cannot be overridden, or which leads elsewhere', () => {
  const codeOf = (found: string, where: Parameters<typeof gitGuard.read>[1]) => {
    try {
      gitGuard.read(found, where);
      return 'allowed';
    } catch (error) {
      return (error as ToolcribError).code;
    }
  };
  for (const key of ['filter.a=b.clean', 'hook.a=b.command', 'agents.a=b.command'])
    expect(codeOf(entries(['local', key, 'x']), circumstances), key).toBe('REPO_UNTRUSTED');
  for (const [key, value] of [
    ['url.ext::sh.insteadof', 'x'],
    ['http.cookiefile', 'x'],
    ['remote.origin.uploadpack', 'x'],
    ['remote.origin.fetch', '+refs/heads/*:refs/heads/*'],
  ] as const) {
    const local = entries(['local', key, value]);
    expect(codeOf(local, changing), key).toBe('REPO_UNTRUSTED');
    expect(codeOf(entries(['global', key, value]), changing), key).toBe('allowed');
    expect(codeOf(local, circumstances), key).toBe('allowed');
  }
  for (const key of [
    'core.sshcommand',
    'credential.helper',
    'http.proxy',
    'protocol.ext.allow',
    'http.postbuffer',
  ])
    expect(codeOf(entries(['local', key, 'x']), changing), key).toBe('allowed');
  for (const key of ['blame.ignorerevsfile', 'mailmap.file', 'fetch.fsck.skiplist'])
    expect(codeOf(entries(['local', key, '/etc/shadow']), circumstances), key).toBe('REPO_UNTRUSTED');
  const refs = 'extensions.refstorage';
  expect(codeOf(entries(['local', refs, 'files:///elsewhere/.git']), circumstances)).toBe('REPO_UNTRUSTED');
  expect(codeOf(entries(['local', refs, 'reftable']), circumstances)).toBe('allowed');
  for (const refspec of [
    '+refs/pull/*/head:refs/remotes/origin/pr/*',
    '+refs/merge-requests/*:refs/remotes/origin/mr/*',
    '^refs/heads/dependabot/*',
    'refs/heads/main',
  ])
    expect(codeOf(entries(['local', 'remote.origin.fetch', refspec]), changing), refspec).toBe('allowed');
  for (const refspec of ['refs/pull/*/head:refs/heads/pr/*', '+refs/*:refs/*', 'main:main', '+HEAD:HEAD'])
    expect(codeOf(entries(['local', 'remote.origin.fetch', refspec]), changing), refspec).toBe(
      'REPO_UNTRUSTED',
    );
});

it('leaves a trusted project as it is, but for looking and for overwriting', () => {
  const found = entries(
    ['local', 'core.sshcommand', './ssh.sh'],
    ['local', 'filter.up.clean', 'tr a-z A-Z'],
    ['local', 'url.git@example.org:.insteadof', 'https://example.org/'],
  );
  expect(gitGuard.read(found, { ...changing, trusted: true })).toEqual({
    argv: [],
    notes: [],
    env: { GIT_ALLOW_PROTOCOL: 'https:ssh', GIT_NO_LAZY_FETCH: '0' },
    reads,
  });
  expect(gitGuard.read(found, { ...circumstances, trusted: true }).argv).toContain('filter.up.clean=');
});

it('says of every action whether code of a trusted project runs: of all that change something, of none that looks', () => {
  for (const [name, action] of Object.entries(discoverer.actions)) {
    const looks = action.effects.every((effect) => effect === 'read');
    expect(action, name).toMatchObject(looks ? { effects: ['read'] } : { whenTrusted: ['execute'] });
    if (looks) expect(action, name).not.toHaveProperty('whenTrusted');
  }
});
