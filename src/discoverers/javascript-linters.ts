import * as z from 'zod';
import type { Effect, Look, Situation } from '../core/discoverer.ts';
import { ToolcribError } from '../core/errors.ts';
import { operand, option } from '../core/parameter.ts';
import { list, path } from '../core/params.ts';
import { action, program, type Program } from '../core/program.ts';
import { told, type Report } from '../core/report.ts';
import { upwards } from '../core/upwards.ts';
import { microsoft, said } from './reports/diagnostics.ts';
import { diagnostics, level } from './reports/kinds.ts';
import { json } from './reports/readers.ts';
import { nodeBin } from './shared/own.ts';

const only = operand(list(path('File or folder'), 'Only these; none: the whole folder').default(['.']));
const common = { params: { only }, given: { only: ['src'] }, dashes: false as const };
const inPackage = (of: string) => ({ file: 'package.json', has: new RegExp(`"${of}":`) });
const settings = { NO_COLOR: '1' };

/** Says what is wrong; and mends of that what it can. */
const linting = (
  title: string,
  run: readonly string[],
  fix: string,
  out: Report,
  effects: readonly Effect[],
) => ({
  lint: action(`Lint with ${title}`, 'Problems in JavaScript and TypeScript with their places.', effects, {
    ...{ role: 'lint', run, ...common, ok: [0, 1], out },
  }),
  fix: action(
    `Fix with ${title}`,
    'Mends what it can, and says what is left with its place.',
    ['write', 'execute'],
    {
      ...{ run: [...run, fix], ...common, ok: [0, 1], out },
    },
  ),
});
const formatted = told(({ stdout, stderr, exitCode }) => {
  const files = stdout.trim().split('\n').filter(Boolean);
  if (exitCode === 0 && files.length === 0) return 'All files are formatted.';
  if (files.length === 0) return stderr;
  return [`${files.length} ${files.length === 1 ? 'file is' : 'files are'} not formatted`, ...files].join(
    '\n',
  );
});

const written = ({ stdout }: { stdout: string }) => {
  const files = stdout
    .trim()
    .split('\n')
    .filter((line) => line !== '' && !line.endsWith('(unchanged)'));
  return [files.length === 0 ? 'Nothing had to be formatted.' : 'Formatted:', ...files].join('\n');
};

const message = z.object({
  ruleId: z.string().nullable(),
  severity: z.int(),
  message: z.string(),
  line: z.int().optional(),
  column: z.int().optional(),
});
const eslintFile = z.object({ filePath: z.string(), messages: z.array(message) });
const eslintReport = json(z.array(eslintFile), (all) =>
  all.flatMap(({ filePath, messages }) =>
    messages.map(({ ruleId, severity, ...one }) => ({
      ...one,
      level: level(severity),
      code: ruleId ?? undefined,
      file: filePath,
    })),
  ),
);

const span = z.object({ line: z.int(), column: z.int() });
const oxc = z.object({
  message: z.string(),
  code: z.string().optional(),
  severity: z.string(),
  filename: z.string(),
  labels: z.array(z.object({ span })),
});
const oxlintReport = json(z.object({ diagnostics: z.array(oxc) }), (all) =>
  all.diagnostics.map(({ message: says, code, severity, filename, labels: [label] }) => ({
    ...{ level: level(severity), message: says, code, file: filename, ...label?.span },
  })),
);

const github =
  /^::(?<level>\w+) title=(?<code>[^,]+),file=(?<file>[^,]+),line=(?<line>\d+),\S*?col=(?<column>\d+)\S*?::(?<message>.*)$/;
const biomeOptions = [
  '--reporter=github',
  '--colors=off',
  '--max-diagnostics=none',
  '--no-errors-on-unmatched',
];

/** Whether the project only names others, which are then built: without that nothing would be looked at. */
async function inspectReferences(look: Look, { folder, roots, values }: Situation) {
  if (values['project'] !== undefined) return {};
  for (const here of upwards(folder, roots)) {
    const config = await look.read(`${here}/tsconfig.json`);
    if (config !== undefined)
      return /"references"\s*:\s*\[\s*\{/.test(config) ? { argv: ['--build', here] } : {};
  }
  throw new ToolcribError(
    'PATH_NOT_FOUND',
    `${folder}: there is no tsconfig.json here or above, up to the root.`,
    'Give its folder as cwd, or one of another name as project.',
  );
}
const project = option('--project', path('tsconfig of another name'));
const typescript = { params: { project }, ok: [0, 1, 2], out: diagnostics(microsoft) } as const;

const programs: readonly Program[] = [
  program('eslint', {
    title: 'ESLint',
    category: 'build',
    site: 'https://eslint.org/docs/latest/use/command-line-interface',
    get: { npm: 'eslint' },
    project: ['eslint.config.*', '.eslintrc*', inPackage('eslint')],
    own: nodeBin('eslint'),
    settings,
    actions: linting('ESLint', ['--format=json', '--no-color'], '--fix', diagnostics(eslintReport), [
      'execute',
    ]),
  }),
  program('oxlint', {
    title: 'Oxlint',
    category: 'build',
    site: 'https://oxc.rs/docs/guide/usage/linter',
    get: { npm: 'oxlint', brew: 'oxlint' },
    project: ['.oxlintrc.json', 'oxlint.config.*', inPackage('oxlint')],
    own: nodeBin('oxlint'),
    settings,
    // Its configuration can name plugins in code.
    actions: linting('Oxlint', ['--format=json'], '--fix', diagnostics(oxlintReport), ['execute']),
  }),
  program('biome', {
    title: 'Biome',
    category: 'build',
    site: 'https://biomejs.dev/reference/cli',
    get: { npm: '@biomejs/biome', brew: 'biome' },
    project: ['biome.json', 'biome.jsonc', inPackage('@biomejs/biome')],
    own: nodeBin('biome'),
    settings,
    actions: {
      ...linting('Biome', ['check', ...biomeOptions], '--write', diagnostics(said(github)), ['read']),
      format: action('Format with Biome', 'Formats files in place.', ['write'], {
        role: 'format',
        run: ['format', '--write', '--colors=off'],
        ...common,
      }),
    },
  }),
  program('prettier', {
    title: 'Prettier',
    category: 'build',
    site: 'https://prettier.io/docs/cli',
    get: { npm: 'prettier' },
    project: ['.prettierrc*', 'prettier.config.*', inPackage('prettier')],
    own: nodeBin('prettier'),
    settings,
    // Its configuration and plugins are code.
    actions: {
      format: action('Format with Prettier', 'Formats files in place.', ['write', 'execute'], {
        role: 'format',
        run: ['--write'],
        ...common,
        out: told(written),
      }),
      check: action('Check formatting with Prettier', 'Says which files are not formatted.', ['execute'], {
        ...{ run: ['--list-different'], ...common, ok: [0, 1], out: formatted },
      }),
    },
  }),
  program('tsc', {
    title: 'TypeScript',
    category: 'build',
    site: 'https://www.typescriptlang.org/docs/handbook/compiler-options.html',
    get: { npm: 'typescript' },
    project: ['tsconfig.json', 'tsconfig.*.json'],
    own: nodeBin('tsc'),
    marks: '-@',
    inspect: inspectReferences,
    actions: {
      // What it knows of the last time is kept in a file.
      types: action(
        'Check TypeScript types',
        'Type errors with their places; writes no JavaScript.',
        ['write'],
        {
          ...{ role: 'types', run: ['--noEmit', '--pretty', 'false'], ...typescript },
        },
      ),
      build: action(
        'Compile TypeScript',
        'Writes the JavaScript of a project; errors with their places.',
        ['write'],
        {
          ...{ role: 'build', run: ['--pretty', 'false'], ...typescript },
        },
      ),
    },
  }),
];
export default programs;
