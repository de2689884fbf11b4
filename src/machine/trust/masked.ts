/** What stands in the place of a password or token. */
export const mask = '[masked]';

// Repetitions that others could follow are bounded: what a project brings must not take time in the square of its length.
const named =
  /((?:auth|authident|token|passw(?:or)?d|passphrase|secret|api_?key|access_?key|private_?key|credentials?|extraheader|\bkey)["']?[ \t]*[:=][ \t]*)("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s"',}][^\r\n,}]*)/gi;
const inElement = /(<\w{0,40}(?:password|passphrase|token|secret|privatekey)\w{0,40}>)[^<]{1,5000}(?=<\/)/gi;
const inNetrc = /(\b(?:password|account)[ \t]{1,20})[^\s$`;|&(=:]+/gi;
const inAddress = /(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@"']{0,200}:)[^\s/@"']{1,1000}(?=@)/gi;
/** Tokens that are known by how they begin: GitHub, npm, GitLab, Slack, AWS, PyPI. */
const shaped = /\b(?:gh[pousr]_|github_pat_|npm_|glpat-|xox[abprs]-|AKIA|pypi-)[\w-]{12,}/g;

/**
 * A text without its passwords and tokens. Only where people keep such (`secret`) by the names they are given; everywhere
 * in addresses and by their shapes. What a shell would run inside of a value stays to be seen.
 */
export function masked(text: string, secret: boolean): string {
  const known = text.replaceAll(shaped, mask).replaceAll(inAddress, `$1${mask}`);
  if (!secret) return known;
  const hide = (whole: string, before: string, value: string) =>
    /\$\(|`/.test(value) ? whole : `${before}${mask}`;
  return known.replaceAll(named, hide).replaceAll(inElement, `$1${mask}`).replaceAll(inNetrc, `$1${mask}`);
}
