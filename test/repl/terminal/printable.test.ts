import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { createPrintable, escaped, painted, printable } from '../../../src/repl/terminal/printable.ts';
import { processorMs } from '../../support/processor-ms.ts';

/** Pieces that hostile text is made of. */
const pieces = [
  ...[
    '\u001b',
    '\u001b[',
    '\u001b]',
    '\u001bP',
    '\u001b\\',
    '\u0007',
    '\u009b',
    '\u009d',
    '\u009c',
    '\u0090',
  ],
  ...['\u001b[31m', '\u001b]0;title\u0007', '\u001b]52;c;aGk=\u001b\\', '\u001b[2J', '\r', '\b', '\n', '\t'],
  ...[
    '\u202e',
    '\u2066',
    '\u200e',
    '\u{e0041}',
    '\ud83d',
    '\ude00',
    '😀',
    '👨‍👩‍👧',
    'a',
    'text ',
    ';',
    '1',
    '(',
    ' ',
  ],
];
const hostile = fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map((parts) => parts.join(''));

it('keeps line feeds, tabs and joined emoji, and text in chunks that cut a sequence', () => {
  expect(printable('a\r\n\tb 👨‍👩‍👧 ❤️ é')).toBe('a\n\tb 👨‍👩‍👧 ❤️ é');
  const cleaner = createPrintable();
  const shown = [...'a\u001b[31mred\u001b[0m 😀 b\u001b]0;title\u0007c'].map((char) => cleaner.push(char));
  expect(shown.join('') + cleaner.end()).toBe('ared 😀 bc');
});

it('lets nothing through that a terminal obeys, or that nobody sees, but the styles of our paint', () => {
  const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\p{Surrogate}\u{e0041}]/u;
  fc.assert(
    fc.property(hostile, (text) => {
      expect(printable(text)).not.toMatch(obeyed);
      expect(painted(text).replaceAll(/\u001b\[[\d;]+m/g, '')).not.toMatch(obeyed);
      expect(escaped(text)).not.toMatch(obeyed);
    }),
    { numRuns: 500 },
  );
  const styled = '\u001b[1m\u001b[35m> \u001b[39m\u001b[22m\u001b[2mno\u001b[22m\n';
  expect(painted(`${styled}\u001b[8mhidden\u001b[m`)).toBe(`${styled}hidden`);
});

it('cleans 200 KB of anything in little time', () => {
  for (const piece of ['\u001b', '\u001b]', '\u001b[1', '\u001b]a', '\u009d']) {
    const begun = process.cpuUsage();
    printable(piece.repeat(200_000 / piece.length));
    expect(processorMs(begun)).toBeLessThan(2000);
  }
});
