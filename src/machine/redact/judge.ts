/** What stands for a secret in examples, templates and code. */
const standIn =
  /^(?:[*x.•#-]+|\$?[<{[(].*|\$[A-Za-z_]+|%[A-Za-z_]+%?|pass(?:word|wd|phrase)?|pwd?|secret|token|key|change-?me|example|none|null|undefined|true|false|redacted|hidden)$/i;
/** Words of instructions (`your-api-key`, `MY_TOKEN_HERE`, `accessToken`), and what a template puts in. */
const instruction =
  /your[-_ ]?|[-_]here\b|example|placeholder|\$\{|\{\{|^(?:[a-z]+[-_]?)?(?:token|secret|password|jwt|api_?key)s?$/i;

/** Whether a text was made by chance, as tokens are: letters and digits, and many different ones. */
export function looksRandom(text: string): boolean {
  // A long one need not be looked at whole.
  const head = text.slice(0, 80);
  // Of 32 random hexadecimal digits at least 9 are different, but for one text in a million.
  if (new Set(head).size < Math.min(9, head.length / 3)) return false;
  if (!/[A-Za-z]/.test(head)) return false;
  return /\d/.test(head) || (/[A-Z]{2}/.test(head) && /[a-z]/.test(head) && !/[_-]/.test(head));
}

/** Whether a text can be a password somebody has chosen, and is no stand-in for one. */
export const looksChosen = (text: string): boolean => !standIn.test(text) && !instruction.test(text);

/**
 * Whether a value is one that stands in ordinary text as well: masking it everywhere would spoil results, and would tell
 * what it is.
 */
export function isCommon(value: string): boolean {
  const text = value.trim();
  if (text.length < 8) return true;
  // Numbers up to the length of a telephone number or a time in milliseconds.
  if (/^[\d.,:_+-]+$/.test(text)) return text.length < 16;
  if (/^(?:[a-z]+|[A-Z]+|[A-Z][a-z]+)$/.test(text)) return text.length < 15;
  // A few words: `github-actions`, `LocalDevelopment`. A passphrase is longer.
  if (
    /^[A-Za-z][a-z]*(?:[A-Z][a-z]{2,}|[-_. ][A-Za-z][a-z]*)*$/.test(text) ||
    /^[A-Z]+(?:_[A-Z]+)*$/.test(text)
  )
    return text.length < 21;
  return standIn.test(text) || new Set(text).size < 3;
}
