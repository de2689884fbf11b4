import {
  action,
  choice,
  glue,
  matching,
  name,
  on,
  operand,
  option,
  path,
  type Piece,
  type Values,
} from '../../core/grammar.ts';
import { integrates } from './conflicts.ts';
import { changed, now, saysNow } from './status.ts';
import { address, remote } from './values.ts';
import { fetches, makes, writes } from '../shared/programs.ts';

// Not a refspec: "+main" would overwrite, ":main" delete, "a:b" send to another branch.
const pushable = /^[A-Za-z0-9_][^\s:+~^?*[\\]{0,200}$/;
const branchToPush = matching(pushable, 'the name of a branch', 'Branch or tag').default('HEAD');
const origin = remote.default('origin');
const quiet = '--no-progress';
const push = ['push', quiet, '--porcelain', '--recurse-submodules=no'];

// Hooks of the repository run before a push.
const pushes = ['execute', 'network', 'publish'] as const;
const forces = [...pushes, 'destroy'] as const;

/** An address without the name and password in it. */
const withoutLogin = (url: string): string => url.replace(/:\/\/[^/?#]*@/, '://');

/** A push in a person's words: `git push main to origin (git@example.org:shop.git), 3 commits`. */
const pushing = (words: (branch: string, where: string, count: string) => string) => ({
  agreed: {
    branch: ({ branch }: { branch: Piece }) => ['rev-parse', '--abbrev-ref', branch],
    address: ({ remote: to }: { remote: Piece }) => ['remote', 'get-url', '--push', to],
  },
  told: {
    ahead: ({ remote: to, branch }: { remote: Piece; branch: Piece }) => [
      ...['rev-list', '--count', branch, '--not'],
      glue('--remotes=', to),
    ],
  },
  says({ remote: to, branch }: Values, known: Readonly<Record<string, string>>): string {
    const { branch: name = String(branch), address: url, ahead } = known;
    const where = url === undefined ? String(to) : `${String(to)} (${withoutLogin(url)})`;
    return words(
      name,
      where,
      ahead === undefined ? '' : `, ${ahead} ${ahead === '1' ? 'commit' : 'commits'}`,
    );
  },
});

/** The actions that talk to other repositories. */
export const sharing = {
  fetch: action('Fetch from a git remote', 'Downloads new commits; your branches stay.', fetches, {
    run: ['fetch', quiet, '--no-recurse-submodules'],
    params: {
      prune: on('--prune', 'Forget remote branches that are gone'),
      tags: on('--tags', 'All tags too'),
      remote: operand(origin),
    },
    ...saysNow('nothing new'),
  }),
  pull: action('Pull from a git remote', 'Brings new commits of the upstream into this branch.', makes, {
    run: ['pull', quiet, '--no-recurse-submodules'],
    dashes: false,
    params: {
      how: choice(
        { fast_forward: '--ff-only', rebase: '--rebase', merge: '--no-rebase' },
        'When both have changed',
      ),
    },
    ...integrates,
  }),
  push: action('Push to a git remote', 'Sends a branch or tag, without force.', pushes, {
    run: push,
    params: {
      set_upstream: on('--set-upstream', 'Make it the upstream of the branch'),
      remote: operand(origin),
      branch: operand(branchToPush),
    },
    given: { branch: 'fix' },
    steps: {
      preview: ({ remote: to, branch }) => [...push, '--dry-run', '--no-verify', '--', to, branch],
      wording: pushing((branch, where, count) => `git push ${branch} to ${where}${count}`),
      after: now,
    },
    out: changed('pushed'),
  }),
  force_push: action('Force-push to a git remote', 'Replaces a branch, unless others pushed since.', forces, {
    run: [...push, '--force-with-lease'],
    params: { remote: operand(origin), branch: operand(branchToPush) },
    given: { branch: 'fix' },
    steps: {
      wording: pushing((branch, where, count) => `git force-push ${branch} to ${where}${count}`),
      after: now,
    },
    out: changed('pushed'),
  }),
  delete_remote_branch: action('Delete a branch of a git remote', 'Deletes a branch or tag there.', forces, {
    run: [...push, '--delete'],
    params: { remote: operand(origin), branch: operand(name('Branch or tag')) },
    given: { branch: 'fix' },
    steps: {
      wording: pushing((branch, where) => `git delete branch ${branch} of ${where}`),
      after: now,
    },
    out: changed('deleted'),
  }),
  add_remote: action('Add a git remote', 'Adds a remote repository by its address.', writes, {
    run: ['remote', 'add'],
    params: { name: operand(remote), url: operand(address) },
    given: { name: 'upstream', url: 'https://example.org/shop.git' },
    ...saysNow('added'),
  }),
  set_remote_url: action('Change the address of a git remote', 'Gives a remote another address.', writes, {
    run: ['remote', 'set-url'],
    params: { name: operand(remote), url: operand(address) },
    given: { name: 'origin', url: 'git@example.org:shop.git' },
    ...saysNow('changed'),
  }),
  remove_remote: action('Remove a git remote', 'Forgets a remote and its branches here.', writes, {
    run: ['remote', 'remove'],
    params: { name: operand(remote) },
    given: { name: 'upstream' },
    ...saysNow('removed'),
  }),
  clone: action('Clone a git repository', 'Copies a repository into a new folder.', fetches, {
    run: ['clone', quiet, '--no-recurse-submodules'],
    params: {
      url: operand(address),
      folder: operand(path('New folder', 'folder', { written: true })),
      branch: option('--branch=', name('Branch or tag to check out')),
    },
    given: { url: 'https://example.org/shop.git', folder: 'shop' },
  }),
  init: action('Create a git repository', 'Makes an empty repository in a folder.', writes, {
    run: ['init'],
    params: {
      branch: option('--initial-branch=', name('Name of the first branch').default('main')),
      folder: operand(path('Folder', 'folder', { written: true }).default('.')),
    },
    given: { folder: 'shop' },
  }),
  update_submodules: action('Update git submodules', 'Checks out what this commit names.', makes, {
    run: ['submodule', 'update', '--init', '--recursive'],
    dashes: false,
    ...saysNow('updated'),
  }),
};
