import * as z from 'zod';
import { choice, on, operand, option } from '../../core/parameter.ts';
import { limit, path, text } from '../../core/params.ts';
import { glue } from '../../core/command-line.ts';
import { action } from '../../core/program.ts';
import { told, type Output } from '../../core/report.ts';
import { commits, entries } from '../reports/kinds.ts';
import { records } from '../reports/readers.ts';
import { statusReport, statusWords } from './status.ts';
import { asOf, most, onlyPaths, revision, skip, stashAt, stashIndex } from './values.ts';

// Nothing here writes, or reaches another machine; before trust, nothing of the repository runs (inspect.ts).
const plain = ['--no-color', '--no-ext-diff', '--no-textconv'];
const form = choice({ patch: '--patch', stat: '--stat', names: '--name-status' }, 'How much to show');
const nul = { separator: '\0', end: '\0\n' };

/** Text of git, or what it means that there is none. */
const orElse = (nothing: (values: Output['values']) => string) =>
  told(({ stdout, stderr, values }) => stdout.trimEnd() || stderr.trim() || nothing(values));
const inPaths = ({ paths }: Output['values']) =>
  Array.isArray(paths) && paths.length > 0 ? ` in ${paths.join(', ')}` : '';

// Fields end with NUL, which neither names nor messages can contain, so nothing in them can look like a field.
const commitFormat = '--format=%h%x00%aI%x00%an%x00%D%x00%s%x00%b%x00';
const stashFormat = '--format=%gd%x00%h%x00%as%x00%gs%x00';
const readCommits = records(
  6,
  (hash, date, author, refs, subject, body) => ({
    hash,
    date,
    author,
    subject,
    ...(refs && { refs }),
    ...(body.trim() && { body: body.trim() }),
  }),
  nul,
);
const commitList = commits((output) => {
  const items = readCommits(output);
  const total = Number(output.after['count'] ?? items.length);
  const seen = Number(output.values['skip'] ?? 0) + items.length;
  const more = seen < total ? `older ones: skip=${seen}` : undefined;
  return { items, ...(Number.isInteger(total) && { total }), more };
});
const positions = entries('position')(
  records(4, (at, hash, date, subject) => ({ name: at, says: `${hash} ${date} ${subject}` }), nul),
);

const filters = {
  author: option('--author=', text('Name or address contains')),
  message: option('--grep=', text('Message contains')),
  since: option('--since=', text('Not before, e.g. 2 weeks ago')),
  until: option('--until=', text('Not after')),
};

export const looking = {
  status: action(
    'Show git status',
    'Branch, upstream, what is under way, and staged, changed, untracked and conflicted files.',
    ['read'],
    {
      run: statusWords,
      params: {
        untracked: choice(
          { normal: '--untracked-files=normal', all: '--untracked-files=all', no: '--untracked-files=no' },
          'Which untracked files',
        ),
        paths: onlyPaths,
      },
      out: statusReport,
    },
  ),
  diff: action(
    'Show changes in git',
    'Unstaged changes as a unified diff; or staged ones, or between commits.',
    ['read'],
    {
      run: ({ form: shown, context, staged, from, to, paths }) => [
        ...['diff', ...plain, '--ignore-submodules=dirty'],
        ...[shown, context, staged, from, to, '--', paths],
      ],
      params: {
        staged: on('--cached', 'Staged changes instead'),
        from: operand(revision('Compare from this commit').optional()),
        to: operand(revision('Compare to this commit').optional()),
        // --unified alone would add the patch to the others.
        form: choice({ patch: [], stat: '--stat', names: '--name-status' }, 'How much to show'),
        context: option('--unified=', z.int().min(0).max(100).describe('Lines of context')),
        paths: onlyPaths,
      },
      given: { staged: true, form: 'stat' },
      out: orElse((values) => `no ${values['staged'] ? 'staged ' : ''}differences${inPaths(values)}`),
    },
  ),
  log: action('List git commits', 'The history: commits, newest first, of all or of files.', ['read'], {
    run: ({ body, limit: many, skip: skipped, author, message, since, until, ref, paths }) => [
      ...['log', ...plain, '--no-show-signature', '--fixed-strings'],
      ...[body, many, skipped, author, message, since, until, ref, '--', paths],
    ],
    after: {
      // On a long history counting would take longer than looking.
      count: ({ author, message, since, until, ref, paths }) => [
        ...['rev-list', '--count', '--max-count=100000', '--fixed-strings'],
        ...[author, message, since, until, ref, '--', paths],
      ],
    },
    params: {
      ref: asOf,
      limit: most(20),
      skip,
      ...filters,
      body: on(commitFormat, 'With whole messages', commitFormat.replace('%b', '')),
      paths: onlyPaths,
    },
    given: { limit: 5, paths: ['src'] },
    out: commitList,
  }),
  show: action(
    'Show a git commit',
    'Message and changes of a commit or tag; REF:path shows a file as it was.',
    ['read'],
    {
      run: ({ form: shown, ref, paths }) => [
        ...['show', ...plain, '--no-show-signature', '--format=fuller'],
        ...[shown, ref, '--', paths],
      ],
      params: { ref: asOf, form, paths: onlyPaths },
      given: { ref: 'v1.0' },
      out: orElse((values) => `nothing${inPaths(values)}`),
    },
  ),
  branches: action('List git branches', 'Branches with upstream and last commit, latest first.', ['read'], {
    run: [
      'for-each-ref',
      '--format=%(HEAD)%00%(refname:short)%00%(objectname:short)%00%(upstream:short)%00' +
        '%(upstream:track,nobracket)%00%(committerdate:short)%00%(contents:subject)%00',
      '--sort=-committerdate',
    ],
    dashes: false,
    params: {
      which: choice(
        { local: ['refs/heads'], remote: ['refs/remotes'], all: ['refs/heads', 'refs/remotes'] },
        'Which branches',
      ),
      limit: option('--count=', limit(500, 50)),
    },
    out: entries('branch')(
      records(
        7,
        (head, branch, commit, upstream, track, date, subject) => ({
          name: branch,
          current: head === '*',
          says: [commit, date, upstream && `(${[upstream, track].filter(Boolean).join(': ')})`, subject]
            .filter(Boolean)
            .join(' '),
        }),
        nul,
      ),
    ),
  }),
  tags: action('List git tags', 'Tags with the commit they name, latest first.', ['read'], {
    run: ({ limit: many }) => [
      'for-each-ref',
      '--format=%(refname:short)%00%(objectname:short)%00%(*objectname:short)%00%(creatordate:short)%00%(subject)%00',
      '--sort=-creatordate',
      many,
      'refs/tags',
    ],
    params: { limit: option('--count=', limit(500, 50)) },
    out: entries('tag')(
      records(
        5,
        (tag, object, target, date, subject) => ({
          name: tag,
          says: `${target || object} ${date} ${subject}`,
        }),
        nul,
      ),
    ),
  }),
  remotes: action('List git remotes', 'Remote repositories and their addresses.', ['read'], {
    run: ['remote', '--verbose'],
    out: entries('remote')((output) => {
      const all = records(2, (remote, url) => ({ name: remote, says: withoutPassword(url) }))(output);
      // Each is said twice, to fetch and to push, and is usually the same.
      const fetched = all.filter(({ says }) => says.endsWith('(fetch)'));
      const isSame = ({ name, says }: (typeof all)[number]) =>
        fetched.some((one) => one.name === name && one.says.slice(0, -7) === says.slice(0, -6));
      const pushed = all.filter((one) => one.says.endsWith('(push)') && !isSame(one));
      return [...fetched.map((one) => ({ ...one, says: one.says.slice(0, -8) })), ...pushed];
    }),
  }),
  stashes: action('List git stashes', 'Changes that were put aside, newest first.', ['read'], {
    run: ['stash', 'list', '--no-color', '--no-show-signature', stashFormat],
    out: entries('stash')(
      records(4, (at, hash, date, subject) => ({ name: at, says: `${hash} ${date} ${subject}` }), nul),
    ),
  }),
  show_stash: action('Show a git stash', 'What a stash would bring back, as a diff.', ['read'], {
    run: ({ index }) => ['stash', 'show', '--patch', ...plain, stashAt(index)],
    params: { index: stashIndex },
    given: { index: 1 },
  }),
  reflog: action(
    'List where git HEAD has been',
    'Earlier positions of HEAD or a branch, to find lost commits.',
    ['read'],
    {
      run: ({ limit: many, ref }) => [
        ...['log', '--walk-reflogs', '--no-color', '--no-show-signature', stashFormat],
        ...[many, ref, '--'],
      ],
      params: { ref: asOf, limit: most(20) },
      out: positions,
    },
  ),
  blame: action(
    'Show who changed each line in git',
    'Commit, author and date of each line of a file.',
    ['read'],
    {
      run: ({ lines, ref, path: file }) => [
        ...['blame', '--date=short', '--abbrev=8', '--no-textconv', '--no-progress'],
        ...[lines, ref, '--', file],
      ],
      params: {
        path: operand(path('File', 'file')),
        lines: option(
          '-L',
          z
            .string()
            .regex(/^\d+,[+-]?\d+$/, 'expected FIRST,LAST')
            .default('1,200')
            .describe('FIRST,LAST'),
        ),
        ref: operand(revision('As of this commit; the working tree when left out').optional()),
      },
      given: { path: 'README.md', lines: '1,10' },
    },
  ),
  grep: action(
    'Search at a git commit',
    'Lines that contain a text in tracked files of a commit. For the working tree, grep is faster.',
    ['read'],
    {
      run: ({ ignore_case, pattern, ref, paths }) => [
        'grep',
        ...['--line-number', '-I', '--no-color', '--no-textconv', '--no-recurse-submodules'],
        // A regular expression that repeats repetitions takes all memory there is.
        ...['--fixed-strings', ignore_case, pattern, ref, '--', paths],
      ],
      params: {
        pattern: option('--regexp=', text('Text to find; not a regular expression')),
        ref: asOf,
        ignore_case: on('--ignore-case', 'Ignore case'),
        paths: onlyPaths,
      },
      given: { pattern: 'TODO' },
      ok: [0, 1],
      out: orElse(({ pattern, ref }) => `no line has "${String(pattern)}" at ${String(ref)}`),
    },
  ),
  file: action('Read a file at a git commit', 'A file as it was at a commit.', ['read'], {
    run: ({ ref, file }) => ['cat-file', 'blob', glue(ref, ':', file)],
    params: {
      file: operand(
        z
          .string()
          .regex(/^[^-/:\s][^\0]*$/, 'expected a path from the top of the repository')
          .describe('Path from the top of the repository'),
      ),
      ref: asOf,
    },
    given: { file: 'src/index.ts', ref: 'v1.0' },
  }),
  files: action('List files that git tracks', 'Tracked files; or ignored, or deleted ones.', ['read'], {
    run: ['ls-files', '-z'],
    params: {
      which: choice(
        {
          tracked: '--cached',
          ignored: ['--others', '--ignored', '--exclude-standard', '--directory'],
          deleted: '--deleted',
        },
        'Which files',
      ),
      paths: onlyPaths,
    },
    out: entries('file')(({ stdout }) =>
      stdout
        .split('\0')
        .filter((file) => file !== '')
        .map((file) => ({ name: file })),
    ),
  }),
  describe: action('Describe a git commit', 'The nearest tag, and how many commits after it.', ['read'], {
    run: ({ ref }) => ['describe', '--tags', '--always', '--long', ref],
    params: { ref: operand(revision('Branch, tag or commit').default('HEAD')) },
  }),
  compare: action(
    'Compare git branches',
    'How many commits each of two branches has that the other has not.',
    ['read'],
    {
      run: ({ base, ref }) => ['rev-list', '--left-right', '--count', glue(ref, '...', base), '--'],
      params: { base: operand(revision('Branch to compare with')), ref: asOf },
      given: { base: 'main' },
      out: told(({ stdout, values }) => {
        const [, ahead, behind] = /^(\d+)\s+(\d+)\s*$/.exec(stdout) ?? [];
        if (ahead === undefined) throw new Error('expected two counts');
        return `${String(values['ref'])} is ${ahead} ahead of ${String(values['base'])}, and ${behind} behind`;
      }),
    },
  ),
  config: action(
    'Show git settings',
    'Settings of the repository and the person, with their files.',
    ['read'],
    {
      run: ['config', '--show-origin', '--list'],
      params: { whose: choice({ all: [], repository: '--local', person: '--global' }, 'Whose') },
      out: told(({ stdout }) => stdout.split('\n').map(withoutPassword).join('\n').trim()),
    },
  ),
};

/** A password in an address is left out. */
function withoutPassword(text: string): string {
  return text
    .replace(/(https?:\/\/)[^\s/]*@/i, '$1***@')
    .replace(/([a-z+]+:\/\/[^/@:\s]*):[^\s/]*@/i, '$1:***@');
}
