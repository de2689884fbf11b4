import { StringDecoder } from 'node:string_decoder';
import { headOf } from '../core/cut-text.ts';
import { decode } from './decode.ts';
import { presentable } from './presentable.ts';

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

/** Characters of a line that are told, and those that are kept to tell it. */
const longestTold = 500;
const longestLine = 16_000;
/** Tells nobody anything, and may be a line of a private key, which is not known for one alone. */
const encoded = /^[A-Za-z0-9+/=]{40,}$/;

/** Calls back with each complete line that says something; of a long one, with its beginning. */
function lineSplitter(onLine: (line: string) => void): (chunk: Buffer) => void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return (chunk) => {
    const lines = (rest + decoder.write(chunk)).split(/[\r\n]+/);
    rest = (lines.pop() ?? '').slice(0, longestLine);
    for (const line of lines) {
      const shown = headOf(presentable(line.slice(0, longestLine)), longestTold);
      if (shown.trim() !== '' && !encoded.test(line.trim())) onLine(shown);
    }
  };
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
