import { ToolcribError } from '../core/errors.ts';
import { input, on, operand, option } from '../core/parameter.ts';
import { limit, list, name, path, some, text } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import type { Reader } from '../core/report.ts';
import { commits, entries } from './reports/kinds.ts';
import { limited } from './reports/readers.ts';
import { nodes, xml, type Node } from './reports/xml.ts';
import { asks, publishes, reads, writes } from './shared/effects.ts';

const word = (value: Node[string]): string =>
  typeof value === 'string' ? value : ((nodes(value)[0]?.['text'] as string) ?? '');
const document = (stdout: string, root: string): Node => {
  const [found] = nodes(xml(stdout)[root]);
  if (!found) throw new Error(`expected ${root}`);
  return found;
};
const changes: Reader<{ name: string; says: string }[]> = ({ stdout, stderr }) => {
  // It warns about a folder that is none of its own, and succeeds.
  if (stderr.includes('W155007')) throw new ToolcribError('PROGRAM_FAILED', stderr.trim());
  const status = document(stdout, 'status');
  const lists = [...nodes(status['target']), ...nodes(status['changelist'])];
  return lists
    .flatMap((target) => nodes(target['entry']))
    .map((entry) => ({ name: word(entry['path']), says: word(nodes(entry['wc-status'])[0]?.['item']) }));
};
const history: Reader<{ hash: string; date: string; author: string; subject: string; body?: string }[]> = ({
  stdout,
}) =>
  nodes(document(stdout, 'log')['logentry']).map((entry) => {
    const [subject = '', ...body] = word(entry['msg']).trim().split('\n');
    return {
      hash: `r${word(entry['revision'])}`,
      date: word(entry['date']),
      author: word(entry['author']),
      subject,
      ...(body.length > 0 && { body: body.join('\n').trim() }),
    };
  });

const revision = option('--revision=', name('Revision, or a range: 10:HEAD'));
const paths = operand(list(path('File or folder'), 'Default: all'));
const somePaths = operand(some(path('File or folder'), 'Files and folders'));
const now = {
  after: { now: () => ['status', '--xml'] },
  out: entries('change')((output) => changes({ ...output, stdout: output.after['now'] ?? '' })),
};

export default program('svn', {
  title: 'Subversion',
  category: 'vcs',
  site: 'https://svnbook.red-bean.com',
  get: { apt: 'subversion', brew: 'subversion', winget: 'Slik.Subversion' },
  project: ['.svn'],
  environment: ['SVN_SSH', 'SSH_AUTH_SOCK'],
  before: ['--non-interactive'],
  hints: [
    { says: /E215004|Authentication failed/, wayOut: 'A person has to log in once with svn in a terminal.' },
  ],
  actions: {
    status: action('Show Subversion status', 'Files that were changed, added, or are unknown.', reads, {
      run: ['status', '--xml'],
      params: { paths },
      out: entries('change')(changes),
    }),
    diff: action('Diff a Subversion working copy', 'What changed, or between revisions.', asks, {
      run: ['diff', '--internal-diff', '--git'],
      params: { revision, paths },
    }),
    log: action('Show Subversion history', 'Revisions, newest first.', asks, {
      run: ['log', '--xml'],
      params: { limit: option('--limit=', limit(1000, 20)), revision, paths },
      out: commits(limited(history)),
    }),
    info: action('Show a Subversion working copy', 'URL, revision and branch.', reads, {
      run: ['info'],
      params: { paths },
    }),
    blame: action('Blame a Subversion file', 'Who changed each line last.', asks, {
      run: ['blame'],
      params: { revision, file: operand(path('File', 'file')) },
      given: { file: 'main.c' },
    }),
    update: action('Update a Subversion working copy', 'Gets what others committed.', ['write', 'network'], {
      run: ['update', '--accept=postpone'],
      params: { revision, paths },
      ...now,
    }),
    add: action('Add files to Subversion', 'Marks files and folders to be committed.', writes, {
      run: ['add', '--force'],
      params: { paths: somePaths },
      given: { paths: ['new.c'] },
      ...now,
    }),
    commit: action('Commit to Subversion', 'Sends changes to the repository.', publishes, {
      run: ['commit', '--file=-'],
      params: { message: input(text('Message')), paths },
      given: { message: 'Fix rounding' },
      first: ({ paths: which }) => ['diff', '--internal-diff', '--', which],
    }),
    revert: action('Revert Subversion changes', 'Throws local changes away.', ['write', 'destroy'], {
      run: ['revert'],
      params: { deep: on('--depth=infinity', 'All that is below folders'), paths: somePaths },
      given: { paths: ['main.c'] },
      first: ({ paths: which }) => ['diff', '--internal-diff', '--', which],
      ...now,
    }),
  },
});
