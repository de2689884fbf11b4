import { choice, input, on, operand, option } from '../../core/parameter.ts';
import { list, name, path, text } from '../../core/params.ts';
import { action, type ProgramAction } from '../../core/program.ts';
import { entries } from '../reports/kinds.ts';
import { integrates } from './conflicts.ts';
import { saysNow } from './status.ts';
import { onlyPaths, revision } from './values.ts';

const steps = { start: [], continue: '--continue', skip: '--skip', abort: '--abort' } as const;
const { skip: _, ...withoutSkip } = steps;
const step = choice(steps, 'Start, or go on with what is under way');
const commits = operand(list(revision('Commit'), 'Commits, oldest first'));
const changes = ['write', 'execute'] as const;
const shared = { dashes: false, ...integrates } as const;

const bisecting = (title: string, says: string, word: string): ProgramAction =>
  action(title, says, changes, {
    run: ({ ref }) => ['bisect', word, ref],
    params: { ref: operand(revision('Commit; the one that is checked out when left out').optional()) },
    ...saysNow('marked'),
  });

/** What brings commits together, and what looks for one. */
export const integrating = {
  merge: action(
    'Merge a git branch',
    'Merges a branch into this one; conflicts come with both sides.',
    changes,
    {
      ...shared,
      run: ['merge'],
      params: {
        step: choice(withoutSkip, 'Start, or go on with what is under way'),
        how: choice({ usual: [], fast_forward: '--ff-only', commit: '--no-ff', squash: '--squash' }, 'How'),
        branch: operand(revision('Branch or commit; the upstream when left out').optional()),
      },
      given: { branch: 'feature' },
    },
  ),
  rebase: action(
    'Rebase a git branch',
    'Puts the commits of this branch on top of another; conflicts come with both sides.',
    changes,
    {
      ...shared,
      run: ['rebase'],
      params: {
        step,
        autosquash: on(['--interactive', '--autosquash'], 'Fold fixup! and squash! commits'),
        onto: option('--onto=', revision('New base, when only a part of the commits is moved')),
        branch: operand(revision('Branch or commit; the upstream when left out').optional()),
      },
      given: { branch: 'main' },
    },
  ),
  cherry_pick: action(
    'Cherry-pick git commits',
    'Applies commits of elsewhere; conflicts with both sides.',
    changes,
    {
      ...shared,
      run: ['cherry-pick'],
      params: { step, source: on('-x', 'Name the source in the message'), commits },
      given: { commits: ['a1b2c3d'] },
    },
  ),
  revert: action(
    'Revert git commits',
    'Makes commits that undo others; conflicts with both sides.',
    changes,
    {
      ...shared,
      run: ['revert'],
      params: { step, stage: on('--no-commit', 'Stage only'), commits },
      given: { commits: ['a1b2c3d'] },
    },
  ),
  bisect_start: action(
    'Start a git bisect',
    'Begins to search for the commit that broke something.',
    changes,
    {
      run: ({ bad, good, paths }) => ['bisect', 'start', bad, good, '--', paths],
      params: {
        bad: operand(revision('A commit that is broken').default('HEAD')),
        good: operand(list(revision('Commit'), 'Commits that work')),
        paths: onlyPaths,
      },
      given: { good: ['v1.0'] },
      ...saysNow('started'),
    },
  ),
  bisect_good: bisecting('Mark a git bisect commit as good', 'Says that a commit works.', 'good'),
  bisect_bad: bisecting('Mark a git bisect commit as bad', 'Says that a commit is broken.', 'bad'),
  bisect_skip: bisecting('Skip a git bisect commit', 'Says that a commit cannot be tested.', 'skip'),
  bisect_reset: action('End a git bisect', 'Ends the search and goes back to where it began.', changes, {
    run: ['bisect', 'reset'],
    dashes: false,
    ...saysNow('ended'),
  }),
  bisect_log: action('Show a git bisect', 'What has been marked so far.', ['read'], {
    run: ['bisect', 'log'],
  }),
  apply_patch: action('Apply a patch with git', 'Applies a patch to files, or says that it fits.', changes, {
    run: ({ check, index, how }) => ['apply', '--whitespace=nowarn', check, index, how, '-'],
    params: {
      check: on('--check', 'Only say whether it fits'),
      index: on('--index', 'Stage it as well'),
      how: choice({ forward: [], reverse: '--reverse', three_way: '--3way' }, 'How'),
      patch: input(text('The patch, as git diff writes it')),
    },
    given: { patch: 'diff --git a/a.txt b/a.txt\n' },
    ...saysNow('it fits'),
  }),
  apply_mail: action(
    'Apply patches as git commits',
    'Commits patches that git_format_patch has made.',
    changes,
    {
      ...shared,
      run: ({ step: now, files }) => ['am', '--3way', now, files],
      params: { step, files: operand(list(path('Patch', 'file'), 'Patches, in order')) },
      given: { files: ['0001-fix.patch'] },
    },
  ),
  format_patch: action('Make patches of git commits', 'Writes a patch file for each commit.', ['write'], {
    run: ({ folder, from }) => ['format-patch', '--quiet', folder, from],
    params: {
      from: operand(revision('Commits after this one, or FROM..TO')),
      folder: option('--output-directory=', path('Where to', 'folder', { written: true })),
    },
    given: { from: 'main', folder: 'patches' },
    ...saysNow('written'),
  }),
  submodules: action('List git submodules', 'Submodules with their addresses.', ['read'], {
    // git submodule is a script, which starts others.
    reads: ['.gitmodules'],
    out: entries('submodule')(({ stdout }) =>
      stdout
        .split(/^\[submodule /m)
        .slice(1)
        .map((text) => ({
          name: /^\s*path\s*=\s*(.+?)\s*$/m.exec(text)?.[1] ?? '',
          says: /^\s*url\s*=\s*(.+?)\s*$/m.exec(text)?.[1] ?? '',
        })),
    ),
  }),
  worktrees: action('List git worktrees', 'Work trees of the repository and their branches.', ['read'], {
    run: ['worktree', 'list'],
  }),
  add_worktree: action('Add a git worktree', 'Checks out a branch in a folder of its own.', changes, {
    run: ({ branch, folder, ref }) => ['worktree', 'add', branch, '--', folder, ref],
    params: {
      branch: option('-b', name('Create this branch')),
      folder: operand(path('New folder', 'folder', { written: true })),
      ref: operand(revision('Branch or commit').optional()),
    },
    given: { folder: 'fix', branch: 'fix' },
    ...saysNow('added'),
  }),
  remove_worktree: action('Remove a git worktree', 'Deletes a work tree without changes in it.', ['write'], {
    run: ['worktree', 'remove'],
    params: { folder: operand(path('Folder', 'folder', { written: true })) },
    given: { folder: 'fix' },
    ...saysNow('removed'),
  }),
};
