import * as z from 'zod';
import { operand, option } from '../core/parameter.ts';
import { list, name, path } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { diagnostics } from './reports/kinds.ts';
import { json } from './reports/readers.ts';
import { venvBin } from './shared/own.ts';

const violation = z.object({
  code: z.string(),
  description: z.string(),
  // By these names before its third version.
  line_no: z.int().optional(),
  line_pos: z.int().optional(),
  start_line_no: z.int().optional(),
  start_line_pos: z.int().optional(),
});
const checked = z.array(z.object({ filepath: z.string(), violations: z.array(violation) }));
const params = {
  dialect: option('--dialect', name('postgres, mysql, sqlite, tsql, bigquery; ansi is common SQL')),
  rules: option('--rules=', list(name('Rule'), 'Only these rules'), (all) => all.join(',')),
  only: operand(list(path('File or folder'), 'Which; all when left out').default(['.'])),
};

export default program('sqlfluff', {
  title: 'SQLFluff',
  category: 'other',
  site: 'https://docs.sqlfluff.com/en/stable/reference/cli.html',
  get: { apt: 'sqlfluff', brew: 'sqlfluff', pip: 'sqlfluff' },
  project: [
    '.sqlfluff',
    { file: 'pyproject.toml', has: /^\[tool\.sqlfluff/m },
    { file: 'setup.cfg', has: /^\[sqlfluff/m },
  ],
  own: venvBin('sqlfluff'),
  hints: [{ says: /No dialect was specified/, wayOut: 'Give dialect, or set it in .sqlfluff.' }],
  actions: {
    // Templates may load the project's own Python.
    lint: action('Lint SQL with SQLFluff', 'Style and syntax errors of SQL files.', ['execute'], {
      role: 'lint',
      run: ['lint', '--format=json', '--nocolor', '--disable-progress-bar'],
      params,
      given: { dialect: 'postgres', only: ['migrations'] },
      ok: [0, 1, 65],
      out: diagnostics(
        json(checked, (files) =>
          files.flatMap(({ filepath, violations }) =>
            violations.map((one) => ({
              level: one.code === 'PRS' ? 'error' : 'warning',
              message: one.description,
              code: one.code,
              file: filepath,
              line: one.line_no ?? one.start_line_no,
              column: one.line_pos ?? one.start_line_pos,
            })),
          ),
        ),
      ),
    }),
    fix: action('Fix SQL with SQLFluff', 'Changes SQL files as the rules want it.', ['write', 'execute'], {
      role: 'format',
      run: ['fix', '--force', '--nocolor', '--disable-progress-bar'],
      params,
      given: { dialect: 'postgres', only: ['migrations'] },
    }),
  },
});
