import * as z from 'zod';
import { on, operand } from '../core/parameter.ts';
import { name } from '../core/params.ts';
import { action } from '../core/program.ts';
import { diagnostics } from './reports/kinds.ts';
import { json } from './reports/readers.ts';
import { here, pythonTool } from './shared/python.ts';

const found = z.object({
  code: z.string().nullable(),
  filename: z.string(),
  location: z.object({ row: z.int(), column: z.int() }),
  message: z.string(),
});
const problems = json(z.array(found), (all) =>
  all.map(({ code, filename, location, message }) => ({
    level: 'error' as const,
    message,
    ...(code && { code }),
    file: filename,
    line: location.row,
    column: location.column,
  })),
);

export default pythonTool('ruff', {
  title: 'Ruff',
  site: 'https://docs.astral.sh/ruff',
  get: { brew: 'ruff', winget: 'astral-sh.ruff' },
  project: ['ruff.toml', '.ruff.toml', { file: 'pyproject.toml', has: /^\[tool\.ruff|["']ruff\b/m }],
  // It is of the project's environment, so that even what only looks runs a file of the project.
  actions: {
    check: action(
      'Lint Python with Ruff',
      'Problems in Python code; fixes the safe ones.',
      ['execute', 'write'],
      {
        role: 'lint',
        run: ['check', '--output-format=json'],
        params: {
          fix: on('--fix', 'Fix what can be fixed'),
          unsafe: on('--unsafe-fixes', 'Also fixes that may change what code does'),
          only: here,
        },
        given: { fix: true },
        ok: [0, 1],
        out: diagnostics(problems),
      },
    ),
    format: action('Format Python with Ruff', 'Formats files, or says which.', ['execute', 'write'], {
      role: 'format',
      run: ['format'],
      params: { check: on('--check', 'Only say which'), diff: on('--diff', 'Only show how'), only: here },
      ok: [0, 1],
    }),
    rule: action('Explain a Ruff rule', 'What a rule means, with examples.', ['execute'], {
      run: ['rule'],
      params: { rule: operand(name('Code: F401')) },
      given: { rule: 'F401' },
    }),
  },
});
