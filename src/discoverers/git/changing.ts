import * as z from 'zod';
import { choice, on, operand, option } from '../../core/parameter.ts';
import { list, name, path, text } from '../../core/params.ts';
import { action } from '../../core/program.ts';
import { saysNow } from './status.ts';
import { revision, somePaths, stashAt, stashIndex } from './values.ts';

// All of it waits for trust, whatever its effects (inspect.ts). `execute` is said of what has hooks that people use.
// --quiet keeps git from showing the state of what it has just checked out, of submodules too.

/** The files that differ from what is named next. A submodule is named too, so that what is in it counts as lost. */
const changedFiles = [
  ...['diff', '--name-only', '-z', '--no-renames', '--no-relative', '--ignore-submodules=none'],
];
/** Files that are tracked and ignored as well: no checkpoint has them, and git may be told not to see their changes. */
const ignoredFiles = () => ['ls-files', '--cached', '--ignored', '--exclude-standard', '-z'];
const branch = (says: string) => operand(name(says));

export const changing = {
  add: action('Stage changes in git', 'Stages files for the next commit.', ['write'], {
    run: ['add', '--all'],
    params: { paths: somePaths() },
    given: { paths: ['src'] },
    ...saysNow('staged'),
  }),
  unstage: action(
    'Unstage changes in git',
    'Takes files out of the next commit; the files stay.',
    ['write'],
    {
      run: ['restore', '--staged'],
      params: { paths: somePaths() },
      given: { paths: ['src'] },
      ...saysNow('unstaged'),
    },
  ),
  commit: action(
    'Commit to git',
    'Commits what is staged, or with paths these, new files too. Says where one stands.',
    ['write', 'execute'],
    {
      // The message last: it is long, and what people read is cut in the middle.
      run: ({ all, amend, keep, message }) => ['commit', '--no-status', all, amend, keep, message],
      prepare: ({ paths }) => ['add', '--', paths],
      params: {
        paths: operand(list(path('File or folder'), 'Stage these first: ["src"]')),
        all: on('--all', 'Stage changed and deleted tracked files first'),
        amend: on('--amend', 'Replace the last commit'),
        message: option('--message=', text('Commit message; with amend, left out: as it was')),
        keep: on('--no-edit', 'With amend: keep the message'),
      },
      given: { message: 'Fix typo' },
      ...saysNow('committed'),
    },
  ),
  checkout: action(
    'Check out a git branch',
    'Switches to a branch, or to a commit without one. Refuses when uncommitted changes would be lost.',
    ['write', 'execute'],
    {
      run: ['switch', '--quiet', '--no-overwrite-ignore'],
      dashes: false,
      params: { detach: on('--detach', 'A commit, without a branch'), branch: operand(revision('Branch')) },
      given: { branch: 'main' },
      ...saysNow('switched'),
    },
  ),
  create_branch: action('Create a git branch', 'Creates a branch and switches to it.', ['write', 'execute'], {
    run: ({ track, branch: made, start }) => [
      ...['switch', '--quiet', '--no-overwrite-ignore'],
      ...[track, '--create', made, start],
    ],
    params: {
      branch: branch('Name of the new branch'),
      start: operand(revision('Where it starts').default('HEAD')),
      track: on('--track', 'Make the start its upstream', '--no-track'),
    },
    given: { branch: 'fix' },
    ...saysNow('created'),
  }),
  rename_branch: action('Rename a git branch', 'Gives a branch another name.', ['write'], {
    run: ({ branch: old, to }) => ['branch', '--move', '--', old, to],
    params: { branch: branch('Branch'), to: branch('Its new name') },
    given: { branch: 'fix', to: 'fix-rounding' },
    ...saysNow('renamed'),
  }),
  delete_branch: action(
    'Delete a merged git branch',
    'Deletes a branch whose commits are all merged.',
    ['write'],
    {
      run: ['branch', '--delete'],
      params: { branch: branch('Branch') },
      given: { branch: 'fix' },
      ...saysNow('deleted'),
    },
  ),
  discard_branch: action('Discard a git branch', 'Deletes a branch, merged or not.', ['destroy'], {
    run: ['branch', '--delete', '--force'],
    params: { branch: branch('Branch') },
    given: { branch: 'try' },
    ...saysNow('deleted'),
  }),
  set_upstream: action(
    'Set the upstream of a git branch',
    'Says which remote branch a branch follows.',
    ['write'],
    {
      run: ({ upstream, branch: which }) => ['branch', upstream, '--', which],
      params: {
        upstream: option('--set-upstream-to=', name('Remote branch: origin/main')),
        branch: operand(name('Branch; the current one when left out').optional()),
      },
      given: { upstream: 'origin/main' },
      ...saysNow('set'),
    },
  ),
  tag: action('Create a git tag', 'Names a commit; with a message, as an annotated tag.', ['write'], {
    run: ({ message, tag, ref }) => ['tag', message, '--', tag, ref],
    params: {
      message: option('--message=', text('Message of an annotated tag')),
      tag: branch('Name of the tag'),
      ref: operand(revision('What it names').default('HEAD')),
    },
    given: { tag: 'v1.2.0', message: 'Release 1.2.0' },
    ...saysNow('tagged'),
  }),
  delete_tag: action('Delete a git tag', 'Deletes a tag here; the remote keeps its own.', ['write'], {
    run: ['tag', '--delete'],
    params: { tag: branch('Tag') },
    given: { tag: 'v1.2.0' },
  }),
  stash: action(
    'Stash changes in git',
    'Puts uncommitted changes aside; git_apply_stash brings them back.',
    ['write'],
    {
      run: ({ untracked, staged, message, paths }) => [
        'stash',
        'push',
        untracked,
        staged,
        message,
        '--',
        paths,
      ],
      params: {
        message: option('--message=', text('What they are')),
        untracked: on('--include-untracked', 'Untracked files too'),
        staged: on('--staged', 'Only what is staged'),
        paths: operand(list(path('Path', 'any', { written: true }), 'Only these files or folders')),
      },
      given: { message: 'half done' },
      ...saysNow('put aside'),
    },
  ),
  apply_stash: action('Apply a git stash', 'Brings back changes that were put aside.', ['write'], {
    run: ({ remove, index }) => ['stash', remove, '--quiet', '--index', stashAt(index)],
    params: { index: stashIndex, remove: on('pop', 'Remove the stash when it applied cleanly', 'apply') },
    given: { index: 1 },
    ...saysNow('applied'),
  }),
  drop_stash: action('Drop a git stash', 'Deletes one stash for good.', ['destroy'], {
    run: ({ index }) => ['stash', 'drop', stashAt(index)],
    params: { index: stashIndex },
    given: { index: 2 },
    ...saysNow('dropped'),
  }),
  restore: action(
    'Discard changes in git',
    'Puts files back as they are staged, or were at a commit. Uncommitted changes are lost.',
    ['write', 'destroy'],
    {
      takenBack: {
        changes: ({ from, paths }) => [...changedFiles, from, '--', paths],
        unless: ignoredFiles,
      },
      run: ({ from, paths }) => ['restore', '--worktree', from, '--', paths],
      params: {
        from: option('--source=', revision('Commit to take them from; the index when left out')),
        paths: somePaths(true),
      },
      given: { paths: ['src/a.ts'] },
      ...saysNow('put back'),
    },
  ),
  reset_hard: action(
    'Reset git to a commit',
    'Moves the branch to a commit and makes the files match. Uncommitted changes are lost.',
    ['write', 'destroy'],
    {
      takenBack: { changes: ({ ref }) => [...changedFiles, ref, '--'], unless: ignoredFiles },
      run: ({ ref }) => ['reset', '--hard', ref, '--'],
      params: { ref: operand(revision('Branch, tag or commit')) },
      given: { ref: 'HEAD~1' },
      ...saysNow('reset'),
    },
  ),
  reset: action('Move a git branch', 'Moves the branch to a commit; the files stay as they are.', ['write'], {
    run: ({ mode, ref }) => ['reset', mode, ref, '--'],
    params: {
      mode: choice(
        { mixed: '--mixed', soft: '--soft' },
        'What is staged is unstaged (mixed), or stays (soft)',
      ),
      ref: operand(revision('Branch, tag or commit')),
    },
    given: { ref: 'HEAD~1' },
    ...saysNow('moved'),
  }),
  clean: action('Delete untracked files in git', 'Deletes files git does not track.', ['write', 'destroy'], {
    first: ({ ignored, paths }) => ['clean', '--dry-run', '-d', ignored, '--', paths],
    run: ({ ignored, paths }) => ['clean', '--force', '-d', ignored, '--', paths],
    params: {
      ignored: on('-x', 'Ignored files too'),
      paths: operand(list(path('Path', 'any', { written: true }), 'Only these files or folders')),
    },
    given: { paths: ['build'] },
    ...saysNow('nothing to delete'),
  }),
  move: action('Move a file in git', 'Moves or renames a tracked file, and stages that.', ['write'], {
    run: ({ from, to }) => ['mv', '--', from, to],
    params: {
      from: operand(path('File or folder', 'any', { written: true })),
      to: operand(path('Where to', 'any', { written: true })),
    },
    given: { from: 'a.ts', to: 'b.ts' },
    ...saysNow('moved'),
  }),
  remove: action(
    'Remove a file from git',
    'Deletes tracked files that have no changes, and stages that.',
    ['write'],
    {
      run: ['rm', '-r'],
      params: {
        keep: on('--cached', 'Keep the files, and only stop tracking them'),
        paths: somePaths(true),
      },
      given: { paths: ['old.ts'] },
      ...saysNow('removed'),
    },
  ),
  note: action('Add a note to a git commit', 'Adds a note to a commit without changing it.', ['write'], {
    run: ({ message, ref }) => ['notes', 'append', message, ref],
    params: {
      message: option('--message=', text('Note')),
      ref: operand(revision('Commit').default('HEAD')),
    },
    given: { message: 'Reviewed.' },
    ...saysNow('noted'),
  }),
  set_config: action('Set a git setting', 'Sets who commits, or how, in this repository.', ['write'], {
    run: ({ key, value }) => ['config', '--local', key, value],
    params: {
      // Others name programs to run, files to read or whom to talk to.
      key: operand(
        z
          .enum(['user.name', 'user.email', 'pull.rebase', 'push.autoSetupRemote', 'init.defaultBranch'])
          .describe('Setting'),
      ),
      value: operand(
        z
          .string()
          .regex(/^[^-\0\n][^\0\n]*$/, 'expected one line')
          .describe('Value'),
      ),
    },
    given: { key: 'user.name', value: 'Ada' },
    ...saysNow('set'),
  }),
};
