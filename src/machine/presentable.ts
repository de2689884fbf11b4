// Escape sequences (CSI, OSC and the other string commands, two-character ones), by ECMA-48.
// oxlint-disable-next-line no-control-regex
const escapes =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|[ -/]*[0-~])/g;
// Controls but tab and line feed; bidirectional overrides and isolates; zero-width marks; tag characters.
// oxlint-disable-next-line no-control-regex
const invisible =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/** Text that is safe to show to a model and in a terminal: nothing that hides, reorders or commands. */
export function presentable(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(escapes, '').replaceAll(invisible, '');
}

/** About 4,000 tokens: code and logs have about four characters a token. */
export const inlineLimit = 16_000;

/** The head and the tail of a text when it is longer than `most` characters, with the fact stated between them. */
export function headAndTail(text: string, most = inlineLimit, alreadyOmitted = 0): string {
  if (text.length <= most && alreadyOmitted === 0) return text;
  const half = Math.floor(most / 2);
  const head = text.slice(0, half).replace(/[\ud800-\udbff]$/, '');
  const tail = text.slice(-half).replace(/^[\udc00-\udfff]/, '');
  const omitted =
    text.length <= most ? alreadyOmitted : text.length - head.length - tail.length + alreadyOmitted;
  return `${head}\n[… ${omitted.toLocaleString('en')} characters left out here …]\n${tail}`;
}
