import { action, choice, input, list, name, on, operand, option, path, text } from '../../core/grammar.ts';
import { entries } from '../reports/kinds.ts';
import { integrates, integratesBy } from './conflicts.ts';
import { saysNow } from './status.ts';
import { onlyPaths, revision } from './values.ts';
import { changes, reads, writes } from '../shared/programs.ts';

const steps = { start: [], continue: '--continue', skip: '--skip', abort: '--abort' } as const;
const { skip: _, ...withoutSkip } = steps;
const step = choice(steps, 'Start, or go on with what is under way');
const commits = operand(list(revision('Commit'), 'Commits, oldest first'));
const mended = operand(list(path('File'), 'With continue: stage these first, mended'));
const shared = { dashes: false, ...integrates } as const;

/** The actions that bring commits together, or look for one. */
export const integrating = {
  merge: action('Merge a git branch', 'Merges a branch into this one; conflicts with both sides.', changes, {
    ...shared,
    run: ({ step: now, how, branch }) => ['merge', now, how, branch],
    steps: { ...integrates.steps, before: ({ paths }) => ['add', '--', paths] },
    params: {
      paths: mended,
      step: choice(withoutSkip, 'Start, or go on with what is under way'),
      how: choice({ usual: [], fast_forward: '--ff-only', commit: '--no-ff', squash: '--squash' }, 'How'),
      branch: operand(revision('Branch or commit; the upstream when left out').optional()),
    },
    given: { branch: 'feature' },
  }),
  rebase: action('Rebase a git branch', 'Moves commits onto another; conflicts with both sides.', changes, {
    ...shared,
    run: ({ step: now, autosquash, branch }) => ['rebase', now, autosquash, branch],
    steps: { ...integrates.steps, before: ({ paths }) => ['add', '--', paths] },
    params: {
      step,
      paths: mended,
      autosquash: on(['--interactive', '--autosquash'], 'Fold fixup! and squash! commits'),
      branch: operand(revision('Branch or commit; the upstream when left out').optional()),
    },
    given: { branch: 'main' },
  }),
  cherry_pick: action('Cherry-pick git commits', 'Applies commits; conflicts with both sides.', changes, {
    ...shared,
    run: ({ step: now, commits: all }) => ['cherry-pick', now, all],
    steps: { ...integrates.steps, before: ({ paths }) => ['add', '--', paths] },
    params: { step, paths: mended, commits },
    given: { commits: ['a1b2c3d'] },
  }),
  revert: action('Revert git commits', 'Undoes commits by new ones; conflicts with both sides.', changes, {
    ...shared,
    run: ({ step: now, commits: all }) => ['revert', now, all],
    steps: { ...integrates.steps, before: ({ paths }) => ['add', '--', paths] },
    params: { step, paths: mended, commits },
    given: { commits: ['a1b2c3d'] },
  }),
  bisect_start: action('Start a git bisect', 'Begins to search for the commit that broke it.', changes, {
    run: ({ bad, good, paths }) => ['bisect', 'start', bad, good, '--', paths],
    params: {
      bad: operand(revision('A commit that is broken').default('HEAD')),
      good: operand(list(revision('Commit'), 'Commits that work')),
      paths: onlyPaths,
    },
    given: { good: ['v1.0'] },
    ...saysNow('started'),
  }),
  bisect: action('Go on with a git bisect', 'Says how a commit is, ends the search, or shows it.', changes, {
    run: ({ mark, ref }) => ['bisect', mark, ref],
    params: {
      mark: choice({ good: 'good', bad: 'bad', skip: 'skip', reset: 'reset', log: 'log' }, 'What it is'),
      ref: operand(revision('Commit; the one that is checked out when left out').optional()),
    },
    ...saysNow('marked'),
  }),
  apply_patch: action('Apply a patch with git', 'Applies a patch to files, or says that it fits.', changes, {
    run: ({ check, how }) => ['apply', '--whitespace=nowarn', check, how, '-'],
    params: {
      check: on('--check', 'Only say whether it fits'),
      how: choice({ forward: [], reverse: '--reverse', three_way: '--3way' }, 'How'),
      patch: input(text('The patch, as git diff writes it')),
    },
    given: { patch: 'diff --git a/a.txt b/a.txt\n' },
    ...integratesBy('it fits', (files) => `git_add paths=${JSON.stringify(files)}`),
  }),
  format_patch: action('Make patches of git commits', 'Writes a patch file for each commit.', writes, {
    run: ({ folder, from }) => ['format-patch', '--quiet', folder, from],
    params: {
      from: operand(revision('Commits after this one, or FROM..TO')),
      folder: option('--output-directory=', path('Where to', 'folder', { written: true })),
    },
    given: { from: 'main', folder: 'patches' },
    ...saysNow('written'),
  }),
  submodules: action('List git submodules', 'Submodules with their addresses.', reads, {
    // git submodule is a script, which starts others.
    run: { reads: ['.gitmodules'] },
    out: entries('submodule')(({ stdout }) => {
      const [before = '', ...all] = stdout.split(/^\[submodule /m);
      if (all.length === 0 && before.trim() !== '') throw new Error('no .gitmodules');
      return all.map((text) => ({
        name: /^\s*path\s*=\s*(.+?)\s*$/m.exec(text)?.[1] ?? '',
        says: /^\s*url\s*=\s*(.+?)\s*$/m.exec(text)?.[1] ?? '',
      }));
    }),
  }),
  worktrees: action('List git worktrees', 'Work trees of the repository and their branches.', reads, {
    run: ['worktree', 'list'],
  }),
  add_worktree: action('Add a git worktree', 'Checks out a branch in a folder of its own.', changes, {
    run: ['worktree', 'add'],
    params: {
      branch: option('-b', name('Create this branch')),
      folder: operand(path('New folder', 'folder', { written: true })),
      ref: operand(revision('Branch or commit').optional()),
    },
    given: { folder: 'fix', branch: 'fix' },
    ...saysNow('added'),
  }),
  remove_worktree: action('Remove a git worktree', 'Deletes a work tree without changes in it.', writes, {
    run: ['worktree', 'remove'],
    params: { folder: operand(path('Folder', 'folder', { written: true })) },
    given: { folder: 'fix' },
    ...saysNow('removed'),
  }),
};
