import * as z from 'zod';
import { operand, option } from '../core/parameter.ts';
import { list, path } from '../core/params.ts';
import { action, family } from '../core/program.ts';
import { diagnostics, level } from './reports/kinds.ts';
import { json } from './reports/readers.ts';
import { nodeBin, venvBin } from './shared/own.ts';

const found = z.object({
  file: z.string(),
  severity: z.string(),
  message: z.string(),
  rule: z.string().optional(),
  range: z.object({ start: z.object({ line: z.int(), character: z.int() }) }).optional(),
});
const problems = json(z.object({ generalDiagnostics: z.array(found) }), ({ generalDiagnostics: all }) =>
  all.map(({ file, severity, message, rule: code, range }) => ({
    level: level(severity),
    message,
    ...(code && { code }),
    file,
    ...(range && { line: range.start.line + 1, column: range.start.character + 1 }),
  })),
);
const rows = {
  pyright: { title: 'Pyright', site: 'https://microsoft.github.io/pyright' },
  basedpyright: { title: 'basedpyright', site: 'https://docs.basedpyright.com' },
};

export default family(rows, ({ title, site }, id) => ({
  title,
  category: 'build',
  site,
  get: { npm: id, pip: id, brew: id },
  project: [
    ...(id === 'pyright' ? ['pyrightconfig.json'] : []),
    { file: 'pyproject.toml', has: new RegExp(`^\\[tool\\.${id}\\]|["']${id}\\b`, 'm') },
  ],
  own: {
    posix: [...venvBin(id).posix, ...nodeBin(id).posix],
    win32: [...venvBin(id).win32, ...nodeBin(id).win32],
  },
  environment: ['VIRTUAL_ENV'],
  settings: { PYRIGHT_PYTHON_IGNORE_WARNINGS: '1' },
  actions: {
    types: action(`Check Python types with ${title}`, 'Type errors with their places.', ['execute'], {
      role: 'types',
      run: ['--outputjson'],
      dashes: false,
      params: {
        python: option('--pythonpath', path('Interpreter whose packages are used', 'file')),
        only: operand(list(path('File or folder'), 'Only these')),
      },
      given: { only: ['src'] },
      ok: [0, 1],
      out: diagnostics(problems),
    }),
  },
}));
