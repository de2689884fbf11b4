import {
  action,
  choice,
  glue,
  limit,
  on,
  operand,
  option,
  type Output,
  text,
  told,
} from '../../core/grammar.ts';
import { commits, entries } from '../reports/kinds.ts';
import { records } from '../reports/readers.ts';
import { shortened } from './contents.ts';
import { statusReport, statusWords } from './status.ts';
import { asOf, most, onlyPaths, plain, revision, skip } from './values.ts';
import { reads } from '../shared/programs.ts';

// Nothing here writes, or reaches another machine; before trust, nothing of the repository runs (inspect.ts).
const nul = { separator: '\0', end: '\0\n' };

// Fields end with NUL, which neither names nor messages can contain, so nothing in them can look like a
// field.
const commitFormat = '--format=%h%x00%aI%x00%an%x00%D%x00%s%x00%b%x00';
const stashFormat = '--format=%gd%x00%h%x00%as%x00%gs%x00';
/**
 * Behind each stand its changes, where they are asked for, and in their last line the hash of the next one.
 */
const readCommits = ({ stdout }: Output) => {
  const [first = '', ...parts] = stdout.split('\0');
  if (parts.length < 6 && stdout.trim() !== '') throw new Error('expected commits');
  let hash = first;
  return Array.from({ length: Math.floor(parts.length / 6) }, (_, at) => {
    const [date = '', author = '', refs = '', subject = '', body = '', rest = ''] = parts.slice(6 * at);
    const diff = shortened(rest.slice(0, rest.lastIndexOf('\n')).trim()) || undefined;
    const more = { refs: refs || undefined, body: body.trim() || undefined, diff };
    const commit = { hash, date, author, subject, ...more };
    hash = rest.slice(rest.lastIndexOf('\n') + 1);
    return commit;
  });
};
// How many there are in all would take as long again to count.
const commitList = commits((output) => {
  const items = readCommits(output);
  const { skip: skipped, limit: most } = output.values;
  const isAll = items.length < Number(most);
  return { items, ...(!isAll && { more: `older ones, if any: skip=${Number(skipped) + items.length}` }) };
});
const positions = (of: string) =>
  entries(of)(
    records(4, (at, hash, date, subject) => ({ name: at, says: `${hash} ${date} ${subject}` }), nul),
  );

const filters = {
  author: option('--author=', text('Name or address contains')),
  message: option('--grep=', text('Message contains')),
  since: option('--since=', text('Not before, e.g. 2 weeks ago')),
  until: option('--until=', text('Not after')),
};

export const looking = {
  status: action('Show git status', 'Branch, upstream, what is under way, changed files.', reads, {
    role: 'status',
    run: statusWords,
    params: {
      untracked: choice(
        { normal: '--untracked-files=normal', all: '--untracked-files=all', no: '--untracked-files=no' },
        'Which untracked files',
      ),
      paths: onlyPaths,
    },
    out: statusReport,
  }),
  log: action(
    'List git commits',
    'History of the repository or of files; date and author where they change.',
    reads,
    {
      run: ({ body, patch, limit: many, skip: skipped, author, message, since, until, ref, paths }) => [
        ...['log', ...plain, '--no-show-signature', '--fixed-strings'],
        ...[body, patch, many, skipped, author, message, since, until, ref, '--', paths],
      ],
      params: {
        ref: asOf,
        limit: most(20),
        skip,
        ...filters,
        body: on(commitFormat, 'With whole messages', commitFormat.replace('%b', '')),
        patch: on('--patch', 'With their changes'),
        paths: onlyPaths,
      },
      given: { limit: 5, paths: ['src'] },
      out: commitList,
    },
  ),
  branches: action('List git branches', 'Branches with upstream and last commit, latest first.', reads, {
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
  tags: action('List git tags', 'Tags with the commit they name, latest first.', reads, {
    run: ({ limit: many }) => [
      'for-each-ref',
      '--format=%(refname:short)%00%(objectname:short)%00%(*objectname:short)%00' +
        '%(creatordate:short)%00%(subject)%00',
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
  remotes: action('List git remotes', 'Remote repositories and their addresses.', reads, {
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
  stashes: action('List git stashes', 'What was put aside; git_diff with stash@{0}^ shows it.', reads, {
    run: ['stash', 'list', '--no-color', '--no-show-signature', stashFormat],
    out: positions('stash'),
  }),
  reflog: action('List where git HEAD has been', 'Where a branch was before: finds lost commits.', reads, {
    run: ({ limit: many, ref }) => [
      ...['log', '--walk-reflogs', '--no-color', '--no-show-signature', stashFormat],
      ...[many, ref, '--'],
    ],
    params: { ref: asOf, limit: most(20) },
    out: positions('position'),
  }),
  describe: action('Describe a git commit', 'The nearest tag, and how many commits after it.', reads, {
    run: ({ ref }) => ['describe', '--tags', '--always', '--long', ref],
    params: { ref: operand(revision('Branch, tag or commit').default('HEAD')) },
  }),
  compare: action('Compare git branches', 'How far one branch is ahead of another, and behind.', reads, {
    run: ({ base, ref }) => ['rev-list', '--left-right', '--count', glue(ref, '...', base), '--'],
    params: { base: operand(revision('Branch to compare with')), ref: asOf },
    given: { base: 'main' },
    out: told(({ stdout, values }) => {
      const [, ahead, behind] = /^(\d+)\s+(\d+)\s*$/.exec(stdout) ?? [];
      if (ahead === undefined) throw new Error('expected two counts');
      return `${String(values['ref'])} is ${ahead} ahead of ${String(values['base'])}, and ${behind} behind`;
    }),
  }),
  config: action('Show git settings', 'Settings of repository and person, with their files.', reads, {
    run: ['config', '--show-origin', '--list'],
    params: { whose: choice({ all: [], repository: '--local', person: '--global' }, 'Whose') },
    out: told(({ stdout }) => stdout.split('\n').map(withoutPassword).join('\n').trim()),
  }),
};

/** A password in an address is left out. */
function withoutPassword(text: string): string {
  return text
    .replace(/(https?:\/\/)[^\s/]*@/i, '$1***@')
    .replace(/([a-z+]+:\/\/[^/@:\s]*):[^\s/]*@/i, '$1:***@');
}
