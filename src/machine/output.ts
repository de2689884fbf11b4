import { StringDecoder } from 'node:string_decoder';

/** What was kept of one output stream. */
export interface Collected {
  /** The kept bytes, head and tail. */
  readonly bytes: Buffer;
  /** How many of them are the head; the others are the tail. */
  readonly headBytes: number;
  /** The same as text, decoded as a whole. */
  readonly text: string;
  /** All bytes that were written, kept or not. */
  readonly totalBytes: number;
  /** Bytes left out between head and tail; 0 when everything was kept. */
  readonly omittedBytes: number;
}

export interface Collector {
  add(chunk: Buffer): void;
  finish(): Collected;
}

/** Keeps the head and the tail of a stream, `keepBytes` in all: memory is bounded however much arrives. */
export function collect(keepBytes: number, onLine?: (line: string) => void): Collector {
  const half = Math.floor(keepBytes / 2);
  const head: Buffer[] = [];
  let headBytes = 0;
  let tail: Buffer[] = [];
  let tailBytes = 0;
  let totalBytes = 0;
  const lines = onLine && lineSplitter(onLine);

  return {
    add(chunk) {
      totalBytes += chunk.length;
      lines?.(chunk);
      const toHead = Math.min(half - headBytes, chunk.length);
      if (toHead > 0) {
        head.push(chunk.subarray(0, toHead));
        headBytes += toHead;
      }
      if (toHead >= chunk.length) return;
      tail.push(chunk.subarray(Math.max(0, toHead)));
      tailBytes += chunk.length - Math.max(0, toHead);
      // Joined seldom, at twice the size: each byte is copied about once.
      if (tailBytes > 2 * half) {
        tail = [lastBytes(Buffer.concat(tail), half)];
        tailBytes = half;
      }
    },
    finish() {
      const last = lastBytes(Buffer.concat(tail), half);
      return new Kept(Buffer.concat([...head, last]), headBytes, totalBytes);
    },
  };
}

class Kept implements Collected {
  readonly bytes: Buffer;
  readonly headBytes: number;
  readonly totalBytes: number;
  #text: string | undefined;

  constructor(bytes: Buffer, headBytes: number, totalBytes: number) {
    this.bytes = bytes;
    this.headBytes = headBytes;
    this.totalBytes = totalBytes;
  }

  get omittedBytes(): number {
    return this.totalBytes - this.bytes.length;
  }

  /** Made when it is asked for: some callers read the bytes. */
  get text(): string {
    return (this.#text ??= this.omittedBytes === 0 ? decode(this.bytes) : decode(this.#joined()));
  }

  #joined(): Buffer {
    const head = withoutPartialEnd(this.bytes.subarray(0, this.headBytes));
    return Buffer.concat([head, withoutPartialStart(this.bytes.subarray(this.headBytes))]);
  }
}

/** A copy, so that the chunks it came from can be freed. */
const lastBytes = (bytes: Buffer, count: number): Buffer =>
  bytes.length <= count ? bytes : Buffer.from(bytes.subarray(bytes.length - count));

/** Calls back with each complete line that is not blank, at most 500 characters of it. */
function lineSplitter(onLine: (line: string) => void): (chunk: Buffer) => void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return (chunk) => {
    const lines = (rest + decoder.write(chunk)).split(/[\r\n]+/);
    rest = (lines.pop() ?? '').slice(-500);
    for (const line of lines) if (line.trim() !== '') onLine(presentable(line.slice(0, 500)));
  };
}

/**
 * Bytes as text, decided on the whole: UTF-8 where they are valid UTF-8, else the system's own code page. Deciding by
 * the first chunk, or replacing what does not fit, loses text.
 */
export function decode(bytes: Buffer, fallback = systemEncoding()): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new TextDecoder(fallback).decode(bytes);
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

/** A cut may have gone through a UTF-8 sequence; the bytes of its half would make the whole look like no UTF-8. */
function withoutPartialEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

function withoutPartialStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < Math.min(3, bytes.length) && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return bytes.subarray(start);
}

// Escape sequences (CSI, OSC and the other string commands, two-character ones), by ECMA-48.
// oxlint-disable-next-line no-control-regex
const escapes =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|[ -/]*[0-~])/g;
// Controls but tab and line feed; bidirectional overrides and isolates; zero-width marks; tag characters.
// oxlint-disable-next-line no-control-regex
const invisible =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/** Text that is safe to show to a model and in a terminal: nothing that hides, reorders or commands. */
export function presentable(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(escapes, '').replaceAll(invisible, '');
}

/** About 4,000 tokens: code and logs have about four characters a token. */
export const inlineLimit = 16_000;

/** The head and the tail of a text when it is longer than `most` characters, with the fact stated between them. */
export function headAndTail(text: string, most = inlineLimit, alreadyOmitted = 0): string {
  if (text.length <= most && alreadyOmitted === 0) return text;
  const half = Math.floor(most / 2);
  const head = text.slice(0, half).replace(/[\ud800-\udbff]$/, '');
  const tail = text.slice(-half).replace(/^[\udc00-\udfff]/, '');
  const omitted =
    text.length <= most ? alreadyOmitted : text.length - head.length - tail.length + alreadyOmitted;
  return `${head}\n[… ${omitted.toLocaleString('en')} characters left out here …]\n${tail}`;
}
