/**
 * The longest parameters of a control sequence, and the longest title, link or clipboard text, that are taken for
 * one.
 */
const most = { parameters: 64, text: 2048 };

// ECMA-48. CSI: parameters, intermediates, a final byte. OSC, DCS, SOS, PM, APC: text up to BEL or ST. Others: two
// characters. The text of a string ends at any control: one that is never closed hides nothing, it only loses its
// beginning.
const parameters = `[0-?]{0,${most.parameters}}[ -/]{0,8}`;
const content = `[^\\u0000-\\u001f\\u007f-\\u009f]{0,${most.text}}`;
const csi = `(?:\\u001b\\[|\\u009b)${parameters}`;
const string = `(?:\\u001b[\\]PX^_]|[\\u0090\\u0098\\u009d-\\u009f])${content}`;
const other = `\\u001b[ -/]{0,8}`;
const sequences = new RegExp(`${csi}[@-~]|${string}(?:\\u0007|\\u009c|\\u001b\\\\)|${other}[0-~]`, 'g');
/** What may be the beginning of a sequence, or the first half of a character, at the end of a chunk. */
const unfinished = new RegExp(`(?:${csi}|${string}\\u001b?|${other}|[\\ud800-\\udbff])$`);

// Also what reorders, line ends that only some see, and tags: text that nobody sees, and a model reads.
const control = String.raw`\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069`;
const controls = new RegExp(`[${control}\\u{e0000}-\\u{e007f}]`, 'gu');
const suspicious = new RegExp(`[${control}\\ud800-\\udfff]`);
const loneSurrogates = /\p{Surrogate}/gu;

/**
 * Text of a model, a tool, a server or a file, made safe for a terminal: no escape sequence, no control but tab and
 * line feed (CRLF becomes a line feed), nothing that reorders. Joined emoji stay as they are.
 */
export function printable(text: string): string {
  if (!suspicious.test(text)) return text;
  // Halves first: what stood between them must not join them.
  return text.replace(loneSurrogates, '\ufffd').replace(sequences, '').replace(controls, '');
}

/** The styles of our own paint; others can hide text. */
const styles = /(\u001b\[(?:[1-49]|2[2-49]|3[0-79]|9[0-7])m)/;

/**
 * What may go to a terminal at all: printable text and our own styles. Its last gate, whoever forgot to clean
 * something.
 */
export const painted = (text: string): string =>
  text
    .split(styles)
    .map((part, at) => (at % 2 === 0 ? printable(part) : part))
    .join('');

/**
 * `printable` for text that comes in chunks: a sequence or a character that two of them share is held until it is
 * whole.
 */
export function createPrintable(): { push(chunk: string): string; end(): string } {
  let held = '';
  return {
    push(chunk) {
      const text = held + chunk;
      const begin = suspicious.test(text) ? text.search(unfinished) : -1;
      held = begin < 0 ? '' : text.slice(begin);
      return printable(begin < 0 ? text : text.slice(0, begin));
    },
    end() {
      const text = held;
      held = '';
      return printable(text);
    },
  };
}

/**
 * Everything that is not seen, or not seen as what it is: controls, format characters, fillers, unusual spaces,
 * halves.
 */
const unseen = /(?![\n\t ])[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Text of which nothing hides: what `printable` removes, and zero-width characters and look-alike spaces, as `\x1b`
 * or `\u202e`.
 */
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
