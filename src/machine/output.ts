import { headOf } from '../core/cut-text.ts';
import { decode } from './decode.ts';
import { sanitize } from './sanitize.ts';

/** The kept part of one output stream. */
export interface Collected {
  /** The kept bytes, head and tail. */
  readonly bytes: Buffer;
  /** The same as text, decoded as a whole when it is first asked for. */
  readonly text: string;
  /** Bytes left out between head and tail; 0 when everything was kept. */
  readonly omittedBytes: number;
}

/** Gathers what one stream prints. */
export interface Collector {
  add(chunk: Buffer): void;
  finish(): Collected;
}

/** Keeps the head and the tail of a stream, `keepBytes` in all: memory is bounded however much arrives. */
export function collect(keepBytes: number): Collector {
  const half = Math.floor(keepBytes / 2);
  const head: Buffer[] = [];
  let headBytes = 0;
  let tail: Buffer[] = [];
  let tailBytes = 0;
  let totalBytes = 0;
  return {
    add(chunk: Buffer): void {
      totalBytes += chunk.length;
      const toHead = Math.min(half - headBytes, chunk.length);
      if (toHead > 0) {
        head.push(chunk.subarray(0, toHead));
        headBytes += toHead;
      }
      if (toHead >= chunk.length) return;
      tail.push(chunk.subarray(toHead));
      tailBytes += chunk.length - toHead;
      // Joined seldom, at twice the size: each byte is copied about once.
      if (tailBytes > 2 * half) {
        tail = [lastBytes(Buffer.concat(tail), half)];
        tailBytes = half;
      }
    },
    finish(): Collected {
      const last = lastBytes(Buffer.concat(tail), half);
      const bytes = Buffer.concat([...head, last]);
      const omittedBytes = totalBytes - bytes.length;
      let text: string | undefined;
      return {
        bytes,
        omittedBytes,
        get text() {
          text ??= decode(omittedBytes === 0 ? bytes : joined(bytes.subarray(0, headBytes), last));
          return text;
        },
      };
    },
  };
}

/** The bytes without UTF-8 sequences that the cut has halved: the whole would not look like UTF-8. */
function joined(head: Buffer, tail: Buffer): Buffer {
  const begin = tail.subarray(0, 4).findIndex((byte) => !isContinuation(byte));
  return Buffer.concat([wholeCharacters(head), tail.subarray(Math.max(0, begin))]);
}

/** A copy, so that the chunks it came from can be freed. */
const lastBytes = (bytes: Buffer, count: number): Buffer =>
  bytes.length <= count ? bytes : Buffer.from(bytes.subarray(bytes.length - count));

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;

/** The bytes without the beginning of a UTF-8 sequence at their end that is not whole. */
export function wholeCharacters(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

/** Characters of a line that are handed on. */
const maxLineLength = 500;
/** Bytes at the end of a chunk in which a line is looked for. */
const searchedBytes = 4096;
/** Encoded data: it may be a line of a private key, which is not recognised by one line alone. */
const encoded = /^[A-Za-z0-9+/=]{40,}$/;

/** Takes a stream piece by piece, and hands on the last whole line of each piece that is not blank. */
export function lastLineOf(onLine: (line: string) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const all = Buffer.concat([rest, chunk]);
    const end = Math.max(all.lastIndexOf('\n'), all.lastIndexOf('\r')) + 1;
    rest = Buffer.from(all.subarray(Math.max(end, all.length - searchedBytes)));
    if (end === 0) return;
    const begin = Math.max(0, end - searchedBytes);
    const lines = decode(all.subarray(begin, end)).split(/[\r\n]+/);
    const last = lines
      // The rest of a line may begin in the middle of a secret, which nobody would recognise.
      .slice(begin > 0 ? 1 : 0)
      .map((line) => headOf(sanitize(line), maxLineLength))
      .findLast((line) => line.trim() !== '' && !encoded.test(line.trim()));
    if (last !== undefined) onLine(last);
  };
}
