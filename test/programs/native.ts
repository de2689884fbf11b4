import type { ProgramTrial } from './types.ts';

const main =
  '#include <stdio.h>\nint main(int c, char **v) { if (c > 1) puts("main.c:9: bad"); return c - 1; }\n';
const bad = 'int main(void) { int u; return y; }\n';
const lists = `cmake_minimum_required(VERSION 3.16)
project(demo C)
add_executable(app main.c)
install(TARGETS app)
enable_testing()
add_test(NAME passes COMMAND app)
add_test(NAME fails COMMAND app 1)
`;
const preset = JSON.stringify({
  version: 3,
  configurePresets: [{ name: 'dev', generator: 'Ninja', binaryDir: 'out' }],
  buildPresets: [{ name: 'dev', configurePreset: 'dev' }],
});
const cc = { 'main.c': main, 'bad.c': bad };
const compiler = (program: string, apt: string, ending: string): ProgramTrial => ({
  program,
  from: { apt },
  files: { [`main.${ending}`]: main, [`bad.${ending}`]: bad },
  calls: [
    [
      'compile',
      { sources: [`main.${ending}`], output: 'app', libraries: ['m'], debug: true },
      /no diagnostics/,
    ],
    ['compile', { sources: [`bad.${ending}`], output: 'app', makes: 'object' }, /error: .*y/],
    ['check', { only: [`bad.${ending}`], warnings: 'many' }, /bad\.\w+:1:32 error: /],
    ['check', { only: [`main.${ending}`] }, /unused parameter|no diagnostics/],
  ],
});

export default [
  {
    program: 'make',
    from: { apt: 'make' },
    files: { Makefile: 'all: main ## Everything\nbad: bad.c\n\tcc -Wall -c bad.c\n', ...cc },
    calls: [
      ['tasks', {}, /^2 tasks\nall \(Everything\)\nbad/],
      ['task', { task: 'all', args: ['CFLAGS=-O2'] }, /cc -O2/],
      ['build', { targets: ['bad'] }, /^2 diagnostics\nbad\.c:1:32 error/],
    ],
  },
  {
    program: 'cmake',
    from: { apt: 'cmake' },
    files: { 'CMakeLists.txt': lists, 'CMakePresets.json': preset, ...cc },
    calls: [
      ['presets', {}, /2 presets\ndev configure\ndev build/],
      ['configure', { build_type: 'Debug' }, /have been written/],
      ['build', { jobs: 2 }, /no diagnostics/],
      ['targets', {}, /\napp/],
      ['install', { prefix: 'there' }, /there\/bin\/app/],
      ['configure_preset', { preset: 'dev' }, /have been written/],
      ['build_preset', { preset: 'dev' }, /no diagnostics/],
      // One that is not there yet is configured first.
      ['build', { build: 'none' }, /no diagnostics/],
    ],
  },
  {
    program: 'ctest',
    from: { apt: 'cmake' },
    files: { 'build/CTestTestfile.cmake': 'add_test(passes "true")\nadd_test("fails" "cat" "nothing")\n' },
    calls: [
      ['list', {}, /passes[^]*fails[^]*Total Tests: 2/],
      ['test', { only: ['passes'] }, /^0 failed, 1 passed/],
      ['test', {}, /^1 failed, 1 passed, 0 skipped\nfails - .*nothing/],
    ],
  },
  compiler('gcc', 'gcc', 'c'),
  compiler('gxx', 'g++', 'cc'),
  compiler('clang', 'clang', 'c'),
  compiler('clangxx', 'clang', 'cc'),
  {
    program: 'clang_format',
    from: { apt: 'clang-format' },
    files: cc,
    calls: [
      ['format', { check: true, only: ['main.c'] }, /main\.c:2:\d+ error: code should be clang-formatted/],
      ['format', { only: ['main.c'] }, /no diagnostics/],
      ['format', { check: true, only: ['main.c'] }, /no diagnostics/],
    ],
  },
  {
    program: 'clang_tidy',
    from: { apt: 'clang-tidy' },
    files: { ...cc, 'a.cc': 'int f(int a) { if (a) return 1; return 0; }\n', 'compile_flags.txt': '-I.' },
    calls: [
      ['lint', { only: ['bad.c'], extra: ['-Iinclude'] }, /bad\.c:1:32 error: use of undeclared/],
      [
        'lint',
        { fix: true, only: ['a.cc'], checks: ['readability-braces-around-statements'] },
        /should be inside braces/,
      ],
    ],
  },
] satisfies ProgramTrial[];
