import { headOf } from '../../core/cut-text.ts';

/** Bytes of a value that are shown: enough to tell what it is, which is all that hexadecimal tells a reader. */
const shownBytes = 256;

/** A text, cut where it has more characters than are kept, which is said at its end. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = headOf(text, most);
  return `${head}… [${text.length - head.length} more characters]`;
}

/** Bytes that come in hexadecimal, as `\x0102`, with their number when not all are there. */
export function hexOf(hex: string, most: number): string {
  const shown = Math.min(shownBytes * 2, most);
  return hex.length <= shown ? `\\x${hex}` : `\\x${hex.slice(0, shown)}… [${hex.length / 2} bytes]`;
}
