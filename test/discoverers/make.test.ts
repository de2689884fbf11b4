import { expect, it } from 'vitest';
import make from '../../src/discoverers/make.ts';
import { processorMs } from '../support/processor-ms.ts';
import { argvOf, recorded, reportOf } from './real-program.ts';

const targets = (stdout: string) => reportOf(make, 'tasks', { stdout }).text.split('\n').slice(1);

it('lists the targets of a Makefile with their comments', () => {
  expect(reportOf(make, 'tasks', { stdout: recorded('make/Makefile') }).text).toBe(
    [
      '12 tasks',
      'all (Build and test everything)',
      'build (Compile the program. Needs a C compiler.)',
      'test (Run the tests)',
      ...[
        'main.o',
        'util.o',
        'out',
        'docs',
        'release (Windows release)',
        'zip',
        'gen/a.h',
        'gen/b.h',
        'clean',
      ],
      'only make knows: .env config/*.mk, $(BIN)/tool, $(eval $(call recipe,x:y))',
    ].join('\n'),
  );
});

it('reads other shapes', () => {
  expect(targets('a:\r\n\techo x:\r\nb: a\r\n')).toEqual(['a', 'b']);
  expect(targets('a:\n\techo \\\nnot: this\nb:\n')).toEqual(['a', 'b']);
  expect(targets('define a\nx: y\nendef\nc:\n')).toEqual(['c']);
  expect(targets('# old\n\n# doc\na: CFLAGS += -g\na: b c\n')).toEqual(['a (doc)']);
  expect(targets('$(A):\nb:\n-include x.mk\n')).toEqual(['b', 'only make knows: $(A), x.mk']);
  expect(() => targets('x = a:b\ny := c:d\nz ::= e:f\nw != echo g:h\nexport k := l:m\n')).toThrow(
    'no target',
  );
});

it('reads a hostile Makefile in no time', () => {
  const started = process.cpuUsage();
  for (const piece of '$(|\\\n|a:|#|\t|define x\n| |=|$(x) |a |a: b\n|#x\n'.split('|'))
    expect(() => targets(`${piece.repeat(80_000)}x`)).not.toThrow(RangeError);
  expect(processorMs(started)).toBeLessThan(6000);
});

it('tells what compilers and linkers say, and never that a failed build is without errors', () => {
  const stdout = recorded('make/link-error.txt');
  expect(reportOf(make, 'build', { stdout, exitCode: 2 }).text).toMatchInlineSnapshot(`
    "3 diagnostics
    main.c:2:22 warning: unused variable ‘x’ [-Wunused-variable]
    bad.c:1:25 error: ‘y’ undeclared (first use in this function)
    main.c error: undefined reference to \`f'"
  `);
  expect(() =>
    reportOf(make, 'build', { stderr: 'make: *** [Makefile:3: a] Error 1', exitCode: 2 }),
  ).toThrow();
  expect(() => reportOf(make, 'build', { stderr: 'a.c:1:2: warning: b [-Wb]', exitCode: 2 })).toThrow();
});

it('reads what is coloured', () => {
  const stderr = '\u001B[01m\u001B[Ka.c:1:2:\u001B[m\u001B[K \u001B[01;31m\u001B[Kerror: \u001B[m\u001B[Kno';
  expect(reportOf(make, 'build', { stderr, exitCode: 2 }).text).toBe('1 diagnostic\na.c:1:2 error: no');
});

it('ATTACK 19: has no way to give make an option but behind a target', () => {
  for (const task of ['--eval=$(shell touch p)', '-f', 'a b', ''])
    expect(() => argvOf(make, 'task', { task })).toThrow();
  for (const variables of [['-f'], ['--eval=x'], ['FOO'], ['A B=c']])
    expect(() => argvOf(make, 'build', { variables })).toThrow();
  expect(argvOf(make, 'task', { task: 'a', args: ['V=1'] })).toEqual(['--', 'a', 'V=1']);
});
