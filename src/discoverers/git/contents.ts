import * as z from 'zod';
import {
  action,
  choice,
  glue,
  matching,
  on,
  operand,
  option,
  type Output,
  path,
  text,
  told,
} from '../../core/grammar.ts';
import { entries } from '../reports/kinds.ts';
import { asOf, onlyPaths, plain, revision } from './values.ts';
import { reads } from '../shared/programs.ts';

const form = choice({ patch: '--patch', stat: '--stat', names: '--name-status' }, 'How much to show');

/**
 * A diff without the two lines before `---` that repeat the name; it can be applied all the same. What is
 * new, renamed or gone keeps them.
 */
export const shortened = (diff: string): string =>
  diff.replaceAll(/^diff --git .*\nindex [0-9a-f]+\.\.[0-9a-f]+(?: \d+)?\n(?=--- )/gm, '');

/** The text of git, or the meaning of saying nothing. */
const orElse = (nothing: (values: Output['values']) => string, shown = (text: string) => text) =>
  told(({ stdout, stderr, values }) => shown(stdout.trimEnd()) || stderr.trim() || nothing(values));
const inPaths = ({ paths }: Output['values']) =>
  Array.isArray(paths) && paths.length > 0 ? ` in ${paths.join(', ')}` : '';

/** The actions that show what files hold, as commits, the index and stashes have them. */
export const contents = {
  diff: action('Show changes in git', 'Diff of unstaged or staged changes, or between commits.', reads, {
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
    out: orElse(
      (values) => `no ${values['staged'] ? 'staged ' : ''}differences${inPaths(values)}`,
      shortened,
    ),
  }),
  show: action('Show a git commit', 'Message and changes of a commit; REF:path is a file as it was.', reads, {
    run: ({ form: shown, ref, paths }) => [
      ...['show', ...plain, '--no-show-signature', '--format=%h %as %an%n%w(0,4,4)%B', '--abbrev-commit'],
      ...[shown, ref, '--', paths],
    ],
    params: { ref: asOf, form, paths: onlyPaths },
    given: { ref: 'v1.0' },
    // A file as it was may be a diff itself.
    out: told(({ stdout, stderr, values }) => {
      const commit = () => shortened(stdout.trimEnd().replace(/\n+(?=diff --git )/, '\n'));
      const text = String(values['ref']).includes(':') ? stdout.trimEnd() : commit();
      return text || stderr.trim() || `nothing${inPaths(values)}`;
    }),
  }),
  blame: action('Show who changed each line in git', 'Commit, author, date of each line.', reads, {
    run: ({ lines, ref, path: file }) => [
      ...['blame', '--date=short', '--abbrev=8', '--no-textconv', '--no-progress'],
      ...[lines, ref, '--', file],
    ],
    params: {
      path: operand(path('File', 'file')),
      lines: option('-L', matching(/^\d+,[+-]?\d+$/, 'FIRST,LAST', 'FIRST,LAST').default('1,200')),
      ref: operand(revision('As of this commit; the working tree when left out').optional()),
    },
    given: { path: 'README.md', lines: '1,10' },
  }),
  grep: action('Search at a git commit', 'Lines that contain a text in the files of a commit.', reads, {
    run: ({ ignore_case, pattern, ref, paths }) => [
      'grep',
      ...['--line-number', '-I', '--no-color', '--no-textconv', '--no-recurse-submodules'],
      // A regular expression that repeats repetitions takes all memory there is.
      ...['--fixed-strings', ignore_case, glue('-e', pattern), ref, '--', paths],
    ],
    params: {
      pattern: operand(text('Text to find; not a regular expression')),
      ref: asOf,
      ignore_case: on('--ignore-case', 'Ignore case'),
      paths: onlyPaths,
    },
    given: { pattern: 'TODO' },
    ok: [0, 1],
    out: orElse(({ pattern, ref }) => `no line has "${String(pattern)}" at ${String(ref)}`),
  }),
  files: action('List files that git tracks', 'Tracked files; or ignored, or deleted ones.', reads, {
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
};
