// Escape sequences (CSI, OSC and the other string commands, two-character ones), by ECMA-48. A string that does not end
// within its line is none: it would hide all that follows.
const escapes =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)|[ -/]*[0-~])/g;
// What Unicode calls controls (but tab and line feed), bidirectional marks, default ignorable, or no character: zero-width
// marks, fillers, deprecated and musical formats, tag characters, variation selectors. The two joiners and the two
// selectors of emoji are looked at below: scripts and emoji need them.
const invisible =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|(?!\u200c|\u200d|\ufe0e|\ufe0f)[\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\ufff9-\ufffb]/gu;
// What joins letters or selects the form of an emoji, and what it stands behind.
const joiners = /(^|(?!\u200c|\u200d|\ufe0e|\ufe0f)[^])((?:\u200c|\u200d|\ufe0e|\ufe0f)+)/gu;
// Eight marks on one letter are more than any script writes; hundreds cover the lines around them.
const flood = /(\p{M}{8})\p{M}+/gu;
const lineEnd = /\r\n?|[\u2028\u2029]/g;
// Characters of which none hides, joins, or stands on another, for most texts: ASCII, Latin, Greek, Cyrillic, punctuation,
// symbols, Chinese, Japanese, Korean.
const simple =
  /^[\t\n -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u0590\u1e00-\u1fff\u2010-\u2027\u2030-\u205f\u2070-\u20cf\u2100-\u2cee\u2e80-\u3029\u3030-\u3098\u309b-\u3163\u3165-\ua63f\uac00-\ud7a3\uf900-\ufaff\uff01-\uff9f]*$/;

/** Text that is safe to show to a model and in a terminal: nothing that hides, reorders or commands. */
export function presentable(text: string): string {
  if (simple.test(text)) return text;
  return text
    .toWellFormed()
    .replaceAll(lineEnd, '\n')
    .replaceAll(escapes, '')
    .replaceAll(invisible, '')
    .replaceAll(joiners, usefulJoiners)
    .replaceAll(flood, '$1');
}

/** One selector behind an emoji, one joiner behind what is not ASCII: a long row of them, or one elsewhere, can spell text. */
function usefulJoiners(_: string, base: string, row: string): string {
  const selector = /^\p{Emoji}$/u.test(base) ? (/^[\ufe0e\ufe0f]/.exec(row)?.[0] ?? '') : '';
  const joiner = base > '\u007f' ? (/[\u200c\u200d]/.exec(row)?.[0] ?? '') : '';
  return base + selector + joiner;
}

/** About 4,000 tokens: code and logs have about four characters a token. */
export const inlineLimit = 16_000;

/**
 * The head and the tail of a text when it is longer than `most` characters, with the fact stated between them, and where
 * all of it is to be had: ` …` when nowhere.
 */
export function headAndTail(text: string, most = inlineLimit, alreadyOmitted = 0, whole = ' …'): string {
  if (text.length <= most && alreadyOmitted === 0) return text;
  const half = Math.floor(most / 2);
  const head = text.slice(0, half).replace(/[\ud800-\udbff]$/, '');
  const tail = text.slice(-half).replace(/^[\udc00-\udfff]/, '');
  const omitted =
    text.length <= most ? alreadyOmitted : text.length - head.length - tail.length + alreadyOmitted;
  return `${head}\n[… ${omitted.toLocaleString('en')} characters left out here${whole}]\n${tail}`;
}
