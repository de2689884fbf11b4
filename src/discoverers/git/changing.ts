import * as z from 'zod';
import {
  action,
  choice,
  list,
  matching,
  name,
  on,
  operand,
  option,
  path,
  required,
  text,
} from '../../core/grammar.ts';
import { integratesBy } from './conflicts.ts';
import { changed, committed, now, saysNow } from './status.ts';
import { revision, somePaths, stashAt, stashIndex } from './values.ts';
import { changes, loses, writes } from '../shared/programs.ts';

// All of it waits for trust, whatever its effects (inspect.ts). `execute` is said of what has hooks that
// people use. --quiet keeps git from showing the state of what it has just checked out, of submodules too.

/**
 * The files that differ from what is named next. A submodule is named too, so that what is in it counts as
 * lost.
 */
const changedFiles = 'diff --name-only -z --no-renames --no-relative --ignore-submodules=none'.split(' ');
/**
 * Files that are tracked and ignored as well: no checkpoint has them, and git may be told not to see their
 * changes.
 */
const ignoredFiles = () => ['ls-files', '--cached', '--ignored', '--exclude-standard', '-z'];
const branch = (says: string) => operand(name(says));
const onlyThese = operand(list(path('Path', 'any', { written: true }), 'Only these files or folders'));
const written = (says: string) => operand(path(says, 'any', { written: true }));

export const changing = {
  add: action('Stage changes in git', 'Stages files for the next commit.', writes, {
    run: ['add', '--all'],
    params: { paths: somePaths() },
    given: { paths: ['src'] },
    ...saysNow('staged'),
  }),
  unstage: action('Unstage changes in git', 'Takes files out of the next commit; they stay.', writes, {
    run: ['restore', '--staged'],
    params: { paths: somePaths() },
    given: { paths: ['src'] },
    ...saysNow('unstaged'),
  }),
  commit: action('Commit to git', 'Commits what is staged, or with paths these, new files too.', changes, {
    // The message last: it is long, and what people read is cut in the middle.
    run: ({ all, amend, message }) => ['commit', '--no-status', all, amend, message],
    steps: { before: ({ paths }) => ['add', '--', paths], after: now },
    params: {
      paths: operand(list(path('File or folder'), 'Stage these first: ["src"]')),
      all: on('--all', 'Stage changed and deleted tracked files first'),
      amend: on('--amend', 'Replace the last commit'),
      message: option('--message=', text('Commit message; with amend, left out: as it was')),
    },
    given: { message: 'Fix typo' },
    out: changed('committed', committed),
  }),
  checkout: action('Check out a git branch', 'Switches to a branch or commit; loses no changes.', changes, {
    run: ['switch', '--quiet', '--no-overwrite-ignore'],
    dashes: false,
    params: { detach: on('--detach', 'A commit, without a branch'), branch: operand(revision('Branch')) },
    given: { branch: 'main' },
    ...saysNow('switched'),
  }),
  create_branch: action('Create a git branch', 'Creates a branch and switches to it.', changes, {
    run: ['switch', '--quiet', '--no-overwrite-ignore'],
    dashes: false,
    params: {
      track: on('--track', 'Make the start its upstream', '--no-track'),
      branch: required('--create', name('Name of the new branch')),
      start: operand(revision('Where it starts').default('HEAD')),
    },
    given: { branch: 'fix' },
    ...saysNow('created'),
  }),
  rename_branch: action('Rename a git branch', 'Gives a branch another name.', writes, {
    run: ['branch', '--move'],
    params: { branch: branch('Branch'), to: branch('Its new name') },
    given: { branch: 'fix', to: 'fix-rounding' },
    ...saysNow('renamed'),
  }),
  delete_branch: action('Delete a merged git branch', 'Deletes a branch that is all merged.', writes, {
    run: ['branch', '--delete'],
    params: { branch: branch('Branch') },
    given: { branch: 'fix' },
    ...saysNow('deleted'),
  }),
  discard_branch: action('Discard a git branch', 'Deletes a branch, merged or not.', ['destroy'], {
    run: ['branch', '--delete', '--force'],
    params: { branch: branch('Branch') },
    given: { branch: 'try' },
    ...saysNow('deleted'),
  }),
  set_upstream: action('Set the upstream of a git branch', 'Which remote branch a branch follows.', writes, {
    run: ['branch'],
    params: {
      upstream: option('--set-upstream-to=', name('Remote branch: origin/main')),
      branch: operand(name('Branch; the current one when left out').optional()),
    },
    given: { upstream: 'origin/main' },
    ...saysNow('set'),
  }),
  tag: action('Create a git tag', 'Names a commit; with a message, as an annotated tag.', writes, {
    run: ['tag'],
    params: {
      message: option('--message=', text('Message of an annotated tag')),
      tag: branch('Name of the tag'),
      ref: operand(revision('What it names').default('HEAD')),
    },
    given: { tag: 'v1.2.0', message: 'Release 1.2.0' },
    ...saysNow('tagged'),
  }),
  delete_tag: action('Delete a git tag', 'Deletes a tag here; the remote keeps its own.', writes, {
    run: ['tag', '--delete'],
    params: { tag: branch('Tag') },
    given: { tag: 'v1.2.0' },
  }),
  stash: action('Stash changes in git', 'Puts changes aside; git_apply_stash brings them back.', writes, {
    run: ['stash', 'push'],
    params: {
      message: option('--message=', text('What they are')),
      untracked: on('--include-untracked', 'Untracked files too'),
      paths: onlyThese,
    },
    given: { message: 'half done' },
    ...saysNow('put aside'),
  }),
  apply_stash: action('Apply a git stash', 'Brings back changes that were put aside.', writes, {
    run: ({ remove, index }) => ['stash', remove, '--quiet', '--index', stashAt(index)],
    params: { index: stashIndex, remove: on('pop', 'Remove the stash when it applied cleanly', 'apply') },
    given: { index: 1 },
    ...integratesBy('applied', (files) => `git_unstage paths=${JSON.stringify(files)}; the stash is kept`),
  }),
  drop_stash: action('Drop a git stash', 'Deletes one stash for good.', ['destroy'], {
    run: ({ index }) => ['stash', 'drop', stashAt(index)],
    params: { index: stashIndex },
    given: { index: 2 },
    ...saysNow('dropped'),
  }),
  restore: action('Discard changes in git', 'Puts files back; their changes are lost.', loses, {
    steps: {
      undo: { changes: ({ from, paths }) => [...changedFiles, from, '--', paths], unkept: ignoredFiles },
      after: now,
    },
    run: ['restore', '--worktree'],
    params: {
      from: option('--source=', revision('Commit to take them from; the index when left out')),
      paths: somePaths(true),
    },
    given: { paths: ['src/a.ts'] },
    out: changed('put back'),
  }),
  reset_hard: action('Reset git to a commit', 'Branch and files match it; changes are lost.', loses, {
    steps: { undo: { changes: ({ ref }) => [...changedFiles, ref, '--'], unkept: ignoredFiles }, after: now },
    run: ({ ref }) => ['reset', '--hard', ref, '--'],
    params: { ref: operand(revision('Branch, tag or commit')) },
    given: { ref: 'HEAD~1' },
    out: changed('reset'),
  }),
  reset: action('Move a git branch', 'Moves the branch to a commit; the files stay as they are.', writes, {
    run: ({ mode, ref }) => ['reset', mode, ref, '--'],
    params: {
      mode: choice({ mixed: '--mixed', soft: '--soft' }, 'soft: what is staged stays so'),
      ref: operand(revision('Branch, tag or commit')),
    },
    given: { ref: 'HEAD~1' },
    ...saysNow('moved'),
  }),
  clean: action('Delete untracked files in git', 'Deletes files git does not track.', loses, {
    steps: {
      preview: ({ ignored, paths }) => ['clean', '--dry-run', '-d', ignored, '--', paths],
      after: now,
    },
    run: ['clean', '--force', '-d'],
    params: { ignored: on('-x', 'Ignored files too'), paths: onlyThese },
    given: { paths: ['build'] },
    out: changed('nothing to delete'),
  }),
  move: action('Move a file in git', 'Moves or renames a tracked file, and stages that.', writes, {
    run: ['mv'],
    params: { from: written('File or folder'), to: written('Where to') },
    given: { from: 'a.ts', to: 'b.ts' },
    ...saysNow('moved'),
  }),
  remove: action('Remove a file from git', 'Deletes unchanged tracked files, and stages that.', writes, {
    run: ['rm', '-r'],
    params: { keep: on('--cached', 'Only stop tracking them'), paths: somePaths(true) },
    given: { paths: ['old.ts'] },
    ...saysNow('removed'),
  }),
  note: action('Add a note to a git commit', 'Adds a note to a commit without changing it.', writes, {
    run: ({ message, ref }) => ['notes', 'append', message, ref],
    params: {
      message: option('--message=', text('Note')),
      ref: operand(revision('Commit').default('HEAD')),
    },
    given: { message: 'Reviewed.' },
    ...saysNow('noted'),
  }),
  set_config: action('Set a git setting', 'Sets who commits, or how, in this repository.', writes, {
    run: ({ key, value }) => ['config', '--local', key, value],
    params: {
      // Others name programs to run, files to read or whom to talk to.
      key: operand(
        z
          .enum(['user.name', 'user.email', 'pull.rebase', 'push.autoSetupRemote', 'init.defaultBranch'])
          .describe('Setting'),
      ),
      value: operand(matching(/^[^-\0\n][^\0\n]*$/, 'one line', 'Value')),
    },
    given: { key: 'user.name', value: 'Ada' },
    ...saysNow('set'),
  }),
};
