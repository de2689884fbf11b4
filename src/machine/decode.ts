import { isUtf8 } from 'node:buffer';
import { fromWindows1252 } from './windows-1252.ts';

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
  const other = label === 'windows-1252' ? fromWindows1252 : decoderOf(label);
  const parts: string[] = [];
  let end = 0;
  for (const { 0: line, index } of bytes.toString('latin1').matchAll(foreign)) {
    const piece = bytes.subarray(index, index + line.length);
    parts.push(bytes.toString('latin1', end, index), isUtf8(piece) ? piece.toString('utf8') : other(piece));
    end = index + line.length;
    if (parts.length > 2 * mostForeign) break;
  }
  return parts.join('') + other(bytes.subarray(end));
}

function decoderOf(label: string): (bytes: Buffer) => string {
  const decoder = new TextDecoder(label);
  return (bytes) => decoder.decode(bytes);
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
