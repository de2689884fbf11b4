import { asWindows1252 } from '../../machine/windows-1252.ts';

const ascii = Uint8Array.from({ length: 128 }, (_, byte) => byte);
const upper = Uint8Array.from({ length: 128 }, (_, byte) => 128 + byte);

/** What the 256 bytes of a single-byte encoding mean; U+FFFD where a byte means nothing. */
export function codePage(label: string): string {
  const text = new TextDecoder(label).decode(upper);
  // ICU swaps some controls in IBM's code pages, which nobody else does.
  return Buffer.from(ascii).toString('latin1') + (label === 'windows-1252' ? asWindows1252(text) : text);
}
