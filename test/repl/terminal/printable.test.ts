import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPrintable, escaped, painted, printable } from '../../../src/repl/terminal/printable.ts';
import { processorMs } from '../../support/processor-ms.ts';

/** Pieces that hostile text is made of. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
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
      ),
      fc.constantFrom(
        '\u001b[31m',
        '\u001b]0;title\u0007',
        '\u001b]52;c;aGk=\u001b\\',
        '\u001b[2J',
        '\r',
        '\b',
        '\n',
        '\t',
      ),
      fc.constantFrom(
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
      ),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(''));

const inChunks = (text: string, size: number): string => {
  const cleaner = createPrintable();
  let shown = '';
  for (let at = 0; at < text.length; at += size) shown += cleaner.push(text.slice(at, at + size));
  return shown + cleaner.end();
};

describe('printable', () => {
  it.each([
    ['colours', '\u001b[1;31mred\u001b[0m', 'red'],
    ['a title', '\u001b]0;evil\u0007text', 'text'],
    ['the clipboard', '\u001b]52;c;ZXZpbA==\u001b\\text', 'text'],
    ['a link, but not its text', '\u001b]8;;http://x\u001b\\text\u001b]8;;\u001b\\', 'text'],
    ['what reorders', 'a\u202eb\u2066c\u200ed\u200fe\u061cf', 'abcdef'],
    ['line ends that only some see, and tags', 'a\u2028b\u2029c\u{e0041}\u{e0001}d', 'abcd'],
    ['carriage returns, backspaces and bells', 'a\r\nb\rc\b\u0007', 'a\nbc'],
    ['half characters', 'a\ud83d', 'a\ufffd'],
    ['the halves around a control, without joining them', '\ud83d\b\ude00', '\ufffd\ufffd'],
  ])('removes %s', (_what, text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it('keeps line feeds, tabs and joined emoji', () => {
    expect(printable('a\n\tb 👨‍👩‍👧 ❤️ é')).toBe('a\n\tb 👨‍👩‍👧 ❤️ é');
  });

  it('lets nothing through that a terminal obeys', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(printable(text)).not.toMatch(
          /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/,
        );
        expect(printable(text)).not.toMatch(/\p{Surrogate}/u);
      }),
      { numRuns: 500 },
    );
  });

  it('is the same for text in chunks that cut a character or a sequence', () => {
    for (const text of ['a\u001b[31mred\u001b[0m 😀 b', 'a\u001b]0;title\u0007b'])
      for (const size of [1, 2, 5]) expect(inChunks(text, size)).toBe(printable(text));
  });

  it('is done with 200 KB of anything at once', () => {
    for (const piece of ['\u001b', '\u001b]', '\u001b[1', '\u001b]a', '\u009d']) {
      const begun = process.cpuUsage();
      printable(piece.repeat(200_000 / piece.length));
      expect(processorMs(begun)).toBeLessThan(2000);
    }
  });
});

describe('painted', () => {
  it('lets the styles of our paint through, and nothing else that a terminal obeys', () => {
    const styled = '\u001b[1m\u001b[35m> \u001b[39m\u001b[22m\u001b[2mno\u001b[22m\n';
    expect(painted(styled)).toBe(styled);
    const bare = [
      styled,
      '\u001b[8mhidden\u001b[m',
      '\u001b[2J\u001b]52;c;a\u001b[1m\u0007',
      '\u009b31m\u001b[7;1m',
    ];
    expect(painted(bare.join('|'))).toBe(`${styled}|hidden|;a\u001b[1m|`);
    fc.assert(
      fc.property(hostile, (text) => {
        expect(painted(text).replaceAll(/\u001b\[[\d;]+m/g, '')).not.toMatch(
          /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/,
        );
      }),
    );
  });
});

describe('escaped', () => {
  it('shows what is not seen', () => {
    expect(escaped('a\u001b[2Jb\rc\u202ed\u200be\u{e0041}f\u00a0g\ud83d')).toBe(
      'a\\x1b[2Jb\\x0dc\\u202ed\\u200be\\u{e0041}f\\xa0g\\ud83d',
    );
  });

  it('leaves text, line feeds and tabs alone', () => {
    expect(escaped('größe 漢字 😀\n\tx')).toBe('größe 漢字 😀\n\tx');
  });
});
