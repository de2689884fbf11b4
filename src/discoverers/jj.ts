import { on, operand, option, required } from '../core/parameter.ts';
import { limit, list, name, path, text } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { commits, entries } from './reports/kinds.ts';
import { limited, records } from './reports/readers.ts';
import { publishes, reads, writes } from './shared/effects.ts';

const fields = [
  'change_id.short()',
  'author.timestamp().format("%Y-%m-%dT%H:%M:%S")',
  'author.name()',
  'bookmarks',
];
const template = `${[...fields, 'description'].map((one) => `${one} ++ "\\x1f"`).join(' ++ ')} ++ "\\0"`;
const history = records(
  5,
  (hash, date, author, refs, description) => {
    const [subject = '', ...body] = description.trim().split('\n');
    const more = body.join('\n').trim();
    return {
      hash: hash.trim(),
      date,
      author,
      subject: subject || '(no description)',
      refs,
      ...(more && { body: more }),
    };
  },
  { separator: '\x1f', end: '\0' },
);
const revset = (says: string) => name(says);
const revision = option('--revision=', revset('Revision; default: the working copy'));
const paths = operand(list(path('File or folder'), 'Default: all'));
const looks = '--ignore-working-copy';
const now = {
  after: { now: () => ['log', '--no-graph', '--limit=3', `--template=${template}`] },
  out: commits((output) => history({ ...output, stdout: output.after['now'] ?? '' })),
};

export default program('jj', {
  title: 'Jujutsu',
  category: 'vcs',
  site: 'https://docs.jj-vcs.dev/latest/cli-reference',
  get: { brew: 'jj', winget: 'jj-vcs.jj', cargo: 'jj-cli' },
  project: ['.jj'],
  environment: ['SSH_AUTH_SOCK', 'JJ_USER', 'JJ_EMAIL'],
  before: ['--no-pager', '--color=never'],
  actions: {
    status: action('Show Jujutsu status', 'What the working copy changes, and on what it is.', writes, {
      // It takes what lies in the folder into the working copy's commit.
      run: ['status'],
      params: { paths },
    }),
    log: action('Show Jujutsu history', 'Changes with their bookmarks.', reads, {
      run: ['log', looks, '--no-graph', `--template=${template}`],
      params: {
        limit: option('--limit=', limit(1000, 20)),
        revisions: option('--revisions=', revset('Revisions, as a revset')),
      },
      out: commits(limited(history)),
    }),
    diff: action('Diff Jujutsu changes', 'What a revision changes.', reads, {
      run: ['diff', looks, '--git'],
      params: { revision, paths },
    }),
    bookmarks: action('List Jujutsu bookmarks', 'Bookmarks with what they point at.', reads, {
      run: [
        'bookmark',
        'list',
        looks,
        '--template=name ++ "\\t" ++ normal_target.change_id().short() ++ "\\n"',
      ],
      out: entries('bookmark')(records(2, (key, says) => ({ name: key, says }))),
    }),
    describe: action('Describe a Jujutsu change', 'Gives a change its message.', writes, {
      run: ['describe'],
      params: {
        message: required('--message=', text('Message')),
        revision: operand(revset('Revision').optional()),
      },
      given: { message: 'Fix rounding' },
      ...now,
    }),
    new: action('Start a Jujutsu change', 'A new empty change on top of others.', writes, {
      run: ['new'],
      params: {
        message: option('--message=', text('Message')),
        parents: operand(list(revset('Revision'), 'Default: @')),
      },
      ...now,
    }),
    commit: action('Commit with Jujutsu', 'Describes the change, and starts a new one.', writes, {
      run: ['commit'],
      params: { message: required('--message=', text('Message')), paths },
      given: { message: 'Fix rounding' },
      ...now,
    }),
    squash: action('Squash a Jujutsu change', 'Moves changes into the parent, or into another.', writes, {
      run: ['squash', '--use-destination-message'],
      params: { from: option('--from=', revset('From')), into: option('--into=', revset('Into')), paths },
      ...now,
    }),
    rebase: action('Rebase with Jujutsu', 'Moves a branch onto another place.', writes, {
      run: ['rebase'],
      params: {
        branch: option('--branch=', revset('Any change of the branch')),
        onto: required('--destination=', revset('Onto')),
      },
      given: { onto: 'main' },
      ...now,
    }),
    bookmark: action('Move a Jujutsu bookmark', 'Makes or moves a bookmark.', writes, {
      run: ['bookmark', 'set'],
      params: {
        revision,
        backwards: on('--allow-backwards', 'Also to an older one'),
        bookmark: operand(name('Name')),
      },
      given: { bookmark: 'main', revision: '@-' },
      ...now,
    }),
    fetch: action('Fetch with Jujutsu', 'Gets what others pushed.', ['write', 'network'], {
      run: ['git', 'fetch'],
      params: { remote: option('--remote=', name('Remote')) },
    }),
    push: action('Push with Jujutsu', 'Sends bookmarks to the remote.', publishes, {
      run: ['git', 'push'],
      params: {
        remote: option('--remote=', name('Remote')),
        bookmark: option('--bookmark=', name('Bookmark')),
      },
      first: ({ remote, bookmark }) => ['git', 'push', '--dry-run', remote, bookmark],
    }),
    undo: action('Undo a Jujutsu operation', 'Takes the last operation back.', writes, {
      run: ['undo'],
      ...now,
    }),
  },
});
