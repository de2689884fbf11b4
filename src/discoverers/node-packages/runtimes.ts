import {
  action,
  fresh,
  glue,
  list,
  on,
  operand,
  option,
  path,
  type Program,
  type Reader,
  words,
} from '../../core/grammar.ts';
import { diagnostics, tests } from '../reports/kinds.ts';
import { junit } from '../reports/xml.ts';
import type { PackageItems } from './readers.ts';
import { asks, exactly, reaches, runs, testNames as names, writes } from '../shared/programs.ts';

// What Bun and Deno do beside keeping packages.

const files = operand(list(path('File or folder'), 'Only these'));
const file = operand(path('Script', 'file'));
const args = words('Arguments of the script');

export const bun: Program['actions'] = {
  test: action('Run Bun tests', "Runs tests of Bun's own runner; failures with their places.", ['execute'], {
    role: 'test',
    run: ['test', '--reporter=junit', glue('--reporter-outfile=', fresh('report.xml'))],
    params: {
      only: option('--test-name-pattern=', names, exactly),
      update: on('--update-snapshots', 'Write snapshots anew'),
      files,
    },
    given: { only: ['cart adds'], files: ['test/cart.test.ts'] },
    dashes: false,
    ok: [0, 1],
    // It names the outermost group last.
    out: tests(junit(({ of, name }) => [...of.split(' > ').toReversed(), name].filter(Boolean).join(' '))),
  }),
};

const permitted = on(
  '--allow-all',
  'May read, write, use the network and run programs; nothing of that else',
);
const place = (url: string) => decodeURIComponent(url.replace(/^file:\/\//, ''));
const typeError =
  /^(?<code>TS\d+) \[ERROR\]: (?<message>.*)$[^]*?^\s+at (?<file>\S+):(?<line>\d+):(?<column>\d+)$/gm;
const typed: Reader<PackageItems<typeof diagnostics>> = ({ stdout, stderr, exitCode }) => {
  const found = [...stderr.matchAll(typeError)];
  if (found.length === 0 && (exitCode !== 0 || stdout.trim() !== '')) throw new Error('nothing recognised');
  return found.map(({ groups = {} }) => ({
    level: 'error' as const,
    message: groups['message'] ?? '',
    code: groups['code'],
    file: place(groups['file'] ?? ''),
    line: Number(groups['line']),
    column: Number(groups['column']),
  }));
};

export const deno: Program['actions'] = {
  run: action('Run a script with Deno', 'Runs a JavaScript or TypeScript file.', runs, {
    run: ({ permitted: allowed, file: script, args: rest }) => ['run', allowed, script, rest],
    params: { permitted, file, args },
    given: { file: 'scripts/seed.ts', args: ['--rows', '10'] },
  }),
  test: action('Run Deno tests', 'Runs tests; which failed, and why.', reaches, {
    role: 'test',
    run: ['test', glue('--junit-path=', fresh('report.xml'))],
    params: { permitted, only: option('--filter=', names, (all) => `/${exactly(all)}/`), files },
    given: { only: ['adds'], files: ['cart_test.ts'] },
    dashes: false,
    ok: [0, 1],
    // A step cannot be run without its test.
    out: tests(junit(({ name }) => name.split(' > ')[0] ?? name)),
  }),
  check: action('Check types with Deno', 'Type errors with their places; runs nothing.', asks, {
    role: 'types',
    run: ['check'],
    params: { only: files },
    given: { only: ['main.ts'] },
    dashes: false,
    ok: [0, 1],
    out: diagnostics(typed),
  }),
  fmt: action('Format with Deno', 'Formats source files, or says which are not formatted.', writes, {
    role: 'format',
    run: ['fmt'],
    params: { check: on('--check', 'Only say what would change'), only: files },
    given: { check: true, only: ['src'] },
    dashes: false,
  }),
};
