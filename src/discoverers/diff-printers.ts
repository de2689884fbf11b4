import { choice, on, operand } from '../core/parameter.ts';
import { path } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { told } from '../core/report.ts';

const params = { left: operand(path('One file', 'file')), right: operand(path('The other', 'file')) };
const given = { left: 'a.ts', right: 'b.ts' };
const same = told(({ stdout }) => (stdout.trim() === '' ? 'there are no differences' : stdout));

const delta = program('delta', {
  title: 'delta',
  category: 'other',
  site: 'https://dandavison.github.io/delta/full---help-output.html',
  get: { apt: 'git-delta', brew: 'git-delta', winget: 'dandavison.delta', cargo: 'git-delta' },
  // git's settings, of the repository too, could name a pager.
  before: ['--no-gitconfig', '--paging=never'],
  actions: {
    diff: action('Compare files with delta', 'Differences of two files, with line numbers.', ['read'], {
      run: ['--line-numbers'],
      params: { beside: on('--side-by-side', 'Side by side'), ...params },
      given,
      ok: [0, 1],
      out: same,
    }),
  },
});

const difftastic = program('difftastic', {
  title: 'Difftastic',
  category: 'other',
  site: 'https://difftastic.wilfred.me.uk/usage.html',
  get: { brew: 'difftastic', winget: 'Wilfred.difftastic', cargo: 'difftastic' },
  called: ['difft'],
  actions: {
    diff: action(
      'Compare code with Difftastic',
      'Differences of two files by their syntax, not by lines.',
      ['read'],
      {
        run: ['--color=never', '--syntax-highlight=off', '--width=120'],
        params: {
          display: choice({ inline: '--display=inline', side_by_side: '--display=side-by-side' }, 'How'),
          ...params,
        },
        given,
        out: same,
      },
    ),
  },
});

export default [delta, difftastic];
