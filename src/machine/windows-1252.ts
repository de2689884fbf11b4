/**
 * 0x80 to 0x9F in windows-1252, as https://encoding.spec.whatwg.org/index-windows-1252.txt has them: five bytes mean
 * nothing and stand for the control of the same number, so that no byte is lost.
 */
const windows1252 =
  '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f' +
  '\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178';

/** The text of bytes in windows-1252. */
export function fromWindows1252(bytes: Uint8Array): string {
  const codes = new Uint16Array(bytes);
  for (let at = 0; at < codes.length; at++) {
    const byte = codes[at] ?? 0;
    if (byte >= 0x80 && byte < 0xa0) codes[at] = windows1252.charCodeAt(byte - 0x80);
  }
  return Buffer.from(codes.buffer).toString('utf16le');
}

/** What TextDecoder made of windows-1252, put right: some versions of Node decode it as ISO 8859-1. */
export const asWindows1252 = (text: string): string =>
  text.replaceAll(/[\x80-\x9f]/g, (control) => windows1252.charAt(control.charCodeAt(0) - 0x80));
