import * as z from 'zod';
import {
  action,
  type InspectionRequest,
  on,
  option,
  path,
  type ProjectFiles,
  type Report,
  told,
  upwards,
} from '../core/grammar.ts';
import { microsoft, said, withReason } from './reports/diagnostics.ts';
import { diagnostics, level } from './reports/kinds.ts';
import { allFormatted, json, saidOr } from './reports/readers.ts';
import { notAbove } from './shared/not-above.ts';
import { changes, here as only, nodeTool, writes, reads } from './shared/programs.ts';

const common = { params: { only }, given: { only: ['src'] }, dashes: false as const };

/** Says what is wrong, and mends of that what it can when told. Its configuration and plugins are code. */
const linting = (title: string, out: Report) => ({
  lint: action(`Lint with ${title}`, 'Problems with their places; mends them when told.', changes, {
    role: 'lint',
    run: ['--format=json'],
    params: { fix: on('--fix', 'Mend what it can'), only },
    given: { only: ['src'] },
    dashes: false,
    ok: [0, 1],
    out,
  }),
});

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
    level: level(severity),
    message: says,
    code,
    file: filename,
    ...label?.span,
  })),
);

/** A line of GitHub's workflows: level, then properties with commas between them, then the message. */
const github = withReason(
  said(
    new RegExp(
      String.raw`^::(?<level>\w+) title=(?<code>[^,]+),file=(?<file>[^,]+?)` +
        String.raw`(?:,line=(?<line>\d+),\S*?col=(?<column>\d+)\S*?)?::(?<message>.*)$`,
    ),
  ),
);
const biomeCheck = ['check', '--reporter=github', '--colors=off', '--max-diagnostics=none'];

/** Tells if the project only names others, which are then built: without that nothing would be looked at. */
async function inspectReferences(look: ProjectFiles, { folder, roots, values }: InspectionRequest) {
  if (values['project'] !== undefined) return {};
  for (const here of upwards(folder, roots)) {
    const config = await look.read(`${here}/tsconfig.json`);
    if (config !== undefined)
      return /"references"\s*:\s*\[\s*\{/.test(config) ? { argv: ['--build', here] } : {};
  }
  throw notAbove(folder, 'tsconfig.json');
}
const project = option('--project', path('tsconfig of another name'));
const typescript = { params: { project }, ok: [0, 1, 2], out: diagnostics(microsoft) } as const;

export default [
  nodeTool('eslint', {
    title: 'ESLint',
    site: 'https://eslint.org/docs/latest/use/command-line-interface',
    project: ['eslint.config.*', '.eslintrc*'],
    actions: linting('ESLint', diagnostics(eslintReport)),
  }),
  nodeTool('oxlint', {
    title: 'Oxlint',
    site: 'https://oxc.rs/docs/guide/usage/linter',
    project: ['.oxlintrc.json', 'oxlint.config.*'],
    actions: linting('Oxlint', diagnostics(oxlintReport)),
  }),
  nodeTool('biome', {
    title: 'Biome',
    site: 'https://biomejs.dev/reference/cli',
    from: '@biomejs/biome',
    project: ['biome.json', 'biome.jsonc'],
    actions: {
      lint: action('Lint with Biome', 'Problems with their places.', reads, {
        role: 'lint',
        run: biomeCheck,
        ...common,
        ok: [0, 1],
        out: diagnostics(github),
      }),
      fix: action('Fix with Biome', 'Mends what it can, and says what is left.', writes, {
        run: [...biomeCheck, '--write'],
        ...common,
        ok: [0, 1],
        out: diagnostics(github),
      }),
      format: action('Format with Biome', 'Formats files, or says which.', writes, {
        role: 'format',
        run: ['format', '--colors=off'],
        ...common,
        ok: [0, 1],
        params: { check: on([], 'Only say which', '--write'), ...common.params },
      }),
    },
  }),
  nodeTool('prettier', {
    title: 'Prettier',
    site: 'https://prettier.io/docs/cli',
    project: ['.prettierrc*', 'prettier.config.*'],
    // Its configuration and plugins are code.
    actions: {
      format: action('Format with Prettier', 'Formats files, or says which.', changes, {
        role: 'format',
        run: ['--list-different'],
        params: { check: on([], 'Only say which', '--write'), only },
        given: { only: ['src'] },
        dashes: false,
        ok: [0, 1],
        out: told(saidOr(allFormatted)),
      }),
    },
  }),
  nodeTool('tsc', {
    title: 'TypeScript',
    site: 'https://www.typescriptlang.org/docs/handbook/compiler-options.html',
    from: 'typescript',
    project: ['tsconfig.json', 'tsconfig.*.json'],
    marks: '-@',
    inspect: inspectReferences,
    actions: {
      // What it knows of the last time is kept in a file.
      types: action('Check TypeScript types', 'Type errors with their places.', writes, {
        role: 'types',
        run: ['--noEmit', '--pretty', 'false'],
        ...typescript,
      }),
      build: action('Compile TypeScript', 'Writes JavaScript; type errors with their places.', writes, {
        role: 'build',
        run: ['--pretty', 'false'],
        ...typescript,
      }),
    },
  }),
];
