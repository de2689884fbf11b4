/** Characters between words, of prose, code and data alike. */
const gap = /[ \t\r\n"'`,;<>()[\]{}|]/;
/** Characters that are given up at most, so as not to cut a word in two: more than most tokens have. */
const longestWord = 1024;

/**
 * The first characters of a text, at most so many. It is cut between words where that is near, since half a
 * secret is recognised by nobody; never within a character.
 */
export function headOf(text: string, most: number): string {
  if (text.length <= most) return text;
  const least = most - Math.min(longestWord, most / 2);
  for (let at = most; at > least; at--) if (gap.test(text.charAt(at))) return text.slice(0, at);
  return text.slice(0, Math.max(0, most)).replace(/[\ud800-\udbff]$/, '');
}

/** The last characters of a text, cut in the same way. */
export function tailOf(text: string, most: number): string {
  if (text.length <= most) return text;
  const first = text.length - most;
  const last = first + Math.min(longestWord, most / 2);
  for (let at = first; at < last; at++) if (gap.test(text.charAt(at - 1))) return text.slice(at);
  return text.slice(first).replace(/^[\udc00-\udfff]/, '');
}
