import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import type { Param } from '../../src/core/parameter.ts';
import { annotationsOf } from '../../src/core/tool.ts';
import git from '../../src/discoverers/git/git.ts';
import { readStatus } from '../../src/discoverers/git/status.ts';
import { callAction, saidBy } from '../support/call-action.ts';
import { inspected, runInspected } from '../support/inspected.ts';
import { temporaryFolder, temporaryRepository, type Repository } from '../support/repository.ts';
import { reportOf } from './real-program.ts';

const commit = '57f3b017dbb5061c0f86de3546c47785ef769bab';
const zeros = '0'.repeat(40);

it('reads a status with everything in it', () => {
  const stdout = [
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
  expect(reportOf(git, 'status', { stdout }).text).toBe(
    `on main at 57f3b017d, 1 ahead of and 2 behind origin/main; 1 in conflict, 3 staged, 2 changed, 1 untracked; 3 stashes
M  staged file.txt
 D gone.txt
AM both.txt
R  old name.txt -> new name.txt
UU fight.txt (modified by both)
?? untracked \n file.txt`,
  );
  const early = '# branch.oid (initial)\0# branch.head main\0';
  expect(reportOf(git, 'status', { stdout: early }).text).toBe('on main, no commit yet; nothing to commit');
  const detached = `# branch.oid ${commit}\0# branch.head (detached)\0`;
  expect(reportOf(git, 'status', { stdout: detached }).text).toBe('detached at 57f3b017d; nothing to commit');
  expect(() => readStatus('On branch main\nnothing to commit\n')).toThrow();
  expect(() => readStatus('')).toThrow('no branch header');
});

/** Calls in a trusted repository: what is said, and whether it is an error. */
function calling({ folder }: Repository) {
  return async (name: string, given: Record<string, unknown> = {}) => {
    const result = await callAction(git, name, given, { folder, trusted: true });
    return `${result.isError ? 'ERROR ' : ''}${saidBy(result)}`.trim();
  };
}

it('answers with what was asked, and says what is now', async () => {
  const repository = temporaryRepository();
  const { git: run, write } = repository;
  const call = calling(repository);
  write('src/bücher.txt', 'b\n');
  expect(await call('add', { paths: ['src'] })).toMatch(/^staged\non main at \w{9}; 1 staged$/);
  expect(await call('commit', { message: 'Bücher\n\nWith a body.' })).toMatch(
    /^1 file changed, 1 insertion\(\+\)\non main at \w{9}; nothing to commit$/,
  );
  expect(await call('log', { body: true, limit: 1 })).toMatch(
    /^1 commit\n\w{7} \d{4}-\d\d-\d\d .+ \(HEAD -> main\) Bücher\n {4}With a body\.\nolder ones, if any: skip=1$/,
  );
  expect(await call('show', { form: 'names' })).toContain('A\tsrc/bücher.txt');
  expect(await call('diff', { paths: ['nope'] })).toMatch(/^no differences in .*nope$/);
  write('src/bücher.txt', 'c\n');
  expect(await call('diff')).toContain('+c');
  expect(await call('status')).toMatch(/^on main at \w{9}; 1 changed\n M src\/bücher.txt$/);
  expect(await call('stash', { message: 'half done' })).toContain('; nothing to commit; 1 stash');
  expect(await call('stashes')).toMatch(/^1 stash\nstash@\{0\} \w+ \d{4}-\d\d-\d\d On main: half done$/);
  expect(await call('diff', { from: 'stash@{0}^', to: 'stash@{0}' })).toContain('+c');
  expect(await call('create_branch', { branch: 'other' })).toMatch(/^created\non other at/);
  expect(await call('branches')).toMatch(/^2 branches\nmain .+\n\* other /);
  expect(await call('tag', { tag: 'v1', message: 'One' })).toContain('tagged');
  expect(await call('tags')).toMatch(/^1 tag\nv1 \w+ \d{4}-\d\d-\d\d One$/);
  expect(await call('describe')).toMatch(/^v1-0-g/);
  expect(await call('compare', { base: 'main' })).toBe('HEAD is 0 ahead of main, and 0 behind');
  expect(await call('checkout', { branch: 'nothing' })).toContain('ERROR');
  expect(await call('checkout', { branch: 'main' })).toMatch(/^switched\non main/);
  expect(await call('blame', { path: 'src/a.txt' })).toMatch(/^\^?\w+ .*\(Ada 2026-01-02 1\) one/);
  expect(await call('show', { ref: 'HEAD:src/a.txt' })).toBe('one\ntwo\nthree');
  expect(await call('files')).toBe('3 files\nREADME.md\nsrc/a.txt\nsrc/bücher.txt');
  expect(await call('reflog', { limit: 2 })).toMatch(/^2 positions\nHEAD@\{0\} /);
  run('remote', 'add', 'origin', 'https://ada:secret@example.org/x.git');
  expect(await call('remotes')).toBe('1 remote\norigin https://***@example.org/x.git');
  expect(await call('config', { whose: 'repository' })).not.toContain('secret');
  for (let number = 0; number < 60; number++)
    run('commit', '--quiet', '--allow-empty', `--message=${number}`);
  expect(await call('log')).toMatch(
    /^20 commits\n\w+ \d{4}-\d\d-\d\d \S+[^\n]*\n[^]+\nolder ones, if any: skip=20$/,
  );
});

it('brings conflicts of a merge, a rebase, a cherry-pick and a revert with both sides, and ends each', async () => {
  const repository = temporaryRepository();
  const { git: run, write } = repository;
  const call = calling(repository);
  run('switch', '--quiet', '--create', 'feature');
  write('src/a.txt', 'one\nTWO\nthree\n');
  run('commit', '--quiet', '--all', '--message=Theirs');
  run('switch', '--quiet', 'main');
  write('src/a.txt', 'one\nzwei\nthree\n');
  run('commit', '--quiet', '--all', '--message=Ours');
  const sides =
    /conflicts in 1 file: [^\n]+\n[^\n]*1 in conflict[^\n]*\nsrc\/a\.txt:2\n {2}\S+[^\n]*:\n {2}\| (zwei|TWO|drei)\n/;
  expect(await call('merge', { branch: 'feature' })).toMatch(sides);
  expect(await call('status')).toContain('a merge is under way');
  write('src/a.txt', 'one\nboth\nthree\n');
  await call('add', { paths: ['src/a.txt'] });
  expect(await call('merge', { step: 'continue' })).toMatch(/Merge branch 'feature'\non main at/);
  run('reset', '--quiet', '--hard', 'HEAD~1');
  expect(await call('cherry_pick', { commits: ['feature'] })).toMatch(sides);
  expect(await call('cherry_pick', { step: 'abort' })).toMatch(/on main at \w{9}; nothing to commit/);
  expect(await call('rebase', { branch: 'feature' })).toMatch(sides);
  expect(await call('status')).toContain('a rebase is under way');
  expect(await call('rebase', { step: 'abort' })).toMatch(/on main at/);
  write('src/a.txt', 'one\ndrei\nthree\n');
  run('commit', '--quiet', '--all', '--message=Later');
  expect(await call('revert', { commits: ['HEAD~1'] })).toMatch(sides);
  expect(await call('revert', { step: 'abort' })).toMatch(/nothing to commit/);
  expect(await call('revert', { commits: ['HEAD'] })).toMatch(/Revert "Later"/);
  expect(await call('merge', { step: 'continue' })).toMatch(
    /^ERROR ARG_INVALID: continue: nothing is under way/,
  );
  expect(await call('merge', { branch: 'nothing' })).toMatch(/^ERROR PROGRAM_FAILED/);
});

it('brings both sides of what is still in conflict, whatever stops at it', async () => {
  const repository = temporaryRepository();
  const { git: run, write } = repository;
  const call = calling(repository);
  const commit = (text: string, message: string) => {
    write('src/a.txt', text);
    run('commit', '--quiet', '--all', `--message=${message}`);
  };
  run('switch', '--quiet', '--create', 'feature');
  commit('one\nTWO\nthree\n', 'Theirs');
  commit('one\nTWO!\nthree\n', 'Theirs again');
  run('switch', '--quiet', 'main');
  commit('one\nzwei\nthree\n', 'Ours');
  const sides =
    /^conflicts in 1 file: [^\n]+\n(?:[^\n]+\n)*[^\n]*1 in conflict[^\n]*\nsrc\/a\.txt:2\n {2}\S+[^\n]*:\n {2}\| \w+!?\n/;
  for (const [action, given] of [
    ['merge', { branch: 'feature' }],
    ['rebase', { branch: 'feature' }],
    ['cherry_pick', { commits: ['feature~1', 'feature'] }],
    ['revert', { commits: ['feature'] }],
  ] as const) {
    expect(await call('integrate', { action, ...given }), action).toMatch(sides);
    expect(await call('integrate', { action: 'continue' }), `continue of ${action}`).toMatch(sides);
    const other = await call('merge', { branch: 'feature~1' });
    expect(other, `a merge during ${action}`).toMatch(sides);
    expect(other).toMatch(/unmerged files|not concluded|needs merge|cherry-pick/i);
    expect(await call('commit', { message: 'Too early' })).toMatch(/^ERROR [^]*git_diff shows both sides/);
    if (action === 'cherry_pick') expect(await call('integrate', { action: 'skip' })).toMatch(sides);
    expect(await call('integrate', { action: 'abort' })).toContain('nothing to commit');
  }
  run('config', 'branch.main.remote', '.');
  run('config', 'branch.main.merge', 'refs/heads/feature');
  for (const how of ['merge', 'rebase']) {
    expect(await call('sync', { action: 'pull', how }), how).toMatch(sides);
    expect(await call('sync', { action: 'pull', how })).toMatch(sides);
    expect(await call('integrate', { action: 'continue' })).toMatch(sides);
    expect(await call('integrate', { action: 'abort' })).toContain('nothing to commit');
  }
  const patch = run('diff', 'feature~2', 'feature');
  expect(await call('apply_patch', { patch, how: 'three_way' })).toMatch(sides);
  run('reset', '--quiet', '--hard');
  write('src/a.txt', 'one\nput aside\nthree\n');
  await call('stash');
  commit('one\nlater\nthree\n', 'Later');
  for (const remove of [true, false]) {
    expect(await call('apply_stash', { remove })).toMatch(sides);
    expect(await call('apply_stash', { remove })).toMatch(sides);
    run('reset', '--quiet', '--hard');
  }
  commit('one\nzwei\nthree\n', 'As it was');
  expect(await call('apply_stash', { remove: true })).toMatch(/^applied\non main at [^\n]+ 1 changed$/);
});

it('goes on with whatever is under way, and switches, by one tool each', async () => {
  const repository = temporaryRepository();
  const { write } = repository;
  const call = calling(repository);
  expect(await call('switch', { action: 'create', branch: 'feature' })).toContain('on feature at');
  write('src/a.txt', 'one\nTWO\nthree\n');
  write('src/new.txt', 'new\n');
  expect(await call('commit', { paths: ['src'], message: 'Theirs' })).toMatch(
    /^2 files changed, [^]*\non feature at \w{9}; nothing to commit$/,
  );
  expect(await call('switch', { action: 'switch', branch: 'main' })).toContain('on main at');
  write('src/a.txt', 'one\nzwei\nthree\n');
  expect(await call('commit', { message: 'Nothing is staged' })).toMatch(/^ERROR .*no changes added/s);
  await call('commit', { all: true, message: 'Ours' });
  for (const [action, given] of [
    ['merge', { branch: 'feature' }],
    ['rebase', { branch: 'feature' }],
    ['cherry_pick', { commits: ['feature'] }],
  ] as const) {
    expect(await call('integrate', { action, ...given })).toMatch(/^conflicts in 1 file: .*action=continue/);
    expect(await call('integrate', { action: 'abort' })).toContain('nothing to commit');
  }
  await call('integrate', { action: 'rebase', branch: 'feature' });
  write('src/a.txt', 'one\nboth\nthree\n');
  const ended = await call('integrate', { action: 'continue', paths: ['src/a.txt'] });
  expect(ended).toMatch(/on main at \w{9}; nothing to commit$/);
  expect(await call('integrate', { action: 'abort' })).toMatch(
    /^ERROR ARG_INVALID: abort: nothing is under way/,
  );
  expect(await call('integrate', { action: 'merge', commits: ['a'] })).toMatch(
    /^ERROR ARG_INVALID: commits: /,
  );
  expect(await call('switch', { action: 'rename', branch: 'feature', to: 'old' })).toContain('renamed');
  expect(await call('switch', { action: 'detach', branch: 'HEAD' })).toContain('detached at');
});

it('looks for the commit that broke something, and moves patches and work trees', async () => {
  const repository = temporaryRepository();
  const { git: run } = repository;
  const call = calling(repository);
  for (const name of ['a', 'b', 'c', 'd']) run('commit', '--quiet', '--allow-empty', `--message=${name}`);
  expect(await call('bisect_start', { good: ['HEAD~4'] })).toContain('Bisecting');
  expect(await call('status')).toContain('a bisect is under way');
  expect(await call('bisect', { mark: 'bad' })).toMatch(/Bisecting|is the first bad commit/);
  expect(await call('bisect', { mark: 'log' })).toContain('git bisect bad');
  expect(await call('bisect', { mark: 'reset' })).toContain('on main');
  repository.write('src/a.txt', 'one\ntwo\nfour\n');
  const patch = run('diff');
  run('checkout', '--quiet', 'src/a.txt');
  expect(await call('apply_patch', { patch, check: true })).toMatch(
    /^it fits\non main at \w{9}; nothing to commit$/,
  );
  expect(await call('apply_patch', { patch })).toContain('; 1 changed');
  expect(await call('apply_patch', { patch })).toContain('ERROR');
  run('commit', '--quiet', '--all', '--message=Four');
  await call('format_patch', { from: 'HEAD~1', folder: 'out' });
  run('reset', '--quiet', '--hard', 'HEAD~1');
  await call('add_worktree', { folder: 'side', branch: 'side' });
  expect(await call('worktrees')).toContain('[side]');
  await call('remove_worktree', { folder: 'side' });
  repository.write('junk.txt', '');
  expect(await call('clean', { paths: ['junk.txt'] })).toContain('Removing junk.txt');
  expect(await call('move', { from: 'src/a.txt', to: 'src/b.txt' })).toContain('; 1 staged');
  expect(await call('discard_branch', { branch: 'side' })).toContain('Deleted branch side');
});

it('clones, and makes a repository', async () => {
  const origin = temporaryRepository();
  const folder = temporaryFolder();
  const call = calling({ folder } as Repository);
  expect(await call('clone', { url: `file://${origin.folder}`, folder: 'copy' })).toContain(
    'ERROR ARG_INVALID',
  );
  expect(await call('clone', { url: '--upload-pack=x', folder: 'copy' })).toContain('ERROR ARG');
  expect(await call('init', { folder: 'new' })).toContain('Initialized empty Git repository');
  expect(existsSync(join(folder, 'new/.git'))).toBe(true);
});

it('looks into an ordinary repository unasked, and asks for trust before git writes', async () => {
  const { folder } = temporaryRepository();
  for (const [name, { effects }] of Object.entries(git.actions)) {
    const { trust } = await inspected(git, name, { folder });
    if (effects.every((effect) => effect === 'read')) expect(trust, name).toBeUndefined();
    else
      expect(trust, name).toMatch(
        /^(?:lets git write, (?:talk to its remotes, )?and run the hooks and filters|makes a repository)/,
      );
    if (effects.includes('network') && name !== 'clone') expect(trust, name).toContain('remotes');
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
  const destructive = (name: string) => annotationsOf(git.actions[name]!.effects).destructiveHint;
  for (const name of ['add', 'unstage', 'stash', 'apply_stash', 'delete_branch', 'fetch'])
    expect(destructive(name), name).toBe(false);
  for (const name of ['commit', 'checkout', 'pull', 'push', 'restore', 'reset_hard', 'drop_stash'])
    expect(destructive(name), name).toBe(true);
  const undoable = Object.entries(git.actions).filter(([, action]) => action.steps?.undo);
  expect(undoable.map(([name]) => name)).toEqual(['restore', 'reset_hard']);
});

it('takes names of commits, and no searches through all of them', () => {
  const named = Object.entries(git.actions).flatMap(([name, { params }]) =>
    Object.entries<Param>(params)
      .filter(([key]) => /^(?:ref|from|to|start|base|branch|commits|good|bad|onto)$/.test(key))
      .map(([key, { schema }]) => ({
        name: `${name} ${key}`,
        schema,
        many: key === 'commits' || key === 'good',
      })),
  );
  for (const { name, schema, many } of named)
    for (const search of [':/a{1,100}', 'HEAD^{/a}', 'main..:/a', '^:/a']) {
      // Names of branches that are made or sent are checked by git, and of files by the gate.
      if (/rename|delete|discard|create_branch branch|push|upstream|worktree|move|clone|init/.test(name))
        continue;
      expect(z.safeParse(schema, many ? [search] : search).success, `${name} ${search}`).toBe(false);
    }
  for (const ref of ['HEAD~3', 'v1.0^{commit}', 'main..feature/x', 'HEAD@{1}', 'HEAD:src/a.txt'])
    expect(z.safeParse(git.actions['show']!.params['ref']!.schema, ref).success, ref).toBe(true);
});

it('finds text as it stands, where a regular expression would take all memory', async () => {
  const repository = temporaryRepository();
  const call = calling(repository);
  const pattern = '((((a{1,100}){1,100}){1,100}){1,100})';
  repository.write('src/a.txt', `x.y\n${pattern}\n`);
  repository.git('commit', '--quiet', '--all', `--message=${pattern}`);
  expect(await call('grep', { pattern })).toBe(`HEAD:src/a.txt:2:${pattern}`);
  expect(await call('grep', { pattern: 'x?y' })).toBe('no line has "x?y" at HEAD');
  expect(await call('log', { message: pattern })).toContain(pattern);
  expect(await call('log', { message: 'F.*t' })).toBe('no commits');
  expect(await call('log', { author: 'Ad' })).toContain('Ada');
  expect(await call('log', { author: pattern })).toBe('no commits');
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
    expect(ended.said).not.toContain('PROGRAM_FAILED');
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
  expect(refused.said).toContain('no tabs, please');
});
