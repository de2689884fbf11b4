import { action, on, operand, path, program, some, text } from '../core/grammar.ts';
import { reads } from './shared/programs.ts';

export default program('jq', {
  title: 'jq',
  category: 'other',
  site: 'https://jqlang.org/manual/',
  get: { apt: 'jq', brew: 'jq', winget: 'jqlang.jq' },
  version: { args: ['--version'], pattern: /jq-(\S+)/ },
  actions: {
    filter: action('Filter JSON with jq', 'Runs a filter on JSON files: select, count, reshape.', reads, {
      run: [],
      dashes: false,
      params: {
        raw: on('--raw-output', 'Texts without quotes'),
        compact: on('--compact-output', 'Each result in one line'),
        slurp: on('--slurp', 'All documents as one list'),
        // In parentheses nothing is imported: that would read files that no path names.
        filter: operand(text('Filter: .scripts | keys'), (it) => `(${it}\n)`),
        paths: operand(some(path('JSON file', 'file'), 'JSON files')),
      },
      given: { filter: '.scripts | keys', paths: ['package.json'] },
    }),
  },
});
