import { isUtf8 } from 'node:buffer';

/** A line or NUL-ended field that is not pure ASCII. */
const foreign = /(?<![^\n\0])[\x01-\x09\x0b-\x7f]*[\x80-\xff][^\n\0]*/g;
/** The most lines that are decoded separately: bytes with more of them are no text, and each takes time. */
const mostForeign = 10_000;

/**
 * Decodes bytes as UTF-8 where they are valid. Otherwise each line or NUL-ended field that is not UTF-8 is
 * read in the system's own code page, because one file in another encoding must not spoil the others.
 * Replacement characters would lose text, and a guess from the first chunk could be wrong. Takes linear time
 * for any bytes.
 */
export function decode(bytes: Buffer, fallback?: string): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  const label = fallback ?? systemEncoding();
  const parts: string[] = [];
  let end = 0;
  for (const { 0: line, index } of bytes.toString('latin1').matchAll(foreign)) {
    const piece = bytes.subarray(index, index + line.length);
    parts.push(bytes.toString('latin1', end, index), shownText(piece, isUtf8(piece) ? 'utf-8' : label));
    end = index + line.length;
    if (parts.length > 2 * mostForeign) break;
  }
  return parts.join('') + shownText(bytes.subarray(end), label);
}

/**
 * The characters 0x80 to 0x9F of windows-1252, from https://encoding.spec.whatwg.org/index-windows-1252.txt.
 * Five bytes are undefined there and stand for the control character of the same number, so that no byte is
 * lost.
 */
const windows1252 =
  '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f' +
  '\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178';

/** Decodes bytes in an encoding that TextDecoder names, with U+FFFD for invalid sequences. */
export function shownText(bytes: Buffer, label: string): string {
  if (label === 'utf-8') return bytes.toString();
  if (label !== 'windows-1252') return new TextDecoder(label).decode(bytes);
  // Some versions of Node decode windows-1252 as ISO 8859-1.
  const codes = Uint16Array.from(bytes, (byte) =>
    byte >= 0x80 && byte < 0xa0 ? windows1252.charCodeAt(byte - 0x80) : byte,
  );
  return Buffer.from(codes.buffer).toString('utf16le');
}

/** The legacy code pages of Windows consoles by language; elsewhere the locale names the encoding. */
const codePages: Record<string, string> = {
  ja: 'shift_jis',
  ko: 'euc-kr',
  ru: 'ibm866',
  uk: 'ibm866',
  'zh-TW': 'big5',
  'zh-HK': 'big5',
  zh: 'gbk',
};

/** The encoding that programs on this machine use instead of UTF-8, as a label that TextDecoder knows. */
export function systemEncoding(
  platform: string = process.platform,
  env: Readonly<Record<string, string | undefined>> = process.env,
  locale: string = new Intl.DateTimeFormat().resolvedOptions().locale,
): string {
  if (platform === 'win32')
    return codePages[locale] ?? codePages[locale.split('-')[0] ?? ''] ?? 'windows-1252';
  const charset = /\.([^@]+)/.exec(env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '')?.[1];
  if (!charset || /^utf-?8$/i.test(charset)) return 'windows-1252';
  try {
    return new TextDecoder(charset).encoding;
  } catch {
    // Node was built without this encoding, or its name is unknown.
    return 'windows-1252';
  }
}
