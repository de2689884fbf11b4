import type { View } from '../../core/grammar.ts';

// What is under way is found by asking each; a rebase leaves the marks of a cherry-pick, too.
const underWay = ['rebase', 'merge', 'cherry_pick', 'revert'];
const goOn = (step: string) => ({ first: underWay, with: { step } });

/** What people think of as one thing, and hosts are shown as one tool. */
export const views: Readonly<Record<string, View>> = {
  switch: {
    title: 'Switch git branch',
    description:
      'Switch to a git branch (checkout); create, rename, delete one; track a remote one; detach at a commit.',
    does: {
      switch: 'checkout',
      create: 'create_branch',
      rename: 'rename_branch',
      delete: 'delete_branch',
      track: 'set_upstream',
      detach: { first: ['checkout'], with: { detach: true } },
    },
    takes: {
      branch: 'Branch: fix/rounding; detach: a commit',
      start: 'create: where it starts; HEAD when left out',
      to: 'rename: the new name',
      upstream: 'track: origin/main',
    },
  },
  integrate: {
    title: 'Integrate commits in git',
    description:
      'git merge, rebase, cherry-pick, revert; continue, skip, abort. Conflicts come back with both sides.',
    does: {
      merge: 'merge',
      rebase: 'rebase',
      cherry_pick: 'cherry_pick',
      revert: 'revert',
      continue: goOn('continue'),
      skip: goOn('skip'),
      abort: goOn('abort'),
    },
    takes: {
      branch: 'merge, rebase: branch or commit',
      commits: 'cherry_pick, revert: commits, oldest first',
      paths: 'continue: mended files, staged first',
    },
  },
  sync: {
    title: 'Sync with a git remote',
    description: 'git fetch, pull or push; push never forces.',
    does: { fetch: 'fetch', pull: 'pull', push: 'push' },
    takes: {
      remote: 'fetch, push: origin when left out',
      branch: 'push: branch or tag; the current one when left out',
      set_upstream: 'push: make it the upstream',
      how: 'pull: fast_forward, rebase or merge when both have changed',
    },
  },
};
