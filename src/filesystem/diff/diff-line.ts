import type { Block } from './changed-blocks.ts';
import { commonPrefix } from './changed-spans.ts';
import { shownText, wholeCharacters } from '../text/exact-encoding.ts';
import type { Encoding } from '../text/text-file.ts';
import { around } from '../text/visible-text.ts';

/** Of a longer line only the part around the difference is shown; such a diff cannot be applied. */
const lineCharacters = 500;
/** A character has at most four bytes. */
const lineBytes = 4 * lineCharacters;
/** Bytes that are shown before the difference. */
const leadBytes = 200;

/** Where a changed line differs from what it was, in bytes from its beginning; 0 where that is not one line for one. */
export const changedBytesAt = (before: Buffer, now: Buffer, block: Block): number =>
  block.removed === 1 && block.added === 1 ? commonPrefix(before, block.from, now, block.nowFrom) : 0;

/** A line as a diff shows it: all of it, or the part around where it differs. */
export function shownLine(
  bytes: Buffer,
  from: number,
  to: number,
  encoding: Encoding,
  differsAt: number,
): string {
  const { label } = encoding;
  // Of a very long one no more is decoded than is shown.
  const start = to - from <= lineBytes ? from : startOf(to - from, differsAt) + from;
  const end = Math.min(to, start + lineBytes);
  const part = wholeCharacters(bytes.subarray(0, to), start, end, encoding);
  const text = shownText(part, label);
  if (start === from && end === to && text.length <= lineCharacters) return text;
  const before = shownText(part.subarray(0, Math.max(0, from + differsAt - start)), label).length;
  const cut = around(text, before, lineCharacters);
  const first = start > from && !cut.startsWith('…') ? '…' : '';
  return first + cut + (end < to && !cut.endsWith('…') ? '…' : '');
}

const startOf = (length: number, differsAt: number): number => {
  const start = Math.max(0, Math.min(differsAt - leadBytes, length - lineBytes));
  return start - (start % 2);
};
