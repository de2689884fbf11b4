/** String literals, quoted identifiers and comments of SQL, as SQLite reads them: what is in them is no syntax. */
const opaque = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[^]*?(?:\*\/|$)/g;

/** Whether a text stays one query when it is put in parentheses: no second statement, no parenthesis too many. */
export function isOneQuery(text: string): boolean {
  // SQLite reads `$a(')` as the name of a parameter, quote and all; there is nothing here to give one a value.
  if (/[$@:#?][\w$:]*\(/.test(text)) return false;
  const syntax = text.replaceAll(opaque, ' ');
  if (/[;'"`]/.test(syntax)) return false;
  let depth = 0;
  for (const character of syntax) {
    if (character === '(') depth++;
    if (character === ')' && --depth < 0) return false;
  }
  return depth === 0;
}
