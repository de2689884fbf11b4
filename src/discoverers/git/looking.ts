import * as z from 'zod';
import { defineAction } from '../../core/discoverer.ts';
import { flag, limit, list, path, text } from '../../core/params.ts';
import * as output from './output.ts';
import { asOf, revision } from './revision.ts';

const paths = list(path('Path'), 'Only these files or folders');

/** Nothing here writes, or reaches another machine; before trust, nothing of the repository runs (inspect.ts). */
export const looking = {
  status: defineAction({
    title: 'Show working tree status',
    description: 'Branch, upstream, and staged, unstaged, untracked and conflicted files.',
    effects: ['read'],
    params: {
      untracked: z.enum(['normal', 'all', 'no']).default('normal').describe('Which untracked files'),
      paths,
    },
    argv: [
      'status',
      '--porcelain=v2',
      '-z',
      '--branch',
      '--show-stash',
      '--ignore-submodules=dirty',
      { option: '--untracked-files=', param: 'untracked' },
      '--',
      { each: 'paths' },
    ],
    example: {
      runs: 'git status --porcelain=v2 -z --branch --show-stash --ignore-submodules=dirty --untracked-files=normal --',
    },
    result: output.statusResult,
    parse: output.parseStatus,
  }),
  diff: defineAction({
    title: 'Show changes',
    description: 'Unstaged changes as a unified diff; or staged ones, or between commits.',
    effects: ['read'],
    params: {
      staged: flag('Staged changes instead'),
      from: revision('Compare from this commit').optional(),
      to: revision('Compare to this commit').optional(),
      form: z.enum(['patch', 'stat', 'names']).default('patch').describe('How much to show'),
      context: z.int().min(0).max(100).default(3).describe('Lines of context'),
      paths,
    },
    argv: [
      'diff',
      '--no-ext-diff',
      '--no-textconv',
      '--no-color',
      '--ignore-submodules=dirty',
      {
        choose: 'form',
        // --unified alone would add the patch to the others.
        from: {
          patch: ['--patch', { option: '--unified=', param: 'context' }],
          stat: ['--stat'],
          names: ['--name-status'],
        },
      },
      { flag: '--cached', param: 'staged' },
      '--end-of-options',
      { param: 'from' },
      { param: 'to' },
      '--',
      { each: 'paths' },
    ],
    example: {
      given: { staged: true, form: 'stat' },
      runs:
        'git diff --no-ext-diff --no-textconv --no-color --ignore-submodules=dirty --stat --cached ' +
        '--end-of-options --',
    },
  }),
  log: defineAction({
    title: 'List commits',
    description: 'The history: commits, newest first, of all or of files.',
    effects: ['read'],
    params: {
      ref: asOf,
      limit: limit(500, 20),
      skip: z.int().min(0).max(1_000_000).default(0).describe('How many to skip'),
      author: text('Name or address contains').optional(),
      message: text('Message contains').optional(),
      since: text('Not before, e.g. 2 weeks ago').optional(),
      until: text('Not after').optional(),
      body: flag('With whole messages'),
      paths,
    },
    argv: [
      'log',
      '-z',
      '--no-color',
      '--no-ext-diff',
      '--no-textconv',
      '--no-show-signature',
      '--fixed-strings',
      {
        choose: 'body',
        from: { true: [`--format=${output.commitFormat}%b`], false: [`--format=${output.commitFormat}`] },
      },
      { option: '--max-count=', param: 'limit' },
      { option: '--skip=', param: 'skip' },
      { option: '--author=', param: 'author' },
      { option: '--grep=', param: 'message' },
      { option: '--since=', param: 'since' },
      { option: '--until=', param: 'until' },
      '--end-of-options',
      { param: 'ref' },
      '--',
      { each: 'paths' },
    ],
    example: {
      given: { limit: 5, paths: ['src'] },
      runs:
        'git log -z --no-color --no-ext-diff --no-textconv --no-show-signature --fixed-strings ' +
        `--format=${output.commitFormat} --max-count=5 --skip=0 --end-of-options HEAD -- src`,
    },
    result: output.commitsResult,
    parse: output.parseCommits,
  }),
  show: defineAction({
    title: 'Show a commit',
    description: 'Message and changes of one commit, tag or other object.',
    effects: ['read'],
    params: {
      ref: asOf,
      form: z.enum(['patch', 'stat', 'names']).default('patch').describe('How much to show'),
      paths,
    },
    argv: [
      'show',
      '--no-ext-diff',
      '--no-textconv',
      '--no-color',
      '--no-show-signature',
      '--format=fuller',
      { choose: 'form', from: { patch: ['--patch'], stat: ['--stat'], names: ['--name-status'] } },
      '--end-of-options',
      { param: 'ref' },
      '--',
      { each: 'paths' },
    ],
    example: {
      given: { ref: 'v1.0' },
      runs:
        'git show --no-ext-diff --no-textconv --no-color --no-show-signature --format=fuller --patch ' +
        '--end-of-options v1.0 --',
    },
  }),
  branches: defineAction({
    title: 'List branches',
    description: 'Branches with upstream and last commit, latest first.',
    effects: ['read'],
    params: {
      which: z.enum(['local', 'remote', 'all']).default('local').describe('Which branches'),
      limit: limit(500, 50),
    },
    argv: [
      'for-each-ref',
      `--format=${output.branchFormat}`,
      '--sort=-committerdate',
      { option: '--count=', param: 'limit' },
      {
        choose: 'which',
        from: { local: ['refs/heads'], remote: ['refs/remotes'], all: ['refs/heads', 'refs/remotes'] },
      },
    ],
    example: {
      runs: `git for-each-ref '--format=${output.branchFormat}' --sort=-committerdate --count=50 refs/heads`,
    },
    result: output.branchesResult,
    parse: output.parseBranches,
  }),
  tags: defineAction({
    title: 'List tags',
    description: 'Tags with the commit they name, latest first.',
    effects: ['read'],
    params: { limit: limit(500, 50) },
    argv: [
      'for-each-ref',
      `--format=${output.tagFormat}`,
      '--sort=-creatordate',
      { option: '--count=', param: 'limit' },
      'refs/tags',
    ],
    example: {
      runs: `git for-each-ref '--format=${output.tagFormat}' --sort=-creatordate --count=50 refs/tags`,
    },
    result: output.tagsResult,
    parse: output.parseTags,
  }),
  remotes: defineAction({
    title: 'List remotes',
    description: 'Remote repositories and their addresses.',
    effects: ['read'],
    params: {},
    argv: ['remote', '--verbose'],
    example: { runs: 'git remote --verbose' },
    result: output.remotesResult,
    parse: output.parseRemotes,
  }),
  stashes: defineAction({
    title: 'List stashes',
    description: 'Changes that were put aside, newest first.',
    effects: ['read'],
    params: {},
    argv: ['stash', 'list', '-z', '--no-color', '--no-show-signature', `--format=${output.stashFormat}`],
    example: { runs: `git stash list -z --no-color --no-show-signature --format=${output.stashFormat}` },
    result: output.stashesResult,
    parse: output.parseStashes,
  }),
  reflog: defineAction({
    title: 'List where HEAD has been',
    description: 'Earlier positions of HEAD or a branch, to find lost commits.',
    effects: ['read'],
    params: { ref: asOf, limit: limit(200, 20) },
    argv: [
      'log',
      '--walk-reflogs',
      '-z',
      '--no-color',
      '--no-show-signature',
      `--format=${output.stashFormat}`,
      { option: '--max-count=', param: 'limit' },
      '--end-of-options',
      { param: 'ref' },
      '--',
    ],
    example: {
      runs:
        `git log --walk-reflogs -z --no-color --no-show-signature --format=${output.stashFormat} ` +
        '--max-count=20 --end-of-options HEAD --',
    },
    result: output.reflogResult,
    parse: output.parseReflog,
  }),
};
