import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { sanitize } from '../../src/machine/sanitize.ts';

it.each([
  ['controls', 'a\u0000\u0007\u0008b\u007f\u0085\u009bc', 'abc'],
  ['bidirectional marks', 'a\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069b', 'ab'],
  ['zero-width marks', 'a\u200b\u2060\u2061\u2064\ufeff\u034f\u180eb', 'ab'],
  ['joiners between Latin letters', 'a\u200cb\u200dc \u200d', 'abc '],
  ['a row of joiners', `ह${'\u200c\u200d'.repeat(40)}ा`, 'ह\u200cा'],
  ['tag characters', 'a\u{e0001}\u{e0041}\u{e007f}b', 'ab'],
  ['variation selectors that spell bytes', `😀${'\ufe01\u{e0100}\u{e01ef}\ufe0f'.repeat(20)}`, '😀\ufe0f'],
  ['emoji selectors where no emoji stands', 'a\ufe0fb\ufe0e', 'ab'],
  ['interlinear annotations', 'a\ufff9b\ufffac\ufffb', 'abc'],
  ['soft hyphens and fillers', 'a\u00adb\u115f\u1160\u3164\uffa0c', 'abc'],
  ['deprecated and musical formats', 'a\u206a\u206f\u{1d173}\u{1bca0}b', 'ab'],
  ['what is no character', 'a\ufffe\uffff\ufdd0\u{1fffe}b', 'ab'],
  ['lone surrogates', 'a\ud800b\udc00', 'a\ufffdb\ufffd'],
  ['a flood of marks', `z${'\u0301'.repeat(500)}!`, `z${'\u0301'.repeat(8)}!`],
  ['a flood of Thai marks', `ก${'็'.repeat(500)}`, `ก${'็'.repeat(8)}`],
  ['line ends that editors do not show', 'a\u2028b\u2029c', 'a\nb\nc'],
])('ATTACK 44: removes %s from a text', (_, hostile, expected) => {
  expect(sanitize(hostile)).toBe(expected);
  expect(sanitize(`é ${hostile}`)).toBe(`é ${expected}`);
});

it.each([
  'tab\tand\nline',
  'naïve café – “quotes” … €',
  'Ελληνικά Русский Việt Nam (việt nam)',
  '漢字 かな カナ 한국어 ﾊﾝｶｸ',
  'עִבְרִית العَرَبِيَّة',
  'हिन्दी क्‍ष ज़ தமிழ் ไทยก็ดี བོད་ཡིག',
  'می‌خواهم',
  '👩‍👩‍👧 ❤️ ✔︎ 1️⃣ 👍🏽 🏳️‍🌈 🇩🇪',
  '\ue0b0 icons of fonts \u{f0001}',
])('leaves text that people write: %s', (text) => {
  expect(sanitize(text)).toBe(text);
});

it('does not let a sequence that never ends hide what follows', () => {
  expect(sanitize('\u001b]0;title\nerror: it failed')).toBe('0;title\nerror: it failed');
  expect(sanitize('\u001bPdata\nnext\u001b\\')).toBe('data\nnext');
  expect(sanitize('\u001b]0;title\u0007shown')).toBe('shown');
});

it('has nothing left to remove the second time, whatever it is given', () => {
  const joining = '\u200d\u200c\ufe0f\ufe0e\u0301\u{e0041}\u009c\u202e';
  const hostile = fc.constantFrom(...`\u001b[];m\u0007\\\r\na1😀${joining}`, '\ud83d', '\ude00');
  fc.assert(
    fc.property(fc.array(hostile, { maxLength: 60 }), (pieces) => {
      const once = sanitize(pieces.join(''));
      expect(once).not.toMatch(/(?![\n\t])\p{Cc}|\p{Cs}|[\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e0fff}]/u);
      expect(sanitize(once)).toBe(once);
    }),
    { numRuns: 2000 },
  );
});
