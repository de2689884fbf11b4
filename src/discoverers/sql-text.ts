/** String literals, quoted identifiers and comments of SQL, as SQLite reads them: what is in them is no syntax. */
const opaque = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[^]*?(?:\*\/|$)/g;

/** Whether a text stays one query when it is put in parentheses: no second statement, no parenthesis too many. */
export function isOneQuery(text: string): boolean {
  const syntax = text.replaceAll(opaque, ' ');
  if (/[;'"`]/.test(syntax)) return false;
  let depth = 0;
  for (const character of syntax) {
    if (character === '(') depth++;
    if (character === ')' && --depth < 0) return false;
  }
  return depth === 0;
}
