/**
 * Bytes as text, decided on the whole: UTF-8 where they are valid UTF-8, else the system's own code page. Deciding by
 * the first chunk, or replacing what does not fit, loses text.
 */
export function decode(bytes: Buffer, fallback?: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new TextDecoder(fallback ?? systemEncoding()).decode(bytes);
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
