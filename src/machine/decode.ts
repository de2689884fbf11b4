import { isUtf8 } from 'node:buffer';
import { fromWindows1252 } from './windows-1252.ts';

/** Each change of the encoding costs some microseconds: what changes more often is no text, and is not worth more. */
const mostChanges = 10_000;

/**
 * Bytes as text: UTF-8 where they are valid UTF-8. Where not, each line or NUL-ended field is decided for itself, and what
 * is no UTF-8 is read in the system's own code page: one file in another encoding must not spoil the others. Replacing
 * what does not fit would lose text, and deciding by the first chunk would guess. Linear, whatever the bytes are.
 */
export function decode(bytes: Buffer, fallback?: string): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  const label = fallback ?? systemEncoding();
  const other = label === 'windows-1252' ? undefined : new TextDecoder(label);
  return runsOf(bytes)
    .map(({ start, end, fits }) => {
      const run = bytes.subarray(start, end);
      if (fits) return run.toString('utf8');
      return other ? other.decode(run) : fromWindows1252(run);
    })
    .join('');
}

interface Run {
  readonly start: number;
  readonly end: number;
  /** Whether it is UTF-8. */
  readonly fits: boolean;
}

/** Neighbouring lines and fields that are UTF-8, or are not; ASCII goes with what stands before it, being the same in both. */
function runsOf(bytes: Buffer): Run[] {
  const runs: Run[] = [];
  const piece: Piece = { end: 0, fits: undefined };
  let start = 0;
  let fits: boolean | undefined;
  for (let at = 0; at < bytes.length && runs.length < mostChanges; at = piece.end) {
    lookAt(bytes, at, piece);
    if (piece.fits === undefined) continue;
    if (fits !== undefined && piece.fits !== fits) {
      runs.push({ start, end: at, fits });
      start = at;
    }
    fits = piece.fits;
  }
  const isRest = runs.length < mostChanges;
  return [...runs, { start, end: bytes.length, fits: isRest && fits === true }];
}

/** A line or field, its separator included. */
interface Piece {
  end: number;
  /** Whether it is UTF-8; undefined when it is ASCII. */
  fits: boolean | undefined;
}

/** Byte by byte, without a call or an object for each piece: what is no text has millions of them. */
function lookAt(bytes: Buffer, start: number, piece: Piece): void {
  let fits: boolean | undefined;
  // How many bytes of a character are to come, and between what the next has to be: no long forms, no surrogates.
  let missing = 0;
  let low = 0x80;
  let high = 0xbf;
  let at = start;
  for (; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) {
      if (missing > 0) fits = false;
      missing = 0;
      if (byte === 0x0a || byte === 0) break;
    } else if (missing > 0) {
      missing = byte < low || byte > high ? 0 : missing - 1;
      if (byte < low || byte > high) fits = false;
      [low, high] = [0x80, 0xbf];
    } else {
      fits ??= true;
      if (byte < 0xc2 || byte > 0xf4) fits = false;
      else missing = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
      low = byte === 0xe0 ? 0xa0 : byte === 0xf0 ? 0x90 : 0x80;
      high = byte === 0xed ? 0x9f : byte === 0xf4 ? 0x8f : 0xbf;
    }
  }
  piece.end = at + 1;
  piece.fits = missing > 0 ? false : fits;
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
