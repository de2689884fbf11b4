import * as z from 'zod';
import { fresh } from '../core/command-line.ts';
import { operand, required } from '../core/parameter.ts';
import { limit, path, some } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { entries } from './reports/kinds.ts';
import { filed } from './reports/readers.ts';

const measured = z.object({
  command: z.string(),
  mean: z.number(),
  stddev: z.number().nullish(),
  min: z.number(),
  max: z.number(),
});
const results = z.object({ results: z.array(measured) });
const inMs = (seconds: number) => `${(seconds * 1000).toFixed(1)} ms`;

export default program('hyperfine', {
  title: 'hyperfine',
  category: 'other',
  site: 'https://github.com/sharkdp/hyperfine',
  get: { apt: 'hyperfine', brew: 'hyperfine', winget: 'sharkdp.hyperfine', cargo: 'hyperfine' },
  actions: {
    // Any command would be any program: those are what `run` asks about.
    compare: action(
      'Measure run times',
      'Benchmarks programs or scripts of the project against each other.',
      ['execute'],
      {
        run: ['--shell=none', '--style=basic', '--export-json', fresh('times.json')],
        params: {
          runs: required('--runs', limit(10_000, 10).describe('How often')),
          warmup: required('--warmup', z.int().min(0).max(1000).default(1).describe('Runs before')),
          paths: operand(some(path('Program or script, without blanks', 'file'), 'What is measured')),
        },
        given: { paths: ['bench/old.sh', 'bench/new.sh'] },
        out: entries('measurement')(
          filed((text) =>
            results.parse(JSON.parse(text)).results.map(({ command, mean, stddev, min, max }) => ({
              name: command,
              says: `${inMs(mean)} ± ${inMs(stddev ?? 0)} (${inMs(min)} to ${inMs(max)})`,
            })),
          ),
        ),
      },
    ),
  },
});
