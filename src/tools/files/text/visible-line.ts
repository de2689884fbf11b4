import { unseen } from '../../../core/unseen.ts';

/**
 * A line as it is shown where it matters what it is made of: · for a blank, → for a tab, ␍ for a carriage
 * return, and other characters that are not seen by number. `all`: every blank and accent is marked, not only
 * blanks at both ends.
 */
export function visibleLine(line: string, all: boolean): string {
  const marked = line
    .replace(all ? /[ \t]+/g : /^[ \t]+|[ \t]+(?=\r?$)/g, (run) =>
      run.replaceAll(' ', '·').replaceAll('\t', '→'),
    )
    .replace(unseen, numbered);
  return all ? marked.replaceAll(/\p{M}/gu, numbered) : marked;
}

function numbered(character: string): string {
  if (character === '\r') return '␍';
  if (character === '\t') return character;
  return `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

/** The part of a line around where it differs from another, with … for what is left out. */
export function around(line: string, differsAt: number, most: number): string {
  if (line.length <= most) return line;
  const from = Math.max(0, Math.min(Math.floor(differsAt - most / 4), line.length - most));
  const to = Math.min(line.length, from + most);
  // Half of a character is none.
  const part = line.slice(from, to).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
  return `${from > 0 ? '…' : ''}${part}${to < line.length ? '…' : ''}`;
}

/** Where two lines begin to differ. */
export function differenceAt(line: string, other: string): number {
  const most = Math.min(line.length, other.length);
  let at = 0;
  while (at < most && line.charCodeAt(at) === other.charCodeAt(at)) at++;
  return at;
}
