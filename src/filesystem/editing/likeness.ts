/**
 * A character as it counts when lines are compared: no difference between blanks, forms of quotes and dashes, and
 * case.
 */
function folded(code: number): number {
  if (code <= 0x7f) {
    if (code >= 0x41 && code <= 0x5a) return code | 0x20;
    return code <= 0x20 ? blank : code === 0x22 || code === 0x60 ? quote : code;
  }
  if (code === 0xa0 || code === 0x202f || code === 0x3000 || code === 0xfeff) return blank;
  if (code === 0xb4 || (code >= 0x2018 && code <= 0x201f)) return quote;
  if (code >= 0x2000 && code <= 0x200d) return blank;
  return code >= 0x2010 && code <= 0x2015 ? 0x2d : code;
}

const blank = 0x20;
const quote = 0x27;

/** Enough of a line to tell how alike two are. */
const lineCharacters = 400;

/** What lines that are the same but for blanks, quotes and case have in common; 0 for one without letters or digits. */
export function keyOf(line: string): number {
  let key = 0;
  let telling = 0;
  const length = Math.min(line.length, lineCharacters);
  for (let at = 0; at < length; at++) {
    const code = folded(line.charCodeAt(at));
    if (code === blank) continue;
    if (code > 0x7f || (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39)) telling++;
    key = (Math.imul(key, 31) + code) | 0;
  }
  return telling < 2 ? 0 : key || 1;
}

const tableSize = 1 << 12;

/**
 * How alike other lines are to one, from 0 to 1: twice the pairs of neighbouring characters they share, by all pairs
 * of both (Dice, Ecology 26, 1945). Takes a step for each character, whatever the lines are.
 */
export function likenessTo(line: string): (other: string) => number {
  const pairs = new Uint16Array(tableSize);
  const seen = new Uint16Array(tableSize);
  /** Which line has last counted a pair: so that nothing has to be cleared between two. */
  const countedBy = new Int32Array(tableSize);
  let count = 0;
  eachPair(line, (pair) => {
    pairs[pair] = (pairs[pair] ?? 0) + 1;
    count++;
  });
  let turn = 0;
  return (other) => {
    turn++;
    let [shared, others] = [0, 0];
    eachPair(other, (pair) => {
      others++;
      if (countedBy[pair] !== turn) {
        countedBy[pair] = turn;
        seen[pair] = 0;
      }
      const before = seen[pair] ?? 0;
      seen[pair] = before + 1;
      if (before < (pairs[pair] ?? 0)) shared++;
    });
    return count + others === 0 ? 0 : (2 * shared) / (count + others);
  };
}

function eachPair(line: string, visit: (pair: number) => void): void {
  let last = blank;
  const length = Math.min(line.length, lineCharacters);
  for (let at = 0; at < length; at++) {
    const code = folded(line.charCodeAt(at));
    if (code === blank) continue;
    visit((Math.imul(last, 31) + code) & (tableSize - 1));
    last = code;
  }
}
