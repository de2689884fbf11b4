import * as z from 'zod';
import { ToolcribError } from '../core/errors.ts';
import { choice, on, operand, option, required } from '../core/parameter.ts';
import { limit, list, name, path, text } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { told } from '../core/report.ts';

export default program('rg', {
  title: 'ripgrep',
  category: 'other',
  site: 'https://github.com/BurntSushi/ripgrep/blob/master/GUIDE.md',
  get: { apt: 'ripgrep', brew: 'ripgrep', winget: 'BurntSushi.ripgrep.MSVC', cargo: 'ripgrep' },
  before: ['--no-config', '--color=never'],
  async inspect(_, { denied }) {
    if (denied.length === 0) return {};
    throw new ToolcribError(
      'EFFECT_DENIED',
      'The settings keep some files from you, which ripgrep does not know.',
      'grep leaves them out.',
    );
  },
  actions: {
    search: action(
      'Search with ripgrep',
      'Finds a regular expression in files, also over several lines.',
      ['read'],
      {
        run: ['--heading', '--line-number', '--max-columns=300', '--sort=path'],
        params: {
          what: choice(
            { lines: [], files: '--files-with-matches', counts: '--count-matches', only: '--only-matching' },
            'What is shown: only is what matches of a line',
          ),
          fixed: on('--fixed-strings', 'Not as an expression'),
          case: choice({ smart: '--smart-case', ignore: '--ignore-case', exact: '--case-sensitive' }, 'Case'),
          word: on('--word-regexp', 'Whole words'),
          multiline: on(['--multiline', '--multiline-dotall'], 'Over several lines'),
          around: option('--context', z.int().min(1).max(50).describe('Lines around it')),
          most: option('--max-count', limit(10_000, 200).describe('How many lines of a file')),
          glob: option('--glob', list(text('Glob'), 'Only these files; !glob for all others')),
          type: option('--type', name('Kind of file: ts, py, rust')),
          hidden: on('--hidden', 'Hidden files too'),
          no_ignore: on('--no-ignore', 'Ignored files too'),
          pattern: required('--regexp=', text('Regular expression')),
          paths: operand(list(path('File or folder'), 'Where; here when left out')),
        },
        given: { pattern: 'TODO|FIXME', type: 'ts' },
        ok: [0, 1],
        out: told(({ stdout, exitCode }) => (exitCode === 1 ? 'nothing matches' : stdout)),
      },
    ),
  },
});
