import { input, on, required } from '../core/parameter.ts';
import { text } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { told } from '../core/report.ts';

export default program('fzf', {
  title: 'fzf',
  category: 'other',
  site: 'https://junegunn.github.io/fzf/',
  get: { apt: 'fzf', brew: 'fzf', winget: 'junegunn.fzf' },
  actions: {
    filter: action('Rank lines with fzf', 'Fuzzy search in lines, the best match first.', ['read'], {
      run: [],
      params: {
        query: required('--filter=', text('What to look for; ^start, end$, !not')),
        exact: on('--exact', 'Words as they are'),
        lines: input(text('Lines to look in')),
      },
      given: { query: 'usrsvc', lines: 'src/user-service.ts\nsrc/a.ts' },
      ok: [0, 1],
      out: told(({ stdout, exitCode }) => (exitCode === 1 ? 'nothing matches' : stdout)),
    }),
  },
});
