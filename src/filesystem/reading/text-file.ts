import type { Stats } from 'node:fs';
import type { OpenFile } from '../../machine/paths/opened.ts';
import type { Encoding } from '../text/encoding.ts';

/** A text, and what is known of it. */
export interface TextFile {
  /** What it is called in messages. */
  readonly name: string;
  /** Bytes that are looked at: those it had when it was opened. What is appended meanwhile comes with the next call. */
  readonly size: number;
  readonly stat: Stats;
  readonly encoding: Encoding;
  /** The bytes it begins with: all of a small file. */
  readonly head: Buffer;
  /** Where the rest is read from. */
  readonly handle: OpenFile;
}

/** Up to `count` bytes from a position; fewer at the end of the file, and where it has been shortened meanwhile. */
export async function readAt(file: TextFile, position: number, count: number): Promise<Buffer> {
  const { handle, head, size } = file;
  const end = Math.max(position, Math.min(position + count, size));
  if (end <= head.length) return head.subarray(position, end);
  return fill(handle, Buffer.allocUnsafe(end - position), position);
}

/** Reads until the buffer is full or the file ends: one read may bring less than is there. */
export async function fill(handle: OpenFile, buffer: Buffer, position: number): Promise<Buffer> {
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
