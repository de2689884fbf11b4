import { stripVTControlCharacters } from 'node:util';

// Also what reorders, line ends that only some see, and tags: text that nobody sees, and a model reads.
const control = String.raw`\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069`;
const controls = new RegExp(`[${control}\\u{e0000}-\\u{e007f}]`, 'gu');
const suspicious = new RegExp(`[${control}\\ud800-\\udfff]`);

/**
 * Text of a model, a tool, a server or a file, made safe for a terminal: no escape sequence, no control but tab and
 * line feed (CRLF becomes a line feed), nothing that reorders. Joined emoji stay as they are.
 */
export function printable(text: string): string {
  if (!suspicious.test(text)) return text;
  // Halves first: what stood between them must not join them.
  return stripVTControlCharacters(text.toWellFormed()).replace(controls, '');
}

/** The styles of our own paint; others can hide text. */
const styles = /(\u001b\[(?:[1-49]|2[2-49]|3[0-79]|9[0-7])m)/;

/** What may go to a terminal at all: printable text and our own styles. Its last gate, whoever forgot to clean. */
export const painted = (text: string): string =>
  text
    .split(styles)
    .map((part, at) => (at % 2 === 0 ? printable(part) : part))
    .join('');

/** `printable` for text that comes in chunks: what may go on in the next one is held until it is whole. */
export function createPrintable(): { push(chunk: string): string; end(): string } {
  let held = '';
  const take = (text: string, kept: string) => {
    held = kept;
    return printable(text.slice(0, text.length - kept.length));
  };
  return {
    push(chunk) {
      const text = held + chunk;
      return take(text, /(?:\u001b[^\u0007\n\u001b]{0,100}|[\ud800-\udbff])$/.exec(text)?.[0] ?? '');
    },
    end: () => take(held, ''),
  };
}

/** Everything that is not seen, or not seen as what it is: controls, format characters, unusual spaces, halves. */
const unseen = /(?![\n\t ])[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}]/gu;

/** Text of which nothing hides: what is not seen is spelled out, as `\x1b` or `\u202e`. */
export const escaped = (text: string): string =>
  text.replace(unseen, (char) => {
    const code = char.codePointAt(0) ?? 0;
    if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`;
    return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\u{${code.toString(16)}}`;
  });

/** Untrusted words within a line of ours: on one line, nothing hides, not too long. */
export function inLine(text: string, most = 300): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return escaped(line.length <= most ? line : `${line.slice(0, most)}…`);
}
