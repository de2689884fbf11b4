import { on } from '../core/parameter.ts';
import { action } from '../core/program.ts';
import { here, pythonTool } from './shared/python.ts';

export default pythonTool('black', {
  title: 'Black',
  site: 'https://black.readthedocs.io',
  get: { apt: 'black', brew: 'black' },
  project: [{ file: 'pyproject.toml', has: /^\[tool\.black\]|["']black\b/m }],
  actions: {
    format: action('Format Python with Black', 'Formats files, or says which.', ['execute', 'write'], {
      role: 'format',
      run: ['--no-color'],
      params: {
        check: on('--check', 'Only say which'),
        diff: on('--diff', 'Only show how'),
        only: here,
      },
      // 1: some would change.
      ok: [0, 1],
    }),
  },
});
