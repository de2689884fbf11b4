import { expect, it } from 'vitest';
import { programOf } from './programs.ts';
import { recorded, reportOf } from './real-program.ts';

const said = (id: string, action: string, output: Parameters<typeof reportOf>[2]) =>
  reportOf(programOf(id), action, output).text;

it('Valgrind’s faults have their places', () => {
  const files = { 'report.xml': recorded('valgrind/report.xml') };
  expect(said('valgrind', 'check', { files, exitCode: 0 })).toMatchInlineSnapshot(`
    "2 diagnostics
    /home/ada/demo/m.c:3 error: Invalid read of size 1; Address 0x4a4104a is 0 bytes after a block of size 10 alloc'd
    /home/ada/demo/m.c:5 warning: 10 bytes in 1 blocks are definitely lost in loss record 1 of 1"
  `);
});
