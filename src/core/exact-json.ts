/**
 * JSON.parse for what a database prints: a number that a double cannot hold (bigint, numeric, infinity) comes
 * as text with all its digits, instead of as another number.
 */
export function parseExactly(json: string): unknown {
  const strings = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
  return JSON.parse(
    json.replaceAll(strings, (token) => (token.startsWith('"') || fits(token) ? token : `"${token}"`)),
  );
}

/** Every decimal number of at most 15 significant digits survives the way through a double. */
function fits(number: string): boolean {
  const digits = number
    .replace(/[eE].*/, '')
    .replaceAll(/[-.]/g, '')
    .replace(/^0+/, '');
  if (digits.length > 15) return String(Number(number)) === number;
  return Number.isFinite(Number(number));
}
