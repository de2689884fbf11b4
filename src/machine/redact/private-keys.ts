interface Range {
  readonly start: number;
  readonly end: number;
}

/** By what a private key is found; each at least three characters, and seldom in other texts. */
export const keyMarks = ['PRIVATE KEY', 'LS0tLS1CRUdJTi', 'PuTTY-User-Key-File-'] as const;

const opens = /-{4,5} ?(?:BEGIN|END) [A-Z0-9 ]{0,40}$/;
const closes = /PRIVATE KEY(?: BLOCK)? ?-{4,5}/y;
const ending = /-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}/y;
// What stands between the lines of a key: line ends, also escaped ones, the quotes and plus signs of source code, line
// numbers, marks of diffs. No two of these begin alike, so there is one way to match.
const between = String.raw`(?:[\s"'\\|>:,-]|\+(?=\s)|(?<=\\)[nrt]|\d{1,7}(?=[\t:|-])){0,60}`;
const header = new RegExp(String.raw`${between}[A-Z][A-Za-z-]{2,20}: [^\n\\]{1,120}`, 'y');
const line = new RegExp(String.raw`${between}[A-Za-z0-9+/=]{40,}`, 'y');
// The last line is shorter, and comes with a checksum in PGP.
const lastLine = new RegExp(String.raw`${between}[A-Za-z0-9+/=]{1,39}(?![\w.(-])`, 'y');
const tail = new RegExp(`${between}=?[A-Za-z0-9+/]{0,6}${between}`, 'y');

/**
 * The private key that begins or ends at a mark, in a text of which the head or tail may be missing: without its end, it
 * goes as far as lines look like those of a key. Undefined when a mark stands there without a key. `from` is how far
 * back it may reach.
 */
export function privateKeyAt(text: string, at: number, from: number): Range | undefined {
  if (text.startsWith('LS0t', at)) return encodedKey(text, at);
  if (text.startsWith('PuTTY', at)) return puttyKey(text, at);
  const body = after(closes, text, at);
  const before = text.slice(Math.max(from, at - 60), at);
  const opening = opens.exec(before);
  if (body === undefined || !opening) return undefined;
  const start = at - opening[0].length;
  return opening[0].includes('BEGIN ') ? downwards(text, start, body) : upwards(text, start, body, from);
}

function downwards(text: string, start: number, first: number): Range | undefined {
  let at = first;
  for (let headers = 0; headers < 5; headers++) at = after(header, text, at) ?? at;
  const body = at;
  for (let next = after(line, text, at); next !== undefined; next = after(line, text, at)) at = next;
  // Source code that looks for the mark has it without a key.
  if (at === body && !isCut(text, at)) return undefined;
  // Where the last line is a whole one, the end of the key looks like one more.
  const afterLines = at;
  at = after(lastLine, text, at) ?? at;
  const beforeEnd = after(tail, text, at) ?? at;
  for (const candidate of [at, ...dashesBefore(text, afterLines, beforeEnd)]) {
    const found = after(ending, text, candidate);
    if (found !== undefined) return { start, end: found };
  }
  return { start, end: at };
}

/** A key of which little more than the mark is left. */
const isCut = (text: string, at: number): boolean =>
  text.length - at < 60 && /^(?:\s|\\[nr])+[A-Za-z0-9+/=]{4,}\s*$/.test(text.slice(at));

function* dashesBefore(text: string, at: number, end: number): Generator<number> {
  const found = text.indexOf('----', at);
  if (found >= 0 && found <= end + 5) yield found;
}

/** More than a line of a key has, with a line number in front. */
const widest = 200;

/** The lines of a key above its end, where its beginning is missing. */
function upwards(text: string, at: number, last: number, from: number): Range | undefined {
  if (!/[\sn"']/.test(text.charAt(at - 1))) return undefined;
  let start = at;
  let isShort = true;
  while (start > from) {
    const above = lineAbove(text, start, from);
    const here = text.slice(above, start);
    const fits =
      /[A-Za-z0-9+/=]{40}/.test(here) ||
      (isShort && /^\W{0,20}\d{0,7}\W{0,20}[A-Za-z0-9+/=]{0,40}\W{0,20}$/.test(here));
    if (!fits || start - above >= widest) break;
    isShort = false;
    start = above;
  }
  return start === at ? undefined : { start, end: last };
}

/** Where the line before a line begins. In a string of source code or JSON, `\n` ends a line. */
function lineAbove(text: string, start: number, from: number): number {
  const lowest = Math.max(from, start - widest);
  const before = text
    .slice(lowest, start)
    .replace(/(?:\n|\\n)[\s"'+]{0,20}$/, (lineEnd) => ' '.repeat(lineEnd.length));
  const ends = Math.max(
    before.lastIndexOf('\n') + 1,
    before.lastIndexOf('\\n') + (before.includes('\\n') ? 2 : 1),
  );
  return lowest + ends;
}

/** A key file in base64 once more, as in a kubeconfig. Certificates begin alike, and are public. */
function encodedKey(text: string, at: number): Range | undefined {
  const head = Buffer.from(text.slice(at, at + 80), 'base64').toString('latin1');
  if (!/^-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/.test(head)) return undefined;
  const until = after(/[A-Za-z0-9+/=_-]+/y, text, at);
  return until === undefined ? undefined : { start: at, end: until };
}

function puttyKey(text: string, at: number): Range | undefined {
  if (!/^PuTTY-User-Key-File-\d: /.test(text.slice(at, at + 24))) return undefined;
  const found = text.slice(at, at + 20_000).search(/\nPrivate-Lines: \d/);
  if (found < 0) return undefined;
  const start = text.indexOf('\n', at + found + 1);
  if (start < 0) return undefined;
  let until = start;
  for (let next = after(line, text, until); next !== undefined; next = after(line, text, until)) until = next;
  until = after(lastLine, text, until) ?? until;
  return { start: start + 1, end: until };
}

/** Where a match that begins at `at` ends. */
function after(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
