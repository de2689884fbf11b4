import { expect, it } from 'vitest';
import { byNumber, hasUnseen } from '../../src/core/unseen.ts';
import { displayPath } from '../../src/machine/paths/display-path.ts';
import { sanitize } from '../../src/machine/sanitize.ts';
import { escaped, printable } from '../../src/repl/terminal/printable.ts';

/** Planes of private use, and those that nothing is in yet, have one like all. */
const all = [0, 1, 2, 3, 0xe].flatMap((plane) =>
  Array.from({ length: 0x1_0000 }, (_, code) => String.fromCodePoint(plane * 0x1_0000 + code)),
);
const ignorable = all.filter((one) => /\p{Default_Ignorable_Code_Point}/u.test(one));
/** Code points that are reserved for pictures are those of a newer Unicode. */
const unseen = all.filter((one) =>
  /(?!\p{Extended_Pictographic})[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u.test(one),
);
const usual = [' ', '\n', '\t'];

it('knows every character that Unicode says is not seen, in a name', () => {
  expect(unseen.filter((one) => !hasUnseen(`a${one}b`))).toEqual([' ']);
  for (const one of ['\u115f', '\u1160', '\u3164', '\uffa0', '\u2800', '\u00a0', '\u200d', '\u{e0041}'])
    expect(displayPath(`a${one}b`)).toBe(`"a${byNumber(one)}b"`);
});

it.each([...['README.md', 'naïve – “x”.txt', '漢字.txt', '한국어.md', 'हिन्दी'], '👩‍👩‍👧 ❤️ ✔︎ 1️⃣ 👍🏽 🏳️‍🌈 🇩🇪'])(
  'sees all of %s',
  (name) => {
    expect(hasUnseen(name)).toBe(false);
    expect(displayPath(name)).toBe(name);
  },
);

it.each(['1\ufe0f', 'a\ufe0f', '😀\u200d', '😀\u200da', '\ufe0f', '❤\ufe0f\ufe0f'])(
  'sees through %j',
  (name) => {
    expect(hasUnseen(name)).toBe(true);
  },
);

it('leaves nothing in an answer, or on the screen, that has no look', () => {
  // What letters and pictures are made with stays where it joins something, which is tested elsewhere.
  const joins = /[\u200c\u200d]|\p{Variation_Selector}/u;
  for (const one of ignorable) {
    expect(sanitize(`a${one}b`), byNumber(one)).toBe('ab');
    if (!joins.test(one)) expect(printable(`a${one}b`), byNumber(one)).toBe('ab');
  }
  expect(unseen.filter((one) => !usual.includes(one) && escaped(one) === one)).toEqual([]);
});
