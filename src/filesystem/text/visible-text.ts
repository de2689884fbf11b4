/** Characters that cannot be told from a blank or from nothing, by what they are called. */
const names: Readonly<Record<string, string>> = {
  '\u00a0': 'no-break space',
  '\u00ad': 'soft hyphen',
  '\u200b': 'zero-width space',
  '\u200c': 'zero-width non-joiner',
  '\u200d': 'zero-width joiner',
  '\u2060': 'word joiner',
  '\u202f': 'narrow no-break space',
  '\u3000': 'ideographic space',
  '\ufeff': 'byte order mark',
};

/** Controls, blanks other than the usual ones, and what is not seen at all. */
const unseen = new RegExp(
  '[\\x00-\\x08\\x0a-\\x1f\\x7f-\\xa0\\xad\\u0600-\\u0605\\u061c\\u1680\\u180e\\u2000-\\u200f' +
    '\\u2028-\\u202f\\u205f-\\u206f\\u3000\\ufeff]|[\\ufe00-\\ufe0f]',
  'g',
);

interface What {
  /** Whether all blanks are marked; else only those at both ends are. */
  readonly blanks: boolean;
  /** Whether accents that are characters of their own are marked. */
  readonly accents: boolean;
}

/**
 * A line as it is shown where it matters what it is made of: · for a blank, → for a tab, ␍ for a carriage return, and
 * other characters that are not seen by number and name.
 */
export function visibleLine(line: string, { blanks, accents }: What): string {
  const marked = line
    .replace(blanks ? /[ \t]/g : /^[ \t]+|[ \t]+(?=\r?$)/g, (run) =>
      run.replaceAll(' ', '·').replaceAll('\t', '→'),
    )
    .replace(unseen, named);
  return accents ? marked.replaceAll(/\p{M}/gu, named) : marked;
}

function named(character: string): string {
  if (character === '\r') return '␍';
  const number = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  const name = names[character];
  return name === undefined ? `⟨${number}⟩` : `⟨${number} ${name}⟩`;
}

/** The part of a line around where it differs from another, with … for what is left out. */
export function around(line: string, differsAt: number, most: number): string {
  if (line.length <= most) return line;
  let from = Math.max(0, Math.min(differsAt - most / 4, line.length - most));
  from = Math.floor(from);
  let to = Math.min(line.length, from + most);
  // Half of a character is none.
  if (isSecondHalf(line, from)) from--;
  if (isSecondHalf(line, to)) to--;
  return `${from > 0 ? '…' : ''}${line.slice(from, to)}${to < line.length ? '…' : ''}`;
}

const isSecondHalf = (line: string, at: number): boolean => /[\udc00-\udfff]/.test(line.charAt(at));

const pieceCharacters = 12;

/** Where a line begins to differ from another, or from the part of it that the other is. */
export function differenceAt(line: string, other: string): number {
  const most = Math.min(line.length, other.length);
  let at = 0;
  while (at < most && line.charCodeAt(at) === other.charCodeAt(at)) at++;
  if (at > 0) return at;
  for (let from = 0; from + pieceCharacters <= other.length; from += pieceCharacters) {
    const found = line.indexOf(other.slice(from, from + pieceCharacters));
    if (found !== -1) return Math.max(0, found - from);
  }
  return 0;
}
