import * as z from 'zod';
import { action, on, told } from '../core/grammar.ts';
import { gnu } from './reports/diagnostics.ts';
import { diagnostics, level } from './reports/kinds.ts';
import { allFormatted, json, saidOr } from './reports/readers.ts';
import { pythonTool } from './shared/python.ts';
import { changes, here as only, runs } from './shared/programs.ts';

/** Formats, or does less; it exits with 1 where some would change. */
const formats = (title: string, run: readonly string[], own: 'stdout' | 'stderr') =>
  action(`Format Python with ${title}`, 'Formats files, or says which.', changes, {
    role: 'format',
    run,
    params: { check: on('--check', 'Only say which'), diff: on('--diff', 'Only show how'), only },
    ok: [0, 1],
    out: told(saidOr(allFormatted, own)),
  });

const lint = z.array(
  z.object({
    code: z.string().nullable(),
    filename: z.string(),
    location: z.object({ row: z.int(), column: z.int() }),
    message: z.string(),
  }),
);
const ruff = pythonTool('ruff', {
  title: 'Ruff',
  site: 'https://docs.astral.sh/ruff',
  get: { brew: 'ruff', winget: 'astral-sh.ruff' },
  project: ['ruff.toml', '.ruff.toml', { file: 'pyproject.toml', has: /^\[tool\.ruff|["']ruff\b/m }],
  actions: {
    check: action('Lint Python with Ruff', 'Problems in Python code; fixes the safe ones.', changes, {
      role: 'lint',
      run: ['check', '--output-format=json'],
      params: {
        fix: on('--fix', 'Fix what can be fixed'),
        unsafe: on('--unsafe-fixes', 'Also fixes that may change what code does'),
        only,
      },
      ok: [0, 1],
      out: diagnostics(
        json(lint, (all) =>
          all.map(({ code, filename: file, location: { row: line, column }, message }) => {
            return { level: 'error' as const, message, file, line, column, ...(code && { code }) };
          }),
        ),
      ),
    }),
    format: formats('Ruff', ['format'], 'stdout'),
  },
});

const black = pythonTool('black', {
  title: 'Black',
  site: 'https://black.readthedocs.io',
  get: { apt: 'black', brew: 'black' },
  project: [{ file: 'pyproject.toml', has: /^\[tool\.black\]|["']black\b/m }],
  actions: { format: formats('Black', ['--no-color'], 'stderr') },
});

const mypy = pythonTool('mypy', {
  title: 'mypy',
  site: 'https://mypy.readthedocs.io',
  get: { apt: 'mypy', brew: 'mypy' },
  project: [
    ...['mypy.ini', '.mypy.ini'],
    { file: 'pyproject.toml', has: /^\[tool\.mypy|["']mypy\b/m },
    { file: 'setup.cfg', has: /^\[mypy/m },
  ],
  // A file of arguments begins with @.
  marks: '-@',
  actions: {
    // Its plug-ins are code of the project.
    types: action('Check Python types with mypy', 'Type errors with their places.', changes, {
      role: 'types',
      run: [
        '--no-color-output',
        '--no-pretty',
        '--show-column-numbers',
        '--show-error-codes',
        '--no-error-summary',
      ],
      params: { strict: on('--strict', 'All optional checks'), only },
      ok: [0, 1],
      out: diagnostics(gnu),
    }),
  },
});

const problem = z.object({
  file: z.string(),
  severity: z.string(),
  message: z.string(),
  rule: z.string().optional(),
  range: z.object({ start: z.object({ line: z.int(), character: z.int() }) }).optional(),
});
const problems = json(z.object({ generalDiagnostics: z.array(problem) }), ({ generalDiagnostics: all }) =>
  all.map(({ file, severity, message, rule: code, range }) => {
    const place = range && { line: range.start.line + 1, column: range.start.character + 1 };
    return { level: level(severity), message, file, ...(code && { code }), ...place };
  }),
);
const pyright = (id: string, title: string, site: string) =>
  pythonTool(id, {
    title,
    site,
    get: { npm: id, brew: id },
    project: [
      `${id}config.json`,
      { file: 'pyproject.toml', has: new RegExp(String.raw`^\[tool\.${id}\]|["']${id}\b`, 'm') },
    ],
    actions: {
      types: action(`Check Python types with ${title}`, 'Type errors with their places.', runs, {
        role: 'types',
        run: ['--outputjson'],
        dashes: false,
        params: { only },
        ok: [0, 1],
        out: diagnostics(problems),
      }),
    },
  });

export default [
  ruff,
  black,
  mypy,
  pyright('pyright', 'Pyright', 'https://microsoft.github.io/pyright'),
  pyright('basedpyright', 'basedpyright', 'https://docs.basedpyright.com'),
];
