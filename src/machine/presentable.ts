import { headOf, tailOf } from '../core/cut-text.ts';

// Escape sequences (CSI, OSC and the other string commands, two-character ones), by ECMA-48. A string that does not end
// within its line is none: it would hide all that follows.
const escapes =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)|[ -/]*[0-~])/g;
// What Unicode calls controls (but tab and line feed), bidirectional marks, default ignorable, or no character: zero-width
// marks, fillers, deprecated and musical formats, tag characters, variation selectors. The two joiners and the two
// selectors of emoji are looked at below: scripts and emoji need them.
const invisible =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|(?!\u200c|\u200d|\ufe0e|\ufe0f)[\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\ufff9-\ufffb]/gu;
// Eight marks on one letter are more than any script writes; hundreds cover the lines around them.
const flood = /(\p{M}{8})\p{M}+/gu;
// Characters of which none hides, joins, or stands on another, for most texts: ASCII, Latin, Greek, Cyrillic, punctuation,
// symbols, Chinese, Japanese, Korean.
const simple =
  /^[\t\n -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u0590\u1e00-\u1fff\u2010-\u2027\u2030-\u205f\u2070-\u20cf\u2100-\u2cee\u2e80-\u3029\u3030-\u3098\u309b-\u3163\u3165-\ua63f\uac00-\ud7a3\uf900-\ufaff\uff01-\uff9f]*$/;

/** Text that is safe to show to a model and in a terminal: nothing that hides, reorders or commands. */
export function presentable(text: string): string {
  if (simple.test(text)) return text;
  const inLines = byCode(text.toWellFormed(), lineEnds, withLineFeeds);
  const harmless = inLines.replaceAll(escapes, '').replaceAll(invisible, '');
  return byCode(harmless, joiners, withUsefulJoiners).replaceAll(flood, '$1');
}

// The same in data, of which nothing is left out; a joiner where it joins nothing, and what makes marks a flood.
const unseen = new RegExp(
  [
    invisible.source,
    String.raw`[\u2028\u2029\p{Cs}]`,
    String.raw`(?<![^\0-\u007f]|[\d#*](?=\ufe0f\u20e3))[\u200c\u200d\ufe0e\ufe0f]`,
    String.raw`(?<=[\u200c\u200d\ufe0e])[\u200c\u200d\ufe0e\ufe0f]|(?<=\ufe0f)[\u200c\ufe0e\ufe0f]`,
    String.raw`(?<=\p{M}{8})\p{M}`,
  ].join('|'),
  'gu',
);

/** Said of data in which something was spelled out. */
export const spelledNote = 'characters that cannot be seen are written as \\u and their number';

/** A value of data that is safe to show: what hides, reorders or commands is written out, as `\u001b`. */
export function spelledOut(text: string): string {
  if (simple.test(text)) return text;
  const codeOf = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return text.replaceAll(unseen, (found, at: number) =>
    found === '\r' && text[at + 1] === '\n' ? found : found.replaceAll(/[^]/g, codeOf),
  );
}

// What is looked for first, since most texts have none of it.
const lineEnds = /[\r\u2028\u2029]/;
const joiners = /\u200c|\u200d|\ufe0e|\ufe0f/;

/**
 * The text as `change` leaves its codes, of which it returns how many there are now. Millions of replacements by a pattern
 * take a second and more; this takes some milliseconds.
 */
function byCode(text: string, needs: RegExp, change: (codes: Uint16Array) => number): string {
  if (!needs.test(text)) return text;
  const bytes = Buffer.from(new ArrayBuffer(text.length * 2));
  bytes.write(text, 'utf16le');
  return bytes.toString('utf16le', 0, change(new Uint16Array(bytes.buffer)) * 2);
}

/** One line feed for each end of a line. */
function withLineFeeds(codes: Uint16Array): number {
  let count = 0;
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    if (code === 0x0a && at > 0 && codes[at - 1] === 0x0d) continue;
    codes[count++] = code;
  }
  for (let at = 0; at < count; at++) {
    const code = codes[at];
    if (code === 0x0d || code === 0x2028 || code === 0x2029) codes[at] = 0x0a;
  }
  return count;
}

/** One selector behind an emoji, one joiner behind what is not ASCII: a long row of them, or one elsewhere, can spell text. */
function withUsefulJoiners(codes: Uint16Array): number {
  let count = 0;
  for (let at = 0; at < codes.length;) {
    if (joinerKind(codes[at]) === undefined) {
      codes[count++] = codes[at++] ?? 0;
      continue;
    }
    const selector =
      joinerKind(codes[at]) === 'selector' && isEmojiBefore(codes, count) ? codes[at] : undefined;
    let joiner: number | undefined;
    for (; joinerKind(codes[at]) !== undefined; at++)
      if (joinerKind(codes[at]) === 'joiner') joiner ??= codes[at];
    const isForeign = count > 0 && (codes[count - 1] ?? 0) > 0x7f;
    if (selector !== undefined) codes[count++] = selector;
    if (joiner !== undefined && isForeign) codes[count++] = joiner;
  }
  return count;
}

/** What joins letters, and what selects the form of an emoji. */
function joinerKind(code: number | undefined): 'joiner' | 'selector' | undefined {
  if (code === 0x200c || code === 0x200d) return 'joiner';
  return code === 0xfe0e || code === 0xfe0f ? 'selector' : undefined;
}

function isEmojiBefore(codes: Uint16Array, end: number): boolean {
  const last = codes[end - 1] ?? 0;
  const isPair = last >= 0xdc00 && last <= 0xdfff && end > 1;
  const base = isPair ? String.fromCharCode(codes[end - 2] ?? 0, last) : String.fromCharCode(last);
  return end > 0 && /^\p{Emoji}$/u.test(base);
}

/** About 4,000 tokens: code and logs have about four characters a token. */
export const inlineLimit = 16_000;

/**
 * The head and the tail of a text when it is longer than `most` characters, with the fact stated between them, and where
 * all of it is to be had: ` …` when nowhere.
 */
export function headAndTail(text: string, most = inlineLimit, alreadyOmitted = 0, whole = ' …'): string {
  if (text.length <= most && alreadyOmitted === 0) return text;
  // What was left out before lies in the middle.
  const half = Math.floor(Math.min(most, text.length) / 2);
  const head = headOf(text, half);
  const tail = text.length <= most ? text.slice(head.length) : tailOf(text, half);
  const omitted =
    text.length <= most ? alreadyOmitted : text.length - head.length - tail.length + alreadyOmitted;
  return `${head}\n[… ${omitted.toLocaleString('en')} characters left out here${whole}]\n${tail}`;
}
