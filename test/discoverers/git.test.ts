import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { annotationsOf } from '../../src/core/tool.ts';
import { git } from '../../src/discoverers/git/git.ts';
import * as output from '../../src/discoverers/git/output.ts';
import { inspected, runInspected } from '../support/inspected.ts';
import { temporaryFolder, temporaryRepository, type Repository } from '../support/repository.ts';

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
  const { git: run, write } = temporaryRepository();
  write('src/b.txt', 'b\n');
  run('add', '.');
  run('commit', '--quiet', '--message=Second\n\nWith a body.\x1f\x1e');
  run('tag', '--annotate', '--message=The first', 'v1');
  run('branch', 'other');
  run('remote', 'add', 'origin', 'https://ada:secret@example.org/x.git');
  write('README.md', 'changed\n');
  run('stash', 'push', '--quiet', '--message=half done');
  const head = run('rev-parse', 'HEAD').trim();
  const first = run('rev-parse', 'HEAD~1').trim();

  const log = run('log', '-z', `--format=${output.commitFormat}%b`);
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
  expect(output.parseCommits(run('log', '-z', `--format=${output.commitFormat}`)).commits).toHaveLength(2);
  expect(
    output.parseBranches(run('for-each-ref', `--format=${output.branchFormat}`, 'refs/heads')),
  ).toMatchObject({
    branches: [
      { name: 'main', current: true, subject: 'Second' },
      { name: 'other', commit: head.slice(0, 7), subject: 'Second' },
    ],
  });
  expect(output.parseTags(run('for-each-ref', `--format=${output.tagFormat}`, 'refs/tags'))).toMatchObject({
    tags: [{ name: 'v1', commit: head.slice(0, 7), subject: 'The first' }],
  });
  expect(output.parseRemotes(run('remote', '--verbose'))).toEqual({
    remotes: [{ name: 'origin', fetch: 'https://***@example.org/x.git' }],
  });
  expect(output.parseStashes(run('stash', 'list', '-z', `--format=${output.stashFormat}`))).toMatchObject({
    stashes: [{ name: 'stash@{0}', subject: 'On main: half done' }],
  });
  expect(
    output.parseReflog(run('log', '--walk-reflogs', '-z', `--format=${output.stashFormat}`)).positions.length,
  ).toBeGreaterThan(1);
  expect(output.parseBlame(run('blame', '--porcelain', 'src/a.txt'))).toEqual({
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

it('looks into an ordinary repository unasked, and asks for trust before git writes', async () => {
  const { folder } = temporaryRepository();
  for (const [name, { effects }] of Object.entries(git.actions)) {
    const { trust } = await inspected(git, name, { folder });
    if (effects.every((effect) => effect === 'read')) expect(trust, name).toBeUndefined();
    else
      expect(trust, name).toMatch(/^lets git write, (?:talk to its remotes, )?and run the hooks and filters/);
    if (effects.includes('network')) expect(trust, name).toContain('remotes');
  }
});

it('says the same of a folder that is trusted, so that a plan stays the same', async () => {
  const { folder } = temporaryRepository();
  for (const name of ['status', 'commit', 'fetch']) {
    const { trust: _, ...before } = await inspected(git, name, { folder });
    const { trust: __, ...after } = await inspected(git, name, { folder, trusted: true });
    expect(after).toEqual(before);
  }
});

it('ends the search for a repository where one was found, and never goes above the root', async () => {
  const { folder, write } = temporaryRepository();
  write('packages/a/x.txt', 'x');
  const inner = join(folder, 'packages', 'a');
  expect(await inspected(git, 'add', { folder: inner, roots: [folder] })).toMatchObject({
    env: { GIT_CEILING_DIRECTORIES: join(folder, '..') },
  });
  await expect(inspected(git, 'status', { folder: inner })).rejects.toThrow(
    `${inner}: there is no repository (.git) here or above, up to the root.`,
  );
});

it('tells what stages from what runs hooks, and what others see from both', () => {
  const destructive = (name: keyof typeof git.actions) =>
    annotationsOf(git.actions[name].effects).destructiveHint;
  for (const name of ['add', 'unstage', 'stash', 'apply_stash', 'delete_branch', 'fetch'] as const)
    expect(destructive(name), name).toBe(false);
  for (const name of ['commit', 'switch', 'pull', 'push', 'restore', 'reset_hard', 'drop_stash'] as const)
    expect(destructive(name), name).toBe(true);
  const takenBack = Object.entries(git.actions).filter(([, action]) => 'takenBack' in action);
  expect(takenBack.map(([name]) => name)).toEqual(['restore', 'reset_hard']);
});

it('takes names of commits, and no searches through all of them', () => {
  for (const [name, param] of [
    ['log', 'ref'],
    ['show', 'ref'],
    ['diff', 'from'],
    ['diff', 'to'],
    ['blame', 'ref'],
    ['grep', 'ref'],
    ['file', 'ref'],
    ['reflog', 'ref'],
    ['switch', 'branch'],
    ['create_branch', 'start'],
    ['restore', 'from'],
    ['reset_hard', 'ref'],
  ] as const) {
    const schema = (git.actions[name].params as Record<string, z.ZodType>)[param]!;
    for (const search of [':/a{1,100}', 'HEAD^{/a}', 'main..:/a', '^:/a'])
      expect(schema.safeParse(search).error?.issues[0]?.message, `${name} ${search}`).toContain(
        'is a search',
      );
    for (const ref of ['HEAD~3', 'v1.0^{commit}', 'main..feature/x', 'HEAD@{1}', 'HEAD:src/a.txt'])
      expect(schema.safeParse(ref).success, `${name} ${ref}`).toBe(true);
  }
});

it('finds text as it stands, where a regular expression would take all memory', async () => {
  const { folder, git: run, write } = temporaryRepository();
  const pattern = '((((a{1,100}){1,100}){1,100}){1,100})';
  write('src/a.txt', `x.y\n${pattern}\n`);
  run('commit', '--quiet', '--all', `--message=${pattern}`);
  const said = async (name: string, given: Record<string, unknown>) =>
    (await runInspected(git, name, given, { folder })).said;
  expect(await said('grep', { pattern })).toBe(`HEAD:src/a.txt:2:${pattern}\n`);
  expect(await said('grep', { pattern: 'x?y' })).toBe('');
  expect(await said('log', { message: pattern })).toContain(pattern);
  expect(await said('log', { message: 'F.*t' })).toBe('');
  expect(await said('log', { author: 'Ad' })).toContain('Ada');
  expect(await said('log', { author: pattern })).toBe('');
});

/** Installs a hook that says when it runs. */
function hook({ folder }: Repository, name: string, does = '') {
  const file = join(folder, '.git', 'hooks', name);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, `#!/bin/sh\necho ${name} >> '${join(folder, '.git', 'ran')}'\n${does}\n`);
  chmodSync(file, 0o755);
}

const ran = ({ folder }: Repository): string[] => {
  const file = join(folder, '.git', 'ran');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
};

it('is git with its hooks, filters and remotes in a trusted folder', async () => {
  const repository = temporaryRepository();
  const upstream = temporaryFolder();
  repository.git('clone', '--quiet', '--bare', repository.folder, join(upstream, 'up.git'));
  repository.git('remote', 'add', 'origin', join(upstream, 'up.git'));
  repository.git('config', 'filter.up.clean', 'tr a-z A-Z');
  repository.write('.gitattributes', '*.txt filter=up\n');
  for (const name of ['pre-commit', 'commit-msg', 'pre-push', 'post-checkout']) hook(repository, name);
  repository.write('src/a.txt', 'new\n');
  const act = async (name: string, given: Record<string, unknown>) => {
    const ended = await runInspected(git, name, given, { folder: repository.folder, trusted: true });
    expect(ended.status, ended.said).toBe(0);
  };
  await act('add', { paths: ['.'] });
  expect(repository.git('show', ':src/a.txt')).toBe('NEW\n');
  await act('commit', { message: 'Two' });
  await act('create_branch', { branch: 'other' });
  await act('push', { branch: 'other' });
  await act('fetch', {});
  expect(ran(repository)).toEqual(['pre-commit', 'commit-msg', 'post-checkout', 'pre-push']);
  expect(repository.git('branch', '--remotes')).toContain('origin/other');
  hook(repository, 'pre-commit', 'echo "no tabs, please" >&2; exit 1');
  const amend = { message: 'x', amend: true };
  const refused = await runInspected(git, 'commit', amend, { folder: repository.folder, trusted: true });
  expect(refused).toMatchObject({ status: 1, said: 'no tabs, please\n' });
});

it('never lets an old remotes file overwrite a branch unasked', async () => {
  const repository = temporaryRepository();
  const other = temporaryRepository();
  other.git('commit', '--quiet', '--allow-empty', '--message=Theirs');
  repository.git('branch', 'mine');
  repository.write('.git/remotes/origin', `URL: ${other.folder}\nPull: +refs/heads/main:refs/heads/mine\n`);
  const mine = repository.git('rev-parse', 'mine');
  for (const name of ['fetch', 'pull', 'push']) {
    const { trust } = await runInspected(git, name, {}, { folder: repository.folder });
    expect(trust, name).toContain('talk to its remotes');
  }
  expect((await inspected(git, 'status', { folder: repository.folder })).trust).toContain('(.git/remotes)');
  expect(repository.git('rev-parse', 'mine')).toBe(mine);
  // As bad as it should be.
  repository.git('fetch', '--quiet', 'origin');
  expect(repository.git('rev-parse', 'mine')).not.toBe(mine);
});
