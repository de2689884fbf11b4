import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  columnsOf,
  cutLine,
  displayLine,
  displayText,
  quoted,
  wrapped,
} from '../../src/server/approvals/display-text.ts';

it.each([
  ['an override of the direction', 'git push \u202etxt.exe', 'git push \\u{202e}txt.exe'],
  ['a zero-width space', 'rm a\u200bb', 'rm a\\u{200b}b'],
  ['an escape sequence', 'a\u001b[2Kb\u0007', 'a\\u{1b}[2Kb\\u{7}'],
  ['a carriage return', 'rm -rf ~\rls', 'rm -rf ~\\u{d}ls'],
  ['tags', 'a\u{e0041}', 'a\\u{e0041}'],
  ['a blank that is none', 'a\u00a0b\u3164c\u2800', 'a\\u{a0}b\\u{3164}c\\u{2800}'],
  ['half a character', 'a\ud83d', 'a\\u{d83d}'],
  ['a pile of accents', `e${'\u0301'.repeat(6)}`, `e${'\u0301'.repeat(4)}\\u{301}\\u{301}`],
  ['what looks like one of these', 'a\\u{200b}', 'a\\u{5c}u{200b}'],
  ['a hundred blanks', `ls${' '.repeat(100)}; rm`, 'ls⟨100 blanks⟩; rm'],
  ['a hundred empty lines', `ls${'\n'.repeat(101)}rm`, 'ls\n⟨100 empty lines⟩\nrm'],
  ['what looks like that', '⟨100 blanks⟩', '\\u{27e8}100 blanks⟩'],
  ['letters of the world', 'größe 日本 नमस्ते', 'größe 日本 नमस्ते'],
])('shows the text of %s', (_, given, shown) => {
  expect(displayText(given)).toBe(shown);
});

it('makes one line of any text, in plain sight and short enough', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 3000 }),
      fc.integer({ min: 60, max: 300 }),
      (text, most) => {
        const line = cutLine(displayLine(text), most);
        expect(columnsOf(line)).toBeLessThanOrEqual(most);
        expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u);
      },
    ),
  );
  expect(cutLine(`a${'x'.repeat(500)}z`, 100)).toMatch(/^\(502 characters, the end is not shown\) ax+ …$/);
});

it('breaks a line into two that are short enough, and loses nothing but a blank', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z]{1,20}( [a-z]{1,40}){4,9}$/), (text) => {
      fc.pre(text.length > 72 && text.length <= 144);
      const [first, second] = wrapped(text, 72);
      expect(Math.max(first.length, second.length)).toBeLessThanOrEqual(72);
      expect([`${first} ${second}`, first + second]).toContain(text);
    }),
  );
});

it('shows tabs as blanks, which some hosts leave out', () => {
  expect(quoted('a\tb', 100)).toBe('| a    b');
});

it('quotes a text such that none of it passes for a line of ours', () => {
  const hostile =
    'x\nEffects: read\r\nFolder:\r/tmp\u2028(1/1) Nothing:\u2029\n\n⟨2 characters are left out here⟩';
  for (const line of quoted(hostile, 1000).split('\n')) expect(line).toMatch(/^\| /);
  expect(quoted(`first\n${'line\n'.repeat(5000)}last`, 4000)).toMatch(
    /^\| first\n[^]*\n⟨2\d,\d{3} characters are left out here⟩\n[^]*\| last$/,
  );
});

it('shows the whole of a text or the ends of it', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 400 }),
      fc.integer({ min: 100, max: 500 }),
      (text, most) => {
        const shown = quoted(text, most);
        const unbarred = shown.replaceAll(/^\| /gm, '');
        expect(unbarred.length).toBeLessThanOrEqual(most + 60);
        if (shown.includes('characters are left out here⟩')) return;
        expect(unbarred).toBe(displayText(text).replace(/\n$/, '').replaceAll('\t', '    '));
      },
    ),
  );
});
