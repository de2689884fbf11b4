import * as z from 'zod';
import { defineAction } from '../../core/discoverer.ts';
import { flag, list, name, path, text } from '../../core/params.ts';
import { revision } from './revision.ts';

const replaced = path('Path', 'any', { written: true });
const some = (item: z.ZodString) => z.array(item).min(1).max(1000).describe('Files or folders');
const stashIndex = z.int().min(0).max(10_000).default(0).describe('Which one; the newest is 0');
const stash = { join: ['stash@{', { param: 'index' }, '}'] } as const;
// A name of a configured remote: an address or a path would let the caller choose whom to talk to.
const remote = z
  .string()
  .regex(/^[A-Za-z0-9_][\w.-]{0,99}$/, 'expected the name of a remote, as git_remotes lists them')
  .default('origin')
  .describe('Remote, by name');

// Not a refspec: "+main" would overwrite, ":main" delete, "a:b" send to another branch.
const branchToPush = z
  .string()
  .regex(/^[A-Za-z0-9_][^\s:+~^?*[\\]{0,200}$/, 'expected the name of a branch')
  .default('HEAD')
  .describe('Branch');

/** The files that differ from what is named next. A submodule is named too, so that what is in it counts as lost. */
const changedFiles = [
  'diff',
  '--name-only',
  '-z',
  '--no-renames',
  '--no-relative',
  '--ignore-submodules=none',
] as const;

/** Files that are tracked and ignored as well: no checkpoint has them, and git may be told not to see their changes. */
const ignoredFiles = ['ls-files', '--cached', '--ignored', '--exclude-standard', '-z'] as const;

/**
 * All of it waits for trust, whatever its effects (inspect.ts). `execute` is said of what has hooks that people use.
 * --quiet keeps git from showing the state of what it has just checked out, of submodules too.
 */
export const changing = {
  add: defineAction({
    title: 'Stage changes',
    description: 'Stages files for the next commit.',
    effects: ['write'],
    params: { paths: some(path('Path')) },
    argv: ['add', '--all', '--verbose', '--', { each: 'paths' }],
    example: { given: { paths: ['src'] }, runs: 'git add --all --verbose -- src' },
  }),
  unstage: defineAction({
    title: 'Unstage changes',
    description: 'Takes files out of the next commit; the files stay as they are.',
    effects: ['write'],
    params: { paths: some(path('Path')) },
    argv: ['restore', '--staged', '--', { each: 'paths' }],
    example: { given: { paths: ['src'] }, runs: 'git restore --staged -- src' },
  }),
  commit: defineAction({
    title: 'Commit',
    description: 'Commits what is staged, with the hooks of the repository.',
    effects: ['write', 'execute'],
    params: {
      message: text('Commit message'),
      all: flag('Stage changed and deleted tracked files first'),
      amend: flag('Replace the last commit'),
    },
    argv: [
      'commit',
      '--no-status',
      { flag: '--all', param: 'all' },
      { flag: '--amend', param: 'amend' },
      { option: '--message=', param: 'message' },
    ],
    example: { given: { message: 'Fix typo' }, runs: "git commit --no-status '--message=Fix typo'" },
  }),
  switch: defineAction({
    title: 'Switch branch',
    description: 'Switches to a branch. Refuses when uncommitted changes would be lost.',
    effects: ['write', 'execute'],
    params: { branch: revision('Branch') },
    argv: ['switch', '--quiet', '--no-overwrite-ignore', '--end-of-options', { param: 'branch' }],
    example: {
      given: { branch: 'main' },
      runs: 'git switch --quiet --no-overwrite-ignore --end-of-options main',
    },
  }),
  create_branch: defineAction({
    title: 'Create a branch',
    description: 'Creates a branch, and switches to it unless told not to.',
    effects: ['write', 'execute'],
    params: {
      branch: name('Name of the new branch'),
      start: revision('Where it starts').default('HEAD'),
      switch: z.boolean().default(true).describe('Switch to it'),
    },
    argv: [
      {
        choose: 'switch',
        from: { true: ['switch', '--quiet', '--no-overwrite-ignore', '--create'], false: ['branch'] },
      },
      { param: 'branch' },
      { param: 'start' },
    ],
    example: {
      given: { branch: 'fix' },
      runs: 'git switch --quiet --no-overwrite-ignore --create fix HEAD',
    },
  }),
  delete_branch: defineAction({
    title: 'Delete a merged branch',
    description: 'Deletes a branch whose commits are all merged; refuses otherwise.',
    effects: ['write'],
    params: { branch: name('Branch') },
    argv: ['branch', '--delete', '--', { param: 'branch' }],
    example: { given: { branch: 'fix' }, runs: 'git branch --delete -- fix' },
  }),
  stash: defineAction({
    title: 'Put changes aside',
    description: 'Puts uncommitted changes aside; git_apply_stash brings them back.',
    effects: ['write'],
    params: {
      message: text('What they are').optional(),
      untracked: flag('Untracked files too'),
      paths: list(replaced, 'Only these files or folders'),
    },
    argv: [
      'stash',
      'push',
      { flag: '--include-untracked', param: 'untracked' },
      { option: '--message=', param: 'message' },
      '--',
      { each: 'paths' },
    ],
    example: { given: { message: 'half done' }, runs: "git stash push '--message=half done' --" },
  }),
  apply_stash: defineAction({
    title: 'Bring changes back',
    description: 'Applies a stash to the working tree.',
    effects: ['write'],
    params: { index: stashIndex, remove: flag('Remove the stash when it applied cleanly') },
    argv: [
      'stash',
      { choose: 'remove', from: { true: ['pop'], false: ['apply'] } },
      '--quiet',
      '--index',
      stash,
    ],
    example: { given: { index: 1 }, runs: "git stash apply --quiet --index 'stash@{1}'" },
  }),
  drop_stash: defineAction({
    title: 'Drop a stash',
    description: 'Deletes one stash for good.',
    effects: ['destroy'],
    params: { index: stashIndex },
    argv: ['stash', 'drop', stash],
    example: { given: { index: 2 }, runs: "git stash drop 'stash@{2}'" },
  }),
  restore: defineAction({
    title: 'Discard changes',
    description: 'Puts files back as they are staged, or were at a commit. Uncommitted changes are lost.',
    effects: ['write', 'destroy'],
    takenBack: {
      changes: [...changedFiles, { param: 'from' }, '--', { each: 'paths' }],
      unless: ignoredFiles,
    },
    params: {
      paths: some(replaced),
      from: revision('Commit to take them from; the index when left out').optional(),
    },
    argv: ['restore', '--worktree', { option: '--source=', param: 'from' }, '--', { each: 'paths' }],
    example: { given: { paths: ['src/a.ts'] }, runs: 'git restore --worktree -- src/a.ts' },
  }),
  reset_hard: defineAction({
    title: 'Reset to a commit',
    description: 'Moves the branch to a commit and makes the files match. Uncommitted changes are lost.',
    effects: ['write', 'destroy'],
    takenBack: { changes: [...changedFiles, { param: 'ref' }, '--'], unless: ignoredFiles },
    params: { ref: revision('Branch, tag or commit') },
    // No --end-of-options: git 2.39 does not take it here.
    argv: ['reset', '--hard', { param: 'ref' }, '--'],
    example: { given: { ref: 'HEAD~1' }, runs: 'git reset --hard HEAD~1 --' },
  }),
  fetch: defineAction({
    title: 'Fetch',
    description:
      'Gets new commits of a remote; your branches stay, unless the repository is set up otherwise.',
    effects: ['write', 'network'],
    params: { remote, prune: flag('Forget remote branches that are gone') },
    argv: [
      'fetch',
      '--no-progress',
      '--no-recurse-submodules',
      { flag: '--prune', param: 'prune' },
      '--',
      { param: 'remote' },
    ],
    example: { runs: 'git fetch --no-progress --no-recurse-submodules -- origin' },
  }),
  pull: defineAction({
    title: 'Pull',
    description:
      'Gets new commits of the upstream branch and moves this branch forward; refuses when that needs a merge.',
    effects: ['write', 'execute', 'network'],
    params: {},
    argv: ['pull', '--no-progress', '--ff-only', '--no-recurse-submodules'],
    example: { runs: 'git pull --no-progress --ff-only --no-recurse-submodules' },
  }),
  push: defineAction({
    title: 'Push',
    description: 'Sends a branch to a remote, without force.',
    effects: ['execute', 'network', 'publish'],
    params: {
      remote,
      branch: branchToPush,
      set_upstream: flag('Make it the upstream of the branch'),
    },
    argv: [
      'push',
      '--no-progress',
      '--porcelain',
      '--recurse-submodules=no',
      { flag: '--set-upstream', param: 'set_upstream' },
      '--',
      { param: 'remote' },
      { param: 'branch' },
    ],
    example: {
      given: { branch: 'fix' },
      runs: 'git push --no-progress --porcelain --recurse-submodules=no -- origin fix',
    },
  }),
};
