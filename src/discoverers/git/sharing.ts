import * as z from 'zod';
import { choice, on, operand, option } from '../../core/parameter.ts';
import { name, path } from '../../core/params.ts';
import { action } from '../../core/program.ts';
import { saysNow } from './status.ts';
import { address, remote } from './values.ts';

// Not a refspec: "+main" would overwrite, ":main" delete, "a:b" send to another branch.
const branchToPush = z
  .string()
  .regex(/^[A-Za-z0-9_][^\s:+~^?*[\\]{0,200}$/, 'expected the name of a branch')
  .default('HEAD')
  .describe('Branch or tag');
const origin = remote.default('origin');
const quiet = '--no-progress';
const push = ['push', quiet, '--porcelain', '--recurse-submodules=no'];

/** What talks to other repositories. */
export const sharing = {
  fetch: action(
    'Fetch from a git remote',
    'Downloads new commits of a remote; your branches stay, unless it is set up otherwise.',
    ['write', 'network'],
    {
      run: ['fetch', quiet, '--no-recurse-submodules'],
      params: {
        prune: on('--prune', 'Forget remote branches that are gone'),
        tags: on('--tags', 'All tags too'),
        remote: operand(origin),
      },
      ...saysNow('nothing new'),
    },
  ),
  pull: action(
    'Pull from a git remote',
    'Gets new commits of the upstream branch and moves this branch forward, or rebases it.',
    ['write', 'execute', 'network'],
    {
      run: ['pull', quiet, '--no-recurse-submodules'],
      dashes: false,
      params: {
        how: choice(
          { fast_forward: '--ff-only', rebase: '--rebase', merge: '--no-rebase' },
          'When both have changed',
        ),
      },
      ...saysNow('pulled'),
    },
  ),
  push: action(
    'Push to a git remote',
    'Sends a branch or tag, without force.',
    ['execute', 'network', 'publish'],
    {
      run: push,
      first: ({ remote: to, branch }) => [...push, '--dry-run', '--no-verify', '--', to, branch],
      params: {
        set_upstream: on('--set-upstream', 'Make it the upstream of the branch'),
        remote: operand(origin),
        branch: operand(branchToPush),
      },
      given: { branch: 'fix' },
      ...saysNow('pushed'),
    },
  ),
  force_push: action(
    'Force-push to a git remote',
    'Replaces a branch there, unless others have pushed to it since the last fetch.',
    ['execute', 'network', 'publish', 'destroy'],
    {
      run: [...push, '--force-with-lease'],
      params: { remote: operand(origin), branch: operand(branchToPush) },
      given: { branch: 'fix' },
      ...saysNow('pushed'),
    },
  ),
  delete_remote_branch: action(
    'Delete a branch of a git remote',
    'Deletes a branch or tag there.',
    ['execute', 'network', 'publish', 'destroy'],
    {
      run: [...push, '--delete'],
      params: { remote: operand(origin), branch: operand(name('Branch or tag')) },
      given: { branch: 'fix' },
      ...saysNow('deleted'),
    },
  ),
  add_remote: action('Add a git remote', 'Adds a remote repository by its address.', ['write'], {
    run: ['remote', 'add'],
    params: { name: operand(remote), url: operand(address) },
    given: { name: 'upstream', url: 'https://example.org/shop.git' },
    ...saysNow('added'),
  }),
  set_remote_url: action('Change the address of a git remote', 'Gives a remote another address.', ['write'], {
    run: ['remote', 'set-url'],
    params: { name: operand(remote), url: operand(address) },
    given: { name: 'origin', url: 'git@example.org:shop.git' },
    ...saysNow('changed'),
  }),
  remove_remote: action('Remove a git remote', 'Forgets a remote and its branches here.', ['write'], {
    run: ['remote', 'remove'],
    params: { name: operand(remote) },
    given: { name: 'upstream' },
    ...saysNow('removed'),
  }),
  rename_remote: action('Rename a git remote', 'Gives a remote another name.', ['write'], {
    run: ({ from, to }) => ['remote', 'rename', '--', from, to],
    params: { from: operand(remote), to: operand(remote) },
    given: { from: 'origin', to: 'upstream' },
    ...saysNow('renamed'),
  }),
  clone: action(
    'Clone a git repository',
    'Copies a remote repository into a new folder.',
    ['write', 'network'],
    {
      run: ({ depth, branch, url, folder }) => [
        ...['clone', quiet, '--no-recurse-submodules'],
        ...[depth, branch, '--', url, folder],
      ],
      params: {
        url: operand(address),
        folder: operand(path('New folder', 'folder', { written: true })),
        depth: option('--depth=', z.int().min(1).max(1_000_000).describe('Only so many commits')),
        branch: option('--branch=', name('Branch or tag to check out')),
      },
      given: { url: 'https://example.org/shop.git', folder: 'shop' },
    },
  ),
  init: action('Create a git repository', 'Makes an empty repository in a folder.', ['write'], {
    run: ['init'],
    params: {
      branch: option('--initial-branch=', name('Name of the first branch').default('main')),
      folder: operand(path('Folder', 'folder', { written: true }).default('.')),
    },
    given: { folder: 'shop' },
  }),
  update_submodules: action(
    'Update git submodules',
    'Fetches and checks out submodules as this commit names them.',
    ['write', 'execute', 'network'],
    { run: ['submodule', 'update', '--init', '--recursive'], dashes: false, ...saysNow('updated') },
  ),
};
