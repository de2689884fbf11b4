/** What `.mode quote` prints before a newer SQLite writes control characters as escapes: unistr('a\u000ab'). */
const token =
  /\s*(?:unistr\('((?:[^']|'')*)'\)|'((?:[^']|'')*)'|X'([0-9a-fA-F]*)'|(NULL)|([^,\n']+))(,|\r?\n|$)/y;

interface Cell {
  readonly value: unknown;
  /** SQLite's name of what is stored. */
  readonly type: string;
}

/** What a query brought, as sqlite3 prints it in quote mode: a line of names, then one of SQL literals for each row. */
export function quotedRows(text: string, most: number) {
  const [header = [], ...lines] = linesOf(text);
  const rows = lines.slice(0, most);
  return {
    columns: header.map(({ value }, at) => ({ name: String(value), type: typeOf(rows, at) })),
    rows: rows.map((row) => row.map(({ value }) => value)),
    truncated: lines.length > most,
  };
}

/** Any column may hold anything: the types that are there. */
function typeOf(rows: readonly (readonly Cell[])[], at: number): string {
  const types = new Set(rows.map((row) => row[at]?.type ?? 'null').filter((type) => type !== 'null'));
  return [...types].sort().join(' or ') || 'null';
}

function linesOf(text: string): Cell[][] {
  const lines: Cell[][] = [];
  let line: Cell[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < text.length) {
    const found = token.exec(text);
    if (!found) throw new Error('expected rows of SQL literals');
    line.push(cellOf(found));
    if (found[6] === ',') continue;
    lines.push(line);
    line = [];
  }
  return lines;
}

/** Bytes that are shown: enough to tell what it is, which is all that hexadecimal tells a reader. */
const shownBytes = 256;

function cellOf([, escaped, plain, hex, isNull, number = '']: RegExpExecArray): Cell {
  if (isNull !== undefined) return { value: null, type: 'null' };
  if (escaped !== undefined) return { value: unescaped(unquoted(escaped)), type: 'text' };
  if (plain !== undefined) return { value: unquoted(plain), type: 'text' };
  if (hex === undefined) return numberOf(number);
  const bytes = hex.length / 2;
  const shown = hex.slice(0, shownBytes * 2).toLowerCase();
  return { value: bytes > shownBytes ? `\\x${shown}… [${bytes} bytes]` : `\\x${shown}`, type: 'blob' };
}

/** An integer that a double does not hold comes as text with all its digits, and so does an infinity. */
function numberOf(text: string): Cell {
  const value = Number(text);
  if (/^-?\d+$/.test(text)) return { value: Number.isSafeInteger(value) ? value : text, type: 'integer' };
  if (Number.isFinite(value)) return { value, type: 'real' };
  if (!/^[-+]?(?:inf|\d)/i.test(text)) throw new Error('expected a number');
  return { value: text.startsWith('-') ? '-Infinity' : 'Infinity', type: 'real' };
}

const unquoted = (text: string): string => text.replaceAll("''", "'");
const unescaped = (text: string): string =>
  text.replaceAll(/\\(?:u([0-9a-fA-F]{4})|\\)/g, (_whole, code: string | undefined) =>
    code === undefined ? '\\' : String.fromCharCode(Number.parseInt(code, 16)),
  );
