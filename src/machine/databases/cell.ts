import type { CallContext } from '../../core/tool.ts';

/** How a value is shortened. */
export interface Shortening {
  /** Characters of it that are kept. */
  readonly cell: number;
  /** Hides its secrets before it is cut: half a secret is recognised by nobody. */
  readonly hides?: CallContext['hides'];
}

/** As much as the longest secret that is known, or the beginning of a private key. */
const around = 8192;

/** A text, cut where it is longer than is kept, which is said at its end. */
export function shortened(text: string, { cell: most, hides }: Shortening): string {
  if (text.length <= most) return text;
  const looked = text.slice(0, most + around);
  const hidden = hides ? hides({ before: '', text: looked, after: '' }) : looked;
  const head = hidden.slice(0, most).replace(/[\ud800-\udbff]$/, '');
  if (hidden !== looked) return `${head}… [more characters of ${text.length}]`;
  return `${head}… [${text.length - head.length} more characters]`;
}

/** Bytes of a value that are shown: enough to tell what it is, which is all that hexadecimal tells a reader. */
const shownBytes = 256;

/** Bytes that come in hexadecimal, as `\x0102`, with their number when not all are there. */
export function hexOf(hex: string, { cell: most, hides }: Shortening): string {
  const shown = Math.min(shownBytes * 2, most);
  if (hex.length <= shown) return `\\x${hex}`;
  const looked = hex.slice(0, shown + around);
  const hidden = hides ? hides({ before: '', text: looked, after: '' }) : looked;
  return `\\x${hidden.slice(0, shown)}… [${hex.length / 2} bytes]`;
}
