import type { Output } from '../../core/grammar.ts';

/**
 * Text as quote mode prints it before a newer SQLite writes control characters as escapes:
 * unistr('a\u000ab').
 */
const token =
  /\s*(?:unistr\('((?:[^']|'')*)'\)|'((?:[^']|'')*)'|X'([0-9a-fA-F]*)'|(NULL)|([^,\n']+))(,|\r?\n|$)/y;
/** Bytes that are shown: enough to tell what it is, which is all that hexadecimal tells a reader. */
const shownBytes = 256;

/**
 * Rows of the quote mode: a line of names, then one of SQL literals for each row. One row too many tells of
 * more.
 */
export function quotedRows({ stdout, values }: Output) {
  // What a setting says that it was set to.
  const [header = [], ...all] = linesOf(stdout.replace(/^ +length \d+\r?\n/, ''));
  const most = Number(values['limit']);
  return { columns: header.map(String), rows: all.slice(0, most), more: all.length > most };
}

function linesOf(text: string): unknown[][] {
  const lines: unknown[][] = [];
  let line: unknown[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < text.length) {
    const found = token.exec(text);
    if (!found) throw new Error('expected rows of SQL literals');
    line.push(valueOf(found));
    if (found[6] === ',') continue;
    lines.push(line);
    line = [];
  }
  return lines;
}

function valueOf([, escaped, plain, hex, isNull, word = '']: RegExpExecArray): unknown {
  if (isNull !== undefined) return null;
  const quoted = (escaped ?? plain)?.replaceAll("''", "'");
  if (quoted !== undefined) return escaped === undefined ? quoted : unescaped(quoted);
  if (hex === undefined) return numberOf(word);
  const shown = `\\x${hex.slice(0, shownBytes * 2).toLowerCase()}`;
  return hex.length > shownBytes * 2 ? `${shown}… [${hex.length / 2} bytes]` : shown;
}

/** An integer that a double does not hold comes as text with all its digits, and so does an infinity. */
function numberOf(text: string): unknown {
  if (/^(?:true|false)$/i.test(text)) return /^true$/i.test(text);
  if (!/^[-+]?(?:\d|inf|nan)/i.test(text)) throw new Error('expected a number');
  const value = Number(text);
  const isExact = /^-?\d+$/.test(text) ? Number.isSafeInteger(value) : Number.isFinite(value);
  return isExact ? value : text;
}

const unescaped = (text: string): string =>
  text.replaceAll(/\\(?:u([0-9a-fA-F]{4})|\\)/g, (_whole, code: string | undefined) =>
    code === undefined ? '\\' : String.fromCharCode(Number.parseInt(code, 16)),
  );
