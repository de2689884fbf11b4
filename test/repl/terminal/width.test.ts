import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cells, cutToCells, padToCells, wrapToCells } from '../../../src/repl/terminal/width.ts';
import { processorMs } from '../../support/processor-ms.ts';

const text = fc
  .array(fc.constantFrom('a', 'bc', ' ', '漢', '한', '👨‍👩‍👧', '🇩🇪', '👍🏽', '❤️', 'e\u0301', 'ｶ', 'long-word'), {
    maxLength: 40,
  })
  .map((parts) => parts.join(''));

describe('cells', () => {
  it.each([
    ['abc', 3],
    ['漢字', 4],
    ['한국', 4],
    ['ｶﾅ', 2],
    ['é', 1],
    ['e\u0301', 1],
    ['😀', 2],
    ['👍🏽', 2],
    ['👨‍👩‍👧', 2],
    ['🇩🇪', 2],
    ['❤️', 2],
    ['☀', 1],
    ['', 0],
    ['\u001b[1mab\u001b[22m', 2],
  ])('%s takes %i', (shown, width) => {
    expect(cells(shown)).toBe(width);
  });
});

it('cuts between characters, and says so', () => {
  expect(cutToCells('abcdef', 4)).toBe('abc…');
  expect(cutToCells('abcd', 4)).toBe('abcd');
  expect(cutToCells('漢字漢字', 5)).toBe('漢字…');
  expect(cutToCells('👨‍👩‍👧👨‍👩‍👧', 3)).toBe('👨‍👩‍👧…');
});

it('never exceeds the width, and never halves a character', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 30 }), (line, width) => {
      const cut = cutToCells(line, width);
      expect(cells(cut)).toBeLessThanOrEqual(width);
      expect(cut).not.toMatch(/\p{Surrogate}/u);
      if (cells(line) <= width) expect(cut).toBe(line);
    }),
  );
});

it('wraps to the width, at spaces where there are any, and loses only spaces', () => {
  expect(wrapToCells('the quick brown fox', 10)).toEqual(['the quick', 'brown fox']);
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 30 }), (line, width) => {
      const lines = wrapToCells(line, width);
      for (const part of lines) expect(cells(part)).toBeLessThanOrEqual(width);
      expect(lines.join('').replaceAll(' ', '')).toBe(line.replaceAll(' ', ''));
    }),
  );
});

it('pads by what is seen', () => {
  expect(padToCells('漢', 4)).toBe('漢  ');
});

it('cuts and wraps 200 KB at once', () => {
  const begun = process.cpuUsage();
  for (const piece of ['a', '漢', 'e\u0301', '\u0301', '👨‍👩‍👧']) {
    const long = piece.repeat(200_000 / piece.length);
    cutToCells(long, 80);
    wrapToCells(long, 80);
  }
  expect(processorMs(begun)).toBeLessThan(6000);
});
