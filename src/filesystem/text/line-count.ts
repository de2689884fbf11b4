import { nextLine, type Encoding } from './text-file.ts';

/**
 * How many line feeds there are between two bytes. In encodings with one byte for it, four at once are looked at: a
 * byte is zero where adding 0x7f to its lower bits carries nothing (Warren, Hacker's Delight, 6-1), and each byte of
 * `found` counts up to 255 of them.
 */
export function countLines(bytes: Buffer, from: number, to: number, encoding: Encoding): number {
  if (encoding.unit === 2) return countWide(bytes, from, to, encoding);
  let count = 0;
  let at = from;
  for (; at < to && (bytes.byteOffset + at) % 4 !== 0; at++) if (bytes[at] === 10) count++;
  // A view of no words could still begin at a byte where none may.
  if (at === to) return count;
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + at, (to - at) >> 2);
  for (let start = 0; start < words.length; start += 255) {
    const end = Math.min(words.length, start + 255);
    let found = 0;
    for (let word = start; word < end; word++) {
      const lined = (words[word] as number) ^ 0x0a0a0a0a;
      const others = ((lined & 0x7f7f7f7f) + 0x7f7f7f7f) | lined | 0x7f7f7f7f | 0;
      found = (found + (~others >>> 7)) | 0;
    }
    count += (found & 255) + ((found >>> 8) & 255) + ((found >>> 16) & 255) + (found >>> 24);
  }
  for (at += 4 * words.length; at < to; at++) if (bytes[at] === 10) count++;
  return count;
}

function countWide(bytes: Buffer, from: number, to: number, encoding: Encoding): number {
  const part = bytes.subarray(0, to);
  let count = 0;
  for (let at = nextLine(part, from, encoding); at !== -1; at = nextLine(part, at, encoding)) count++;
  return count;
}
