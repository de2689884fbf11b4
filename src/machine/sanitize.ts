import { headOf, tailOf } from '../core/cut-text.ts';

// Escape sequences by ECMA-48: CSI, OSC and the other string commands, and two-character ones. A string that
// does not end within its line does not count, because it would hide all that follows.
const escapes =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)|[ -/]*[0-~])/g;
// Characters that Unicode calls controls (but not tab and line feed), bidirectional marks, default ignorable,
// or no character: marks without width, fillers, deprecated and musical formats, tag characters, variation
// selectors. The two joiners and the two selectors of emoji are handled below, because scripts and emoji need
// them.
const ignorable = '[\\p{Default_Ignorable_Code_Point}\\p{Noncharacter_Code_Point}\\ufff9-\\ufffb]';
const invisible = new RegExp(
  `[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]|(?![\\u200c\\u200d\\ufe0e\\ufe0f])${ignorable}`,
  'gu',
);
// No script puts more than eight marks on a letter; hundreds would cover the lines around it.
const flood = /(\p{M}{8})\p{M}+/gu;
// Characters that neither hide, join, nor stand on another, enough for most texts: ASCII, Latin, Greek,
// Cyrillic, punctuation, symbols, Chinese, Japanese, Korean.
const simple = new RegExp(
  '^[\\t\\n -~\\u00a0-\\u00ac\\u00ae-\\u02ff\\u0370-\\u0482\\u048a-\\u0590\\u1e00-\\u1fff\\u2010-\\u2027' +
    '\\u2030-\\u205f\\u2070-\\u20cf\\u2100-\\u2cee\\u2e80-\\u3029\\u3030-\\u3098\\u309b-\\u3163' +
    '\\u3165-\\ua63f\\uac00-\\ud7a3\\uf900-\\ufaff\\uff01-\\uff9f]*$',
);

// A joiner or selector is useful only after a character that is not ASCII, after an emoji with its selector,
// or in a keycap after a digit. All others join nothing, and a long row of them can spell text.
const joiner = '[\\u200c\\u200d\\ufe0e\\ufe0f]';
const joined = '[^\\0-\\u007f\\u200c\\u200d\\ufe0e\\ufe0f]';
const useless = new RegExp(
  String.raw`(?<!${joined})(?<!${joined}\ufe0f(?=\u200d))(?<![\d#*](?=\ufe0f\u20e3))${joiner}`,
  'gu',
);

/**
 * Removes all that hides, reorders or controls text, so that the rest is safe to show to a model and in a
 * terminal.
 */
export function sanitize(text: string): string {
  if (simple.test(text)) return text;
  let shown = text.toWellFormed();
  // Splitting is thirty times as fast as a pattern where there are millions of line ends.
  for (const end of ['\r\n', '\r', '\u2028', '\u2029']) shown = shown.split(end).join('\n');
  const harmless = shown.replaceAll(escapes, '').replaceAll(invisible, '');
  return harmless.replaceAll(useless, '').replaceAll(flood, '$1');
}

/**
 * Characters that a result shows inline: about 4,000 tokens, as code and logs have about four characters a
 * token.
 */
export const inlineLimit = 16_000;

/**
 * Shortens a text of more than `most` characters to its head and tail. The line between them states how much
 * was left out, and `whole` says where the whole text is (` …` when nowhere).
 */
export function headAndTail(text: string, most = inlineLimit, alreadyOmitted = 0, whole = ' …'): string {
  if (text.length <= most && alreadyOmitted === 0) return text;
  // Text that was omitted earlier lay in the middle.
  const half = Math.floor(Math.min(most, text.length) / 2);
  const head = headOf(text, half);
  const tail = text.length <= most ? text.slice(head.length) : tailOf(text, half);
  const omitted =
    text.length <= most ? alreadyOmitted : text.length - head.length - tail.length + alreadyOmitted;
  return `${head}\n[… ${omitted.toLocaleString('en')} characters left out here${whole}]\n${tail}`;
}
