import { unseen } from '../../../core/unseen.ts';

/**
 * Makes the invisible characters of a line visible: · for a blank, → for a tab, ␍ for a carriage return, and
 * numbers for others. With `all`, every blank and accent is marked, not only the blanks at both ends.
 */
export function showInvisible(line: string, all: boolean): string {
  const marked = line
    .replace(all ? /[ \t]+/g : /^[ \t]+|[ \t]+(?=\r?$)/g, (run) =>
      run.replaceAll(' ', '·').replaceAll('\t', '→'),
    )
    .replace(unseen, markCharacter);
  return all ? marked.replaceAll(/\p{M}/gu, markCharacter) : marked;
}

function markCharacter(character: string): string {
  if (character === '\r') return '␍';
  if (character === '\t') return character;
  return `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

/** The part of a line around the position where it differs from another, with … for the rest. */
export function excerptAround(line: string, differsAt: number, most: number): string {
  if (line.length <= most) return line;
  const from = Math.max(0, Math.min(Math.floor(differsAt - most / 4), line.length - most));
  const to = Math.min(line.length, from + most);
  // Half of a character at either end is left out.
  const part = line.slice(from, to).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
  return `${from > 0 ? '…' : ''}${part}${to < line.length ? '…' : ''}`;
}

/** The position at which two lines begin to differ. */
export function differenceAt(line: string, other: string): number {
  const most = Math.min(line.length, other.length);
  let at = 0;
  while (at < most && line.charCodeAt(at) === other.charCodeAt(at)) at++;
  return at;
}
