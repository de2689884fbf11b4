import * as z from 'zod';
import { fresh, glue } from '../core/command-line.ts';
import { on, operand, option, words } from '../core/parameter.ts';
import { joined, list, name, path } from '../core/params.ts';
import { action } from '../core/program.ts';
import { entries } from './reports/kinds.ts';
import { json } from './reports/readers.ts';
import { pythonTool } from './shared/python.ts';

const summary = z.object({ percent_covered_display: z.string(), num_statements: z.int() });
const report = z.object({
  totals: summary,
  files: z.record(z.string(), z.object({ summary, missing_lines: z.array(z.int()) })),
});
/** 3-5, 9 */
const ranges = (all: readonly number[]) => {
  const starts = all.filter((line) => !all.includes(line - 1));
  const ends = all.filter((line) => !all.includes(line + 1));
  return starts.map((from, at) => (from === ends[at] ? `${from}` : `${from}-${ends[at]}`)).join(', ');
};
const covered = ({ percent_covered_display: percent, num_statements: all }: z.output<typeof summary>) =>
  `${percent} % of ${all}`;

export default pythonTool('coverage', {
  title: 'Coverage.py',
  site: 'https://coverage.readthedocs.io',
  get: { apt: 'python3-coverage' },
  called: ['coverage', 'coverage3', 'python3-coverage'],
  project: [
    '.coveragerc',
    '.coverage',
    { file: 'pyproject.toml', has: /^\[tool\.coverage|["'](?:pytest-cov|coverage)\b/m },
  ],
  environment: ['VIRTUAL_ENV', 'COVERAGE_FILE'],
  hints: [{ says: /No data to report/, wayOut: 'coverage_run measures first.' }],
  actions: {
    run: action('Measure coverage of Python', 'Runs a module, and notes which lines ran.', ['execute'], {
      run: ({ branch, source, module, args }) => ['run', branch, source, '-m', module, args],
      params: {
        branch: on('--branch', 'Branches too'),
        source: option('--source=', list(name('Package'), 'Only of these packages'), joined(',')),
        module: operand(name('Module: pytest, unittest')),
        args: words('Arguments of the module'),
      },
      given: { module: 'pytest', args: ['-q'] },
    }),
    report: action(
      'Report coverage of Python',
      'How much of each file ran, and which lines did not.',
      ['execute'],
      {
        run: ['json', '--quiet', glue('-o', fresh('coverage.json'))],
        out: entries('file')((output) => {
          const read = json(report, ({ files, totals }) => ({
            items: Object.entries(files).map(([file, { summary: of, missing_lines: missing }]) => ({
              name: file,
              says: covered(of) + (missing.length > 0 ? `, not ${ranges(missing)}` : ''),
            })),
            more: `in all ${covered(totals)}`,
          }));
          return read({ ...output, stdout: Object.values(output.files)[0] ?? '' });
        }),
      },
    ),
    html: action('Write coverage as HTML', 'Writes pages with the lines that ran.', ['execute', 'write'], {
      run: ['html', '--quiet'],
      params: { folder: option('--directory=', path('New folder; htmlcov', 'folder', { written: true })) },
    }),
  },
});
