import type { FileHandle } from 'node:fs/promises';
import { ToolcribError } from '../core/errors.ts';
import { nextLine, type Encoding } from './text-file.ts';

/** A text file that has been opened, and what is known of it. */
export interface TextFile {
  readonly handle: FileHandle;
  readonly size: number;
  readonly encoding: Encoding;
  /** The bytes it begins with: all of a small file, so that it is read once. */
  readonly head: Buffer;
}

/** One line, as much of it as is shown. */
export interface Line {
  readonly bytes: Buffer;
  /** Whether `bytes` is only its beginning. */
  readonly cut: boolean;
  /** Whether `bytes` is only its end. */
  readonly headless: boolean;
  /** Where the next line begins; undefined when that was too far away to look for. */
  readonly end: number | undefined;
}

export const chunkBytes = 64 * 1024;
const scanBytes = 256 * 1024;
/** Bytes kept of a long line: enough for the 2,000 characters that are shown of it. */
const lineBytes = 8_000;
/** Bytes kept of a long line when only its end is shown. */
const endBytes = 2_000;
/** How far to look for the end of a long line when lines after it are wanted too. */
const longestSkip = 1024 * 1024;

/** Up to `count` bytes from a position; fewer only at the end of the file. */
export async function readAt({ handle, head }: TextFile, position: number, count: number): Promise<Buffer> {
  if (position + count <= head.length) return head.subarray(position, position + count);
  return fill(handle, Buffer.allocUnsafe(count), position);
}

/** Reads until the buffer is full or the file ends: one read may bring less than is there. */
export async function fill(handle: FileHandle, buffer: Buffer, position: number): Promise<Buffer> {
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/**
 * The byte where a line begins, or how many lines there are when there are fewer. Reads on from `from`, the first
 * byte of line 1. Throws CANCELLED, and TOO_LARGE with the line it got to when `untilMs` is over.
 */
export async function findLine(file: TextFile, line: number, signal: AbortSignal, untilMs: number) {
  const { encoding, handle } = file;
  let reached = 1;
  let start: number = encoding.mark;
  if (line === 1) return { start };
  const buffer = Buffer.allocUnsafe(scanBytes);
  for (let position = start; ; position += scanBytes) {
    const chunk = await fill(handle, buffer, position);
    for (let at = nextLine(chunk, 0, encoding); at !== -1; at = nextLine(chunk, at, encoding)) {
      start = position + at;
      if (++reached === line && start < file.size) return { start };
    }
    // A line feed at the very end ends the last line and begins no other.
    if (chunk.length < scanBytes) return { lines: position + chunk.length > start ? reached : reached - 1 };
    if (signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
    if (performance.now() > untilMs) throw tooFar(line, reached, start);
  }
}

const tooFar = (line: number, reached: number, start: number): ToolcribError =>
  new ToolcribError(
    'TOO_LARGE',
    `Line ${line} was not reached in time; line ${reached} begins at byte ${start}.`,
    `Read on with bytes {"from": ${start}}, or read the end with tail.`,
  );

/** The lines from the one that begins at byte `start`. Long ones are cut; none is kept whole in memory. */
export async function* linesFrom(file: TextFile, start: number): AsyncGenerator<Line> {
  const { encoding, size } = file;
  let position = start;
  let chunk = await readAt(file, position, chunkBytes);
  let at = 0;
  while (position + at < size && at < chunk.length) {
    const end = nextLine(chunk, at, encoding);
    const last = chunk.length < chunkBytes;
    if (end !== -1 || last) {
      const bytes = chunk.subarray(at, end === -1 ? chunk.length : end);
      yield {
        bytes: bytes.subarray(0, lineBytes),
        cut: bytes.length > lineBytes,
        headless: false,
        end: position + at + bytes.length,
      };
      at += bytes.length;
      continue;
    }
    if (at > 0) {
      position += at;
    } else {
      const next = await endOfLine(file, position + chunk.length);
      yield { bytes: Buffer.from(chunk.subarray(0, lineBytes)), cut: true, headless: false, end: next };
      if (next === undefined) return;
      position = next;
    }
    at = 0;
    chunk = await readAt(file, position, chunkBytes);
  }
}

async function endOfLine(file: TextFile, from: number): Promise<number | undefined> {
  for (let position = from; position < from + longestSkip; position += scanBytes) {
    const chunk = await readAt(file, position, scanBytes);
    const end = nextLine(chunk, 0, file.encoding);
    if (end !== -1) return position + end;
    if (chunk.length < scanBytes) return position + chunk.length;
  }
  return undefined;
}

/** The last `count` lines, and the byte where they begin. Reads one chunk at most: more is never shown. */
export async function lastLines(file: TextFile, count: number): Promise<{ lines: Line[]; start: number }> {
  const { encoding, size } = file;
  const from = Math.max(encoding.mark, size - chunkBytes);
  // In UTF-16 a character begins at even bytes.
  const start = from + ((from - encoding.mark) % encoding.unit);
  const chunk = await readAt(file, start, size - start);
  const starts = [0];
  for (
    let at = nextLine(chunk, 0, encoding);
    at !== -1 && at < chunk.length;
    at = nextLine(chunk, at, encoding)
  )
    starts.push(at);
  // The chunk begins somewhere inside its first line.
  const partial = start > encoding.mark;
  const headless = partial && starts.length === 1;
  if (partial && !headless) starts.shift();
  const kept = starts.slice(-count);
  const lines = kept.map((at, index): Line => {
    const end = kept[index + 1] ?? chunk.length;
    const shown = headless ? [end - endBytes, end] : [at, Math.min(end, at + lineBytes)];
    const bytes = withoutPartialStart(chunk.subarray(...shown), encoding);
    return { bytes, cut: !headless && end - at > lineBytes, headless, end: start + end };
  });
  return { lines, start: start + (kept[0] ?? 0) };
}

/** Bytes that begin in the middle of a UTF-8 character, from the next one on. */
export function withoutPartialStart(bytes: Buffer, { label }: Encoding): Buffer {
  let start = 0;
  while (label === 'utf-8' && start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return bytes.subarray(start);
}
