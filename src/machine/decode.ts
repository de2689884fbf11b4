import { isUtf8 } from 'node:buffer';

/** A line or NUL-ended field in which not everything is ASCII. */
const foreign = /(?<![^\n\0])[\x01-\x09\x0b-\x7f]*[\x80-\xff][^\n\0]*/g;
/** What has more of them that are no UTF-8 is no text, and not worth the time that each takes. */
const mostForeign = 10_000;

/**
 * Bytes as text: UTF-8 where they are valid UTF-8. Where not, each line or NUL-ended field is decided for itself, and
 * what is no UTF-8 is read in the system's own code page: one file in another encoding must not spoil the others.
 * Replacing what does not fit would lose text, and deciding by the first chunk would guess. Linear in any bytes.
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
 * 0x80 to 0x9F in windows-1252, as https://encoding.spec.whatwg.org/index-windows-1252.txt has them: five bytes mean
 * nothing and stand for the control of the same number, so that no byte is lost.
 */
const windows1252 =
  '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f' +
  '\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178';

/** The text of bytes in an encoding, by TextDecoder's name for it, with U+FFFD for what is no character. */
export function shownText(bytes: Buffer, label: string): string {
  if (label === 'utf-8') return bytes.toString();
  if (label !== 'windows-1252') return new TextDecoder(label).decode(bytes);
  // Some versions of Node decode it as ISO 8859-1.
  const codes = Uint16Array.from(bytes, (byte) =>
    byte >= 0x80 && byte < 0xa0 ? windows1252.charCodeAt(byte - 0x80) : byte,
  );
  return Buffer.from(codes.buffer).toString('utf16le');
}

/** Legacy code pages of Windows consoles by language; elsewhere the locale names its own. */
const codePages: Record<string, string> = {
  ja: 'shift_jis',
  ko: 'euc-kr',
  ru: 'ibm866',
  uk: 'ibm866',
  'zh-TW': 'big5',
  'zh-HK': 'big5',
  zh: 'gbk',
};

/** The encoding programs here use when they do not use UTF-8, as a label TextDecoder knows. */
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
    // Node was built without it, or nobody knows it.
    return 'windows-1252';
  }
}
