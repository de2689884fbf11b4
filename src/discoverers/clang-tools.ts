import {
  action,
  joined,
  list,
  matching,
  name,
  on,
  operand,
  option,
  path,
  program,
  some,
} from '../core/grammar.ts';
import { gnu } from './reports/diagnostics.ts';
import { diagnostics } from './reports/kinds.ts';
import { changes, llvmAt, writes } from './shared/programs.ts';

const only = operand(some(path('Source', 'file', { written: true }), 'Sources'));

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
  elsewhere: llvmAt('clang-format'),
  actions: {
    format: action('Format with clang-format', 'Formats files of C, C++ and their kin.', writes, {
      role: 'format',
      run: [],
      params: {
        check: on(['--dry-run', '--Werror'], 'Only say what is not formatted', '-i'),
        style: option('--style=', name('Instead of .clang-format: LLVM, Google, Mozilla, Microsoft')),
        only,
      },
      given: { only: ['main.c'] },
      ok: [0, 1],
      out: diagnostics(gnu),
    }),
  },
});

const check = matching(/^-?[\w.*-]+$/, 'the name of a check', 'Check');
const compilerOption = matching(/^-\w\S*$/, 'an option', 'Option');
const tidy = program('clang_tidy', {
  title: 'clang-tidy',
  category: 'build',
  site: 'https://clang.llvm.org/extra/clang-tidy',
  get: { apt: 'clang-tidy', brew: 'llvm', winget: 'LLVM.LLVM', pip: 'clang-tidy' },
  called: ['clang-tidy'],
  project: ['.clang-tidy'],
  elsewhere: llvmAt('clang-tidy'),
  actions: {
    lint: action('Lint with clang-tidy', 'Mistakes in C and C++; mends them when told.', changes, {
      role: 'lint',
      dashes: false,
      run: ['--quiet'],
      params: {
        fix: on('--fix', 'Mend what it can'),
        build: option('-p', path('Folder of compile_commands.json', 'folder')),
        checks: option('--checks=', list(check, 'These, * for any part; - leaves one out'), joined(',')),
        extra: option('--extra-arg=', list(compilerOption, 'Options of the compiler: -Iinclude')),
        only,
      },
      given: { build: 'build', checks: ['bugprone-*'], only: ['main.c'] },
      ok: [0, 1],
      out: diagnostics(gnu),
    }),
  },
});

export default [format, tidy];
