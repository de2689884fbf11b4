import * as z from 'zod';
import { operand, option } from '../core/parameter.ts';
import { list, name, path, some } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { gnu } from './reports/diagnostics.ts';
import { diagnostics, entries } from './reports/kinds.ts';
import { lines } from './reports/readers.ts';

const only = operand(some(path('Source', 'file'), 'Sources'));
const written = operand(some(path('Source', 'file', { written: true }), 'Sources'));
const at = (exe: string) => ({
  linux: [`/usr/lib/llvm-*/bin/${exe}`],
  darwin: [`/opt/homebrew/opt/llvm/bin/${exe}`],
  win32: [`%ProgramFiles%/LLVM/bin/${exe}.exe`],
});

const style = option('--style=', name('Instead of .clang-format: LLVM, Google, Mozilla, Microsoft'));
const format = program('clang_format', {
  title: 'clang-format',
  category: 'build',
  site: 'https://clang.llvm.org/docs/ClangFormat.html',
  get: {
    apt: 'clang-format',
    brew: 'clang-format',
    winget: 'LLVM.LLVM',
    pip: 'clang-format',
    npm: 'clang-format',
  },
  called: ['clang-format'],
  project: ['.clang-format', '_clang-format'],
  elsewhere: at('clang-format'),
  actions: {
    format: action('Format with clang-format', 'Formats files of C, C++ and their kin.', ['write'], {
      run: ['-i', '--verbose'],
      params: { style, only: written },
      given: { only: ['main.c'] },
    }),
    check: action('Check format with clang-format', 'Places that are not formatted.', ['read'], {
      run: ['--dry-run', '--Werror'],
      params: { style, only },
      given: { only: ['main.c'] },
      ok: [0, 1],
      out: diagnostics(gnu),
    }),
  },
});

const checking = {
  build: option('-p', path('Folder of compile_commands.json', 'folder')),
  checks: option(
    '--checks=',
    list(z.string().regex(/^-?[\w.*-]+$/), 'These, * for any part; - before one leaves it out'),
    (all) => all.join(','),
  ),
  extra: option('--extra-arg=', list(z.string().regex(/^-\w\S*$/), 'Options of the compiler: -Iinclude')),
};
const tidy = program('clang_tidy', {
  title: 'clang-tidy',
  category: 'build',
  site: 'https://clang.llvm.org/extra/clang-tidy',
  get: { apt: 'clang-tidy', brew: 'llvm', winget: 'LLVM.LLVM', pip: 'clang-tidy' },
  called: ['clang-tidy'],
  project: ['.clang-tidy'],
  elsewhere: at('clang-tidy'),
  actions: {
    lint: action('Lint with clang-tidy', 'Mistakes in C and C++ with their places.', ['execute'], {
      dashes: false,
      run: ['--quiet'],
      params: { ...checking, only },
      given: { build: 'build', checks: ['bugprone-*'], only: ['main.c'] },
      ok: [0, 1],
      out: diagnostics(gnu),
    }),
    fix: action('Fix with clang-tidy', 'Changes sources where a check knows how.', ['write', 'execute'], {
      dashes: false,
      run: ['--quiet', '--fix'],
      params: { ...checking, only: written },
      given: { build: 'build', checks: ['modernize-use-override'], only: ['main.c'] },
      ok: [0, 1],
      out: diagnostics(gnu),
    }),
    checks: action('List checks of clang-tidy', 'Checks that are on here.', ['read'], {
      run: ['--list-checks'],
      params: { checks: checking.checks },
      given: { checks: ['*'] },
      out: entries('check')(
        lines(/^ +(?<name>[\w.-]+)$|^Enabled/, ({ name: one }) => (one ? { name: one } : undefined)),
      ),
    }),
  },
});

export default [format, tidy];
