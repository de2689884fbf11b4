import * as z from 'zod';
import { input, on, operand, option, required } from '../core/parameter.ts';
import { limit, list, name, path, some, text } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { commits, entries } from './reports/kinds.ts';
import { json, limited } from './reports/readers.ts';
import { changes, makes, reads } from './shared/effects.ts';

const states = {
  M: 'modified',
  A: 'added',
  R: 'removed',
  '!': 'missing',
  '?': 'unknown',
  I: 'ignored',
  C: 'clean',
};
const state = z.enum(Object.keys(states) as [keyof typeof states]);
const changed = json(z.array(z.object({ path: z.string(), status: state })), (all) =>
  all.map((one) => ({ name: one.path, says: states[one.status] })),
);
const revision = z.object({
  ...{ node: z.string(), desc: z.string(), user: z.string(), branch: z.string(), tags: z.array(z.string()) },
  date: z.tuple([z.number(), z.number()]),
});
const history = json(z.array(revision), (all) =>
  all.map(({ node, desc, user, branch, tags, date: [seconds] }) => {
    const [subject = '', ...body] = desc.trim().split('\n');
    return {
      ...{ hash: node, author: user, subject, date: new Date(seconds * 1000).toISOString() },
      refs: [branch === 'default' ? '' : branch, ...tags].filter(Boolean).join(', '),
      ...(body.length > 0 && { body: body.join('\n').trim() }),
    };
  }),
);
const listed = (of: string) =>
  entries(of)(
    json(z.array(z.object({ node: z.string(), active: z.boolean().optional() }).and(names)), (all) =>
      all.map((one) => ({
        name: one.branch ?? one.bookmark ?? one.tag ?? '',
        says: one.node.slice(0, 9),
        current: one.active,
      })),
    ),
  );
const word = z.string().optional();
const names = z.object({ branch: word, bookmark: word, tag: word });

const rev = option('--rev=', name('Revision'));
const paths = operand(list(path('File or folder'), 'Default: all'));
const somePaths = operand(some(path('File or folder'), 'Files and folders'));
const now = {
  after: { now: () => ['status', '--template=json'] },
  out: entries('change')((output) => changed({ ...output, stdout: output.after['now'] ?? '' })),
};

export default program('hg', {
  title: 'Mercurial',
  category: 'vcs',
  site: 'https://www.mercurial-scm.org/help',
  get: { apt: 'mercurial', brew: 'mercurial', winget: 'Mercurial.Mercurial' },
  version: { args: ['--version', '--quiet'], pattern: /version (\d[\w.]+)/ },
  project: ['.hg'],
  environment: ['SSH_AUTH_SOCK'],
  settings: { HGPLAIN: '1', HGMERGE: ':merge3' },
  before: ['--noninteractive'],
  // The repository's own settings name hooks and extensions, which only looking must not run.
  inspect: (_look, { effects }) =>
    Promise.resolve(effects.includes('read') ? { env: { HGRCSKIPREPO: '1' } } : {}),
  hints: [{ says: /no username supplied/, wayOut: 'A person has to set ui.username with hg config --edit.' }],
  actions: {
    status: action('Show Mercurial status', 'Files that were changed, added, or are unknown.', reads, {
      run: ['status', '--template=json'],
      params: { paths },
      out: entries('change')(changed),
    }),
    diff: action('Diff a Mercurial repository', 'What changed, or what a revision changed.', reads, {
      run: ['diff', '--git'],
      params: { change: option('--change=', name('What this revision changed')), paths },
    }),
    log: action('Show Mercurial history', 'Revisions, newest first.', reads, {
      run: ['log', '--template=json'],
      params: {
        limit: option('--limit=', limit(1000, 20)),
        rev,
        keyword: option('--keyword=', text('Words to find')),
        paths,
      },
      out: commits(limited(history)),
    }),
    annotate: action('Annotate a Mercurial file', 'Who changed each line last.', reads, {
      run: ['annotate', '--user', '--number', '--date', '--quiet'],
      params: { rev, file: operand(path('File', 'file')) },
      given: { file: 'main.c' },
    }),
    branches: action('List Mercurial branches', 'Named branches with their heads.', reads, {
      run: ['branches', '--template=json'],
      out: listed('branch'),
    }),
    add: action('Add files to Mercurial', 'Marks files to be committed.', changes, {
      run: ['add'],
      params: { paths: somePaths },
      given: { paths: ['new.c'] },
      ...now,
    }),
    commit: action('Commit with Mercurial', 'Commits changes; hooks of the repository run.', changes, {
      run: ['commit', '--logfile=-'],
      params: { message: input(text('Message')), amend: on('--amend', 'Into the last commit'), paths },
      given: { message: 'Fix rounding' },
      after: { now: () => ['log', '--template=json', '--limit=1'] },
      out: commits((output) => history({ ...output, stdout: output.after['now'] ?? '' })),
    }),
    update: action('Update a Mercurial repository', 'Goes to a revision, branch or bookmark.', changes, {
      run: ['update', '--check'],
      params: { rev: operand(name('Revision, branch or bookmark').optional()) },
      given: { rev: 'default' },
      ...now,
    }),
    pull: action('Pull with Mercurial', 'Gets what others pushed.', makes, {
      run: ['pull'],
      params: { update: on('--update', 'Then go to it') },
    }),
    push: action(
      'Push with Mercurial',
      'Sends commits to the repository.',
      ['execute', 'network', 'publish'],
      {
        run: ['push'],
        params: { rev, bookmark: option('--bookmark=', name('Bookmark')) },
        first: () => ['outgoing'],
      },
    ),
    merge: action('Merge with Mercurial', 'Merges another head; conflicts stay in the files.', changes, {
      run: ['merge', '--tool=:merge3'],
      params: { rev: required('--rev=', name('Revision to merge')) },
      given: { rev: 'feature' },
      ok: [0, 1],
      ...now,
    }),
    revert: action(
      'Revert Mercurial changes',
      'Throws local changes away.',
      ['write', 'execute', 'destroy'],
      {
        run: ['revert', '--no-backup'],
        params: { paths: somePaths },
        given: { paths: ['main.c'] },
        first: ({ paths: which }) => ['diff', '--git', '--', which],
        ...now,
      },
    ),
  },
});
