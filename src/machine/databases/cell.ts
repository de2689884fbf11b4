/** A text, cut where it is longer than is kept, which is said at its end. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
  return `${head}… [${text.length - head.length} more characters]`;
}

/** Bytes of a value that are shown: enough to tell what it is, which is all that hexadecimal tells a reader. */
const shownBytes = 256;

/** Bytes that come in hexadecimal, as `\x0102`, with their number when not all are there. */
export function hexOf(hex: string, most: number): string {
  const shown = Math.min(shownBytes * 2, most);
  if (hex.length <= shown) return `\\x${hex}`;
  return `\\x${hex.slice(0, shown)}… [${hex.length / 2} bytes]`;
}
