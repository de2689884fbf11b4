/** Whether the name of a file or folder fits a part of a pattern. */
export type NameTest = (name: string) => boolean;

const star = Symbol('any number of characters');
type Token = string | typeof star | NameTest;

/**
 * Reads one part of a pattern, between two `/`: `*`, `?`, `[a-z]`, `[!a]`, `[[:alpha:]]`, `\` before a literal character.
 * A `[` that is never closed and a `\` at the end stand for themselves, or (`never`, as git has it) fit no name.
 */
export function compileName(part: string, broken: 'literal' | 'never'): NameTest {
  const characters = [...part];
  const tokens: Token[] = [];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? '';
    if (character === '*') {
      if (tokens.at(-1) !== star) tokens.push(star);
    } else if (character === '?') {
      tokens.push(anyCharacter);
    } else if (character === '[') {
      const found = readClass(characters, at);
      if (!found && broken === 'never') return fitsNothing;
      tokens.push(found ? found.test : character);
      at = found ? found.end : at;
    } else if (character === '\\') {
      const escaped = characters[++at];
      if (escaped === undefined && broken === 'never') return fitsNothing;
      tokens.push(escaped ?? character);
    } else {
      tokens.push(character);
    }
  }
  return testOf(tokens);
}

const anyCharacter: NameTest = () => true;
const fitsNothing: NameTest = () => false;

/** The quickest test for what most patterns are: a name, or a star with something before or behind it. */
function testOf(tokens: readonly Token[]): NameTest {
  const stars = tokens.filter((token) => token === star).length;
  if (stars < 2 && tokens.every((token) => token === star || typeof token === 'string')) {
    const at = tokens.indexOf(star);
    if (at === -1) {
      const whole = tokens.join('');
      return (name) => name === whole;
    }
    const start = tokens.slice(0, at).join('');
    const end = tokens.slice(at + 1).join('');
    const least = start.length + end.length;
    return (name) => name.length >= least && name.endsWith(end) && name.startsWith(start);
  }
  const least = tokens.length - stars;
  return (name) => name.length >= least && fits(tokens, [...name]);
}

/** The greedy wildcard match that keeps one point to go back to: https://research.swtch.com/glob */
function fits(tokens: readonly Token[], characters: readonly string[]): boolean {
  let at = 0;
  let next = 0;
  let retry: { next: number; at: number } | undefined;
  while (at < characters.length || next < tokens.length) {
    const token = tokens[next];
    const character = characters[at];
    if (token === star) {
      retry = { next: next++, at: at + 1 };
      continue;
    }
    if (token !== undefined && character !== undefined && fitsOne(token, character)) {
      at++;
      next++;
      continue;
    }
    if (!retry || retry.at > characters.length) return false;
    ({ next, at } = retry);
  }
  return true;
}

const fitsOne = (token: Token, character: string): boolean =>
  typeof token === 'function' ? token(character) : token === character;

/** By ASCII alone, as git's sane-ctype.h has them. */
const namedClasses: Readonly<Record<string, RegExp>> = {
  alnum: /^[0-9A-Za-z]$/,
  alpha: /^[A-Za-z]$/,
  blank: /^[ \t]$/,
  // oxlint-disable-next-line no-control-regex
  cntrl: /^[\u0000-\u001f\u007f]$/,
  digit: /^[0-9]$/,
  graph: /^[!-~]$/,
  lower: /^[a-z]$/,
  print: /^[ -~]$/,
  punct: /^[!-/:-@[-`{-~]$/,
  space: /^[ \t\n\r]$/,
  upper: /^[A-Z]$/,
  xdigit: /^[0-9A-Fa-f]$/,
};

interface CharacterClass {
  /** Where its closing `]` is. */
  readonly end: number;
  readonly test: NameTest;
}

/**
 * The class of characters whose `[` is at a place; undefined when it is not closed or names a class there is none of.
 * The rules are those of git's wildmatch.c: the first member may be `]`, `\` takes a member as it is, and a `-` is a
 * range only between two members.
 */
export function readClass(characters: readonly string[], start: number): CharacterClass | undefined {
  let at = start + 1;
  const negated = characters[at] === '!' || characters[at] === '^';
  if (negated) at++;
  const members: ((character: string) => boolean)[] = [];
  let previous: string | undefined;
  do {
    let member = characters[at];
    const following = characters[at + 1];
    if (member === '-' && previous !== undefined && following !== undefined && following !== ']') {
      const low = previous;
      const high = following === '\\' ? characters[++at + 1] : following;
      if (high === undefined) return undefined;
      members.push((character) => low <= character && character <= high);
      previous = undefined;
      at += 2;
      continue;
    }
    if (member === '[' && following === ':') {
      const close = characters.indexOf(']', at + 2);
      if (close === -1) return undefined;
      if (close > at + 2 && characters[close - 1] === ':') {
        const named = namedClasses[characters.slice(at + 2, close - 1).join('')];
        if (!named) return undefined;
        members.push((character) => named.test(character));
        previous = undefined;
        at = close + 1;
        continue;
      }
    }
    if (member === '\\') member = characters[++at];
    if (member === undefined) return undefined;
    const one = member;
    members.push((character) => character === one);
    previous = member;
    at++;
  } while (characters[at] !== ']');
  return { end: at, test: (character) => members.some((fitsMember) => fitsMember(character)) !== negated };
}
