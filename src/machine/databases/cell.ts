import { headOf } from '../../core/cut-text.ts';
import { parseExactly } from '../../core/exact-json.ts';

/** Bytes of a value that are shown: enough to tell what it is, which is all that hexadecimal tells a reader. */
const shownBytes = 256;

/** Characters of a value that are kept: twice what is shown of one, the rest being for who reads the rows kept. */
const keptCharacters = 8000;

/** A text, cut where it has more characters than are kept, which is said at its end. */
export function shortened(text: string, most = keptCharacters): string {
  if (text.length <= most) return text;
  const head = headOf(text, most);
  return `${head}… [${text.length - head.length} more characters]`;
}

/** Bytes that come in hexadecimal, as `\x0102`. */
export const hexOf = (hex: string): string => shortened(`\\x${hex}`, shownBytes * 2 + 2);

/** What a column of JSON holds; a text where that is none to us: MariaDB's can be any, PostgreSQL's can be too deep. */
export function jsonOf(text: string): unknown {
  if (text.length > keptCharacters) return shortened(text);
  try {
    return parseExactly(text);
  } catch {
    // Shown as it came.
    return text;
  }
}
