import type { OpenFile } from '../../machine/paths/open-file.ts';
import type { Opened } from '../../machine/paths/opened.ts';
import type { Loan } from './read-buffers.ts';
import { nextLine, type Encoding } from '../text/text-file.ts';

/** A text, and what is known of it. */
export interface TextFile {
  /** What it is called in messages. */
  readonly name: string;
  /** Bytes that are looked at: those it had when it was opened. What is appended meanwhile comes with the next call. */
  readonly size: number;
  readonly encoding: Encoding;
  /** Whether the caller chose the encoding: then there is no other to fall back to. */
  readonly chosen: boolean;
  /** The bytes it begins with: all of a small file, so that it is read once. */
  readonly head: Buffer;
  /** Where the rest is read from; undefined when there is none. */
  readonly opened: Opened | undefined;
  /** What is read goes into these, so it must not be kept longer than the call lasts. */
  readonly loan: Loan;
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

/** Up to `count` bytes from a position; fewer at the end of the file, and where it has been shortened meanwhile. */
export async function readAt(file: TextFile, position: number, count: number): Promise<Buffer> {
  const { opened, head, size, loan } = file;
  const end = Math.min(position + count, size);
  if (end <= head.length || !opened) return head.subarray(position, end);
  return fill(opened.handle, loan.take(Math.max(0, end - position)), position);
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

/** Enough lines: so many, or so many bytes of them. */
interface Enough {
  readonly lines: number;
  readonly bytes: number;
}

/** The lines from the one that begins at byte `start`. Long ones are cut; none is kept whole in memory. */
export async function linesFrom(file: TextFile, start: number, enough: Enough): Promise<Line[]> {
  const lines: Line[] = [];
  let scratch: Buffer | undefined;
  let kept = 0;
  let position = start;
  const keep = (bytes: Buffer, end: number | undefined) => {
    const cut = bytes.length > lineBytes || end !== position + bytes.length;
    lines.push({ bytes: bytes.subarray(0, lineBytes), cut, headless: false, end });
    kept += Math.min(bytes.length, lineBytes);
  };
  const isEnough = () => lines.length >= enough.lines || kept > enough.bytes;

  while (position < file.size && !isEnough()) {
    const chunk = await readAt(file, position, chunkBytes);
    // Also where it has been shortened meanwhile.
    const isLast = chunk.length < chunkBytes;
    const before = lines.length;
    for (let at = 0; at < chunk.length && !isEnough();) {
      const found = nextLine(chunk, at, file.encoding);
      if (found === -1 && !isLast) break;
      const end = found === -1 ? chunk.length : found;
      keep(chunk.subarray(at, end), position + end - at);
      position += end - at;
      at = end;
    }
    if (chunk.length === 0) break;
    if (lines.length > before) continue;
    // A line as long as the chunk or longer.
    scratch ??= file.loan.take(scanBytes);
    const end = await endOfLine(file, position + chunk.length, scratch);
    keep(chunk, end);
    if (end === undefined) break;
    position = end;
  }
  return lines;
}

async function endOfLine(file: TextFile, from: number, scratch: Buffer): Promise<number | undefined> {
  const { opened, head, size, encoding } = file;
  if (!opened || head.length === size) {
    const end = nextLine(head, from, encoding);
    return end === -1 ? size : end;
  }
  for (let position = from; position < from + longestSkip; position += scratch.length) {
    const chunk = await fill(opened.handle, scratch.subarray(0, Math.max(0, size - position)), position);
    const end = nextLine(chunk, 0, encoding);
    if (end !== -1) return position + end;
    if (chunk.length < scratch.length) return position + chunk.length;
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
    const shown = headless ? [Math.max(0, end - endBytes), end] : [at, Math.min(end, at + lineBytes)];
    return {
      bytes: chunk.subarray(...shown),
      cut: !headless && end - at > lineBytes,
      headless,
      end: start + end,
    };
  });
  return { lines, start: start + (kept[0] ?? 0) };
}
