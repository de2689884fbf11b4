import { asWindows1252 } from './windows-1252.ts';

/**
 * Bytes as text: UTF-8 where they are valid UTF-8. Where not, each line or NUL-ended field is decided for itself, and what
 * is no UTF-8 is read in the system's own code page: one file in another encoding must not spoil the others. Replacing
 * what does not fit would lose text, and deciding by the first chunk would guess.
 */
export function decode(bytes: Buffer, fallback?: string): string {
  const whole = utf8(bytes);
  if (whole !== undefined) return whole;
  const label = fallback ?? systemEncoding();
  const other = new TextDecoder(label);
  const inCodePage = (piece: Buffer) =>
    label === 'windows-1252' ? asWindows1252(other.decode(piece)) : other.decode(piece);
  const pieces: string[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = pieceEnd(bytes, start);
    const piece = bytes.subarray(start, end);
    pieces.push(utf8(piece) ?? inCodePage(piece));
    start = end;
  }
  return pieces.join('');
}

/** Where a line or field ends, its separator included. */
function pieceEnd(bytes: Buffer, start: number): number {
  const line = bytes.indexOf(0x0a, start);
  const field = bytes.subarray(start, line < 0 ? bytes.length : line).indexOf(0);
  if (field >= 0) return start + field + 1;
  return line < 0 ? bytes.length : line + 1;
}

function utf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
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
    return 'windows-1252';
  }
}
