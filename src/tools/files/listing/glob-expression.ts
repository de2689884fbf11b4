/** Any number of stars, one sign, a character class, whose first member may be `]`, or one other sign. */
const pieces = /(\*+)|(\?)|\[([!^]?)(\]?(?:\[:digit:\]|\\[^]|[^\]\\])*)\]|\\?([^])/gu;

/**
 * What paths fit the parts of a glob: `*`, `?`, `[a-z]`, `[!a]`, `\` before a literal character, `**` for any
 * folders, at the end for one name at least. Undefined for a `[` that is never closed, or `[z-a]`.
 */
export function globExpression(parts: readonly string[]): RegExp | undefined {
  let groups = 0;
  /** With anything between them. Each is taken where it comes first, so that nothing is tried twice. */
  const inOrder = ([first = '', ...others]: readonly string[], any: string): string => {
    const last = others.pop();
    const found = others.map((part) => `(?=(?<_${++groups}>${any}?${part}))\\k<_${groups}>`);
    return first + found.join('') + (last === undefined ? '' : any + last);
  };
  const runs = [''];
  for (const part of parts.at(-1) === '**' ? [...parts, '*'] : parts)
    if (part === '**') runs.push('');
    else runs.push(`${runs.pop()}${inOrder(nameRuns(part), '[^/]*')}/`);
  try {
    const source = inOrder(runs, '(?:[^/]+/)*').replace(/\/$/, '');
    return new RegExp(`^${source}$`, 'u');
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** What stands between the stars of a part. */
function nameRuns(part: string): string[] {
  const runs = [''];
  for (const [whole, stars, one, not = '', members, literal = ''] of part.matchAll(pieces))
    if (stars !== undefined) runs.push('');
    else if (one !== undefined) runs.push(`${runs.pop()}[^/]`);
    else if (members !== undefined) runs.push(`${runs.pop()}(?!/)[${not && '^'}${membersSource(members)}]`);
    // One that is never closed is no expression either.
    else runs.push(runs.pop() + (whole === '[' ? whole : literal.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&')));
  return runs;
}

const membersSource = (members: string): string =>
  members
    .replaceAll('[:digit:]', '0-9')
    .replaceAll(/\\([^])|[[\]^]|^-|-$/gu, (all, escaped: string = all) =>
      escaped.replace(/[^\p{L}\p{N}\s]/u, '\\$&'),
    );
