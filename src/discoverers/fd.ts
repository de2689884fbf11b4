import { choice, on, operand, option, required } from '../core/parameter.ts';
import { limit, list, name, path, text } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { entries } from './reports/kinds.ts';
import { lines } from './reports/readers.ts';

const found = lines(/^(?<name>.+)$/, ({ name: it = '' }) => ({ name: it }));

export default program('fd', {
  title: 'fd',
  category: 'other',
  site: 'https://github.com/sharkdp/fd',
  get: { apt: 'fd-find', brew: 'fd', winget: 'sharkdp.fd', cargo: 'fd-find' },
  called: ['fd', 'fdfind'],
  actions: {
    find: action('Find files with fd', 'Files and folders by name, kind, ending, size or age.', ['read'], {
      run: ['--color=never'],
      params: {
        kind: choice(
          {
            any: [],
            file: '--type=file',
            folder: '--type=directory',
            link: '--type=symlink',
            executable: '--type=executable',
            empty: '--type=empty',
          },
          'What kind',
        ),
        glob: on('--glob', 'The pattern is a glob'),
        extension: option('--extension', list(name('Ending'), 'Only these endings')),
        exclude: option('--exclude', list(text('Glob'), 'Not these')),
        changed_within: option('--changed-within', text('Age or date: 2h, 1week, 2026-01-31')),
        changed_before: option('--changed-before', text('Age or date')),
        size: option('--size=', text('Size: +10M, -1k')),
        depth: required('--max-depth', limit(100, 20).describe('How deep')),
        hidden: on('--hidden', 'Hidden ones too'),
        no_ignore: on('--no-ignore', 'Ignored ones too'),
        limit: required('--max-results', limit(10_000, 200)),
        pattern: operand(text('Regular expression, of the name').default('.')),
        paths: operand(list(path('Folder', 'folder'), 'Where; here when left out')),
      },
      given: { extension: ['sql'], changed_within: '1week' },
      out: entries('path')((output) => {
        const items = found(output);
        const more = items.length === output.values['limit'] ? 'there may be more: raise limit' : undefined;
        return { items, more };
      }),
    }),
  },
});
