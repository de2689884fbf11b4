import { on } from '../core/parameter.ts';
import { action } from '../core/program.ts';
import { gnu } from './reports/diagnostics.ts';
import { diagnostics } from './reports/kinds.ts';
import { here, pythonTool } from './shared/python.ts';

export default pythonTool('mypy', {
  title: 'mypy',
  site: 'https://mypy.readthedocs.io',
  get: { apt: 'mypy', brew: 'mypy' },
  project: [
    ...['mypy.ini', '.mypy.ini'],
    { file: 'pyproject.toml', has: /^\[tool\.mypy|["']mypy\b/m },
    { file: 'setup.cfg', has: /^\[mypy/m },
  ],
  environment: ['VIRTUAL_ENV', 'MYPYPATH'],
  // A file of arguments begins with @.
  marks: '-@',
  actions: {
    types: action('Check Python types with mypy', 'Type errors with their places.', ['execute', 'write'], {
      role: 'types',
      run: [
        ...['--no-color-output', '--no-pretty', '--show-column-numbers', '--show-error-codes'],
        '--no-error-summary',
      ],
      params: {
        strict: on('--strict', 'All optional checks'),
        only: here,
      },
      // Its plug-ins are code of the project.
      ok: [0, 1],
      out: diagnostics(gnu),
    }),
    install_types: action(
      'Install types for mypy',
      'Installs the stubs that are missing.',
      ['execute', 'write', 'network'],
      {
        run: ['--install-types', '--non-interactive'],
        params: {
          only: here,
        },
        ok: [0, 1],
      },
    ),
  },
});
