import { describe, expect, it } from 'vitest';
import { make } from '../../src/discoverers/make.ts';
import { readMakefile } from '../../src/discoverers/makefile.ts';
import { argvOf, itKeepsItsExamples, parseRecorded } from './real-program.ts';
import { processorMs } from '../support/processor-ms.ts';

const target = (name: string, line: number, more: object = {}) => ({
  name,
  doc: null,
  prerequisites: [],
  phony: false,
  conditional: false,
  line,
  ...more,
});

describe('make', () => {
  itKeepsItsExamples(make);

  it('reads a Makefile', () => {
    expect(parseRecorded(make, 'targets', 'Makefile')).toEqual({
      default: 'all',
      targets: [
        target('all', 17, {
          doc: 'Build and test everything',
          prerequisites: ['build', 'test'],
          phony: true,
        }),
        target('build', 21, {
          doc: 'Compile the program. Needs a C compiler.',
          prerequisites: ['main.o', 'util.o', 'out'],
        }),
        target('test', 27, { doc: 'Run the tests', prerequisites: ['build', 'fixtures'], phony: true }),
        target('main.o', 35, { prerequisites: ['common.h'] }),
        target('util.o', 35, { prerequisites: ['common.h'] }),
        target('out', 37),
        target('docs', 39, { phony: true }),
        target('release', 47, {
          doc: 'Windows release',
          prerequisites: ['all', 'zip', 'tar'],
          phony: true,
          conditional: true,
        }),
        target('zip', 48, { conditional: true }),
        target('gen/a.h', 61, { prerequisites: ['schema.json'] }),
        target('gen/b.h', 61, { prerequisites: ['schema.json'] }),
        target('clean', 65, { phony: true }),
      ],
      pattern_rules: ['%.o'],
      includes: ['.env', 'config/*.mk'],
      computed: ['$(BIN)/tool', '$(eval $(call recipe,x:y))'],
    });
  });

  it('reads other shapes', () => {
    const names = (text: string) => readMakefile(text).targets.map(({ name }) => name);
    expect(readMakefile('').default).toBeNull();
    expect(names('a:\r\n\techo x:\r\nb: a\r\n')).toEqual(['a', 'b']);
    expect(names('\tearly: x\na:\n')).toEqual(['early', 'a']);
    expect(names('.RECIPEPREFIX = >\na:\n>echo x: y\nb:\n')).toEqual(['a', 'b']);
    expect(names('define a\ndefine b\nx: y\nendef\nz: y\nendef\nc:\n')).toEqual(['c']);
    expect(names('a:\n\techo \\\nnot: this\nb:\n')).toEqual(['a', 'b']);
    expect(names('x = a:b\ny := c:d\nz ::= e:f\nw != echo g:h\nv ?= i:j\nexport k := l:m\n')).toEqual([]);
    expect(readMakefile('a:\nb:\n.DEFAULT_GOAL := b\n').default).toBe('b');
    expect(readMakefile('a:\na: b\n').targets).toEqual([target('a', 1, { prerequisites: ['b'] })]);
    expect(readMakefile('$(A):\nb:\n')).toMatchObject({ default: '$(A)', computed: ['$(A)'] });
    expect(readMakefile('# old\n\n# doc\na:\n').targets).toEqual([target('a', 4, { doc: 'doc' })]);
  });

  it('reads a hostile Makefile in no time', () => {
    const started = process.cpuUsage();
    for (const piece of ['$(', '\\\n', 'a:', '#', '\t', 'define x\n', ' ', '=', '$(x) '])
      readMakefile(piece.repeat(50_000));
    expect(processorMs(started)).toBeLessThan(6000);
  });

  it('ATTACK 19: refuses options, evaluated values and variables that decide what runs', () => {
    const refused = (given: object) =>
      expect(() => argvOf(make, 'run', given), JSON.stringify(given)).toThrow();
    for (const name of ['--eval=$(shell touch p)', '-f', 'A=b', '$(shell touch p)', 'a b', '', '.x']) {
      refused({ targets: [name] });
    }
    for (const name of [
      'SHELL',
      'MAKEFLAGS',
      '.SHELLFLAGS',
      'MAKEFILES',
      'MFLAGS',
      'GNUMAKEFLAGS',
      'CURDIR',
      'MAKE',
    ]) {
      refused({ variables: [`${name}=/x`] });
    }
    for (const name of [
      'LD_PRELOAD',
      'NODE_OPTIONS',
      'BASH_ENV',
      'GIT_SSH_COMMAND',
      'PATH',
      'A B',
      '-A',
      'A:',
      'A!',
      '',
    ]) {
      refused({ variables: [`${name}=x`] });
    }
    for (const value of [
      '$(shell touch p)',
      '`touch p`',
      '$X',
      'a;b',
      'a\nb',
      'a|b',
      'a&b',
      "'",
      '"',
      '(',
      '>',
      '#',
      '\\',
    ]) {
      refused({ variables: [`FOO=${value}`] });
    }
    refused({ variables: ['FOO'] });
    expect(
      argvOf(make, 'run', { variables: ['CFLAGS=-O2 -g', 'X='], targets: ['a/b.o'], keep_going: true }),
    ).toEqual(['--keep-going', '--', 'CFLAGS=-O2 -g', 'X=', 'a/b.o']);
  });
});

it.each([
  [
    'comments and targets',
    `${'#x\n'.repeat(120_000)}${Array.from({ length: 80_000 }, (_, i) => `t${i}`).join(' ')}:\n`,
  ],
  ['rules of one target', Array.from({ length: 60_000 }, (_, i) => `a: b${i}\n`).join('')],
  ['targets times prerequisites', `${'t '.repeat(200_000)}: ${'p '.repeat(200_000)}\n`],
])('answers soon about a Makefile made of %s', (_what, text) => {
  const startedAt = process.cpuUsage();
  try {
    readMakefile(text);
  } catch (error) {
    expect(String(error)).toContain('more than 5000 targets');
  }
  expect(processorMs(startedAt)).toBeLessThan(10_000);
});
