import {
  action,
  choice,
  family,
  list,
  name,
  on,
  operand,
  option,
  path,
  type Program,
  some,
  text,
} from '../core/grammar.ts';
import { compiled } from './reports/diagnostics.ts';
import { diagnostics } from './reports/kinds.ts';
import { llvmAt, runs } from './shared/programs.ts';

type CompilerRow = Pick<Program, 'title' | 'called' | 'site' | 'get' | 'project' | 'elsewhere'>;

const gnu = 'https://gcc.gnu.org/onlinedocs/gcc/Invoking-GCC.html';
const llvm = 'https://clang.llvm.org/docs/ClangCommandLineReference.html';
const mingw = { win32: ['C:/msys64/ucrt64/bin/gcc.exe', 'C:/msys64/mingw64/bin/gcc.exe'] };
const [c, cxx] = [{ project: ['*.c'] }, { project: ['*.cc', '*.cpp', '*.cxx'] }];
const winlibs = 'BrechtSanders.WinLibs.POSIX.UCRT';

const rows: Readonly<Record<string, CompilerRow>> = {
  gcc: { title: 'GCC', site: gnu, get: { apt: 'gcc', brew: 'gcc', winget: winlibs }, elsewhere: mingw, ...c },
  gxx: {
    title: 'G++',
    called: ['g++'],
    site: gnu,
    get: { apt: 'g++', brew: 'gcc', winget: winlibs },
    ...cxx,
  },
  clang: {
    title: 'Clang',
    site: llvm,
    get: { apt: 'clang', brew: 'llvm', winget: 'LLVM.LLVM' },
    elsewhere: llvmAt('clang'),
    ...c,
  },
  clangxx: {
    title: 'Clang++',
    called: ['clang++'],
    site: llvm,
    get: { apt: 'clang', brew: 'llvm', winget: 'LLVM.LLVM' },
    elsewhere: llvmAt('clang++'),
    ...cxx,
  },
};

const source = {
  warnings: choice({ usual: '-Wall', many: ['-Wall', '-Wextra'], few: [] }, 'Warnings'),
  standard: option('-std=', name('Of the language: c11, gnu17, c++20')),
  includes: option('-I', list(path('Folder', 'folder'), 'Folders of headers')),
  defines: option('-D', list(text('NAME or NAME=value'), 'Macros')),
};
const answer = { dashes: false, ok: [0, 1] as number[], out: diagnostics(compiled) } as const;

export default family(rows, ({ title, ...facts }) => ({
  title,
  category: 'build',
  ...facts,
  // No program in its place.
  everyday: /^(?!.*-wrapper)/,
  settings: { LC_ALL: 'C.UTF-8' },
  marks: '-@',
  actions: {
    compile: action(`Compile with ${title}`, 'Makes a program; errors with their places.', runs, {
      ...answer,
      run: (at) => [
        ...[at.warnings, at.standard, at.optimize, at.debug, at.includes, at.defines, at.makes],
        ...[at.sources, '-o', at.output, at.folders, at.libraries],
      ],
      params: {
        ...source,
        optimize: choice({ none: '-O0', usual: '-O2', size: '-Os', most: '-O3' }, 'Optimisation'),
        debug: on('-g', 'With places for debuggers'),
        makes: choice({ program: [], object: '-c', shared: ['-shared', '-fPIC'] }, 'What is made'),
        sources: operand(some(path('Source or object', 'file'), 'Sources and objects')),
        output: operand(path('New file', 'file', { written: true })),
        folders: option('-L', list(path('Folder', 'folder'), 'Folders of libraries')),
        libraries: option('-l', list(name('Library'), 'Libraries: m, pthread')),
      },
      given: { sources: ['main.c'], output: 'main', libraries: ['m'] },
    }),
    check: action(`Check code with ${title}`, 'Errors and warnings; makes nothing.', runs, {
      ...answer,
      role: 'types',
      run: ['-fsyntax-only'],
      params: { ...source, only: operand(some(path('Source', 'file'), 'Sources')) },
      given: { only: ['main.c'] },
    }),
  },
}));
