/**
 * The pieces of a glob: stars, `?`, a character class, whose first member may be `]`, or one other character.
 */
const pieces = /(\*+)|(\?)|\[([!^]?)(\]?(?:\[:digit:\]|\\[^]|[^\]\\])*)\]|\\?([^])/gu;

/**
 * Compiles the parts of a glob to an expression for whole paths: `*`, `?`, `[a-z]`, `[!a]`, `\` before a
 * literal character, `**` for any folders, at the end for one name at least. Undefined for a `[` that is
 * never closed, or for `[z-a]`.
 */
export function globExpression(parts: readonly string[]): RegExp | undefined {
  let groups = 0;
  // Joins sources with anything in between. An atomic group takes each part at its first occurrence, so that
  // nothing is tried twice and the time stays linear.
  const joinSources = ([first = '', ...others]: readonly string[], any: string): string => {
    const last = others.pop();
    const atomic = others.map((source) => {
      groups += 1;
      return `(?=(?<_${groups}>${any}?${source}))\\k<_${groups}>`;
    });
    return first + atomic.join('') + (last === undefined ? '' : any + last);
  };
  const runs = [''];
  for (const part of parts.at(-1) === '**' ? [...parts, '*'] : parts)
    if (part === '**') runs.push('');
    else appendToLast(runs, `${joinSources(nameRuns(part), '[^/]*')}/`);
  try {
    const source = joinSources(runs, '(?:[^/]+/)*').replace(/\/$/, '');
    return new RegExp(`^${source}$`, 'u');
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The sources between the stars of one part of a glob. */
function nameRuns(part: string): string[] {
  const runs = [''];
  for (const [whole, stars, one, not = '', members, literal = ''] of part.matchAll(pieces))
    if (stars !== undefined) runs.push('');
    else if (one !== undefined) appendToLast(runs, '[^/]');
    else if (members !== undefined) appendToLast(runs, `(?!/)[${not && '^'}${membersSource(members)}]`);
    // A class that is never closed stays as it is, and makes the whole source invalid.
    else appendToLast(runs, whole === '[' ? whole : literal.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&'));
  return runs;
}

function appendToLast(runs: string[], source: string): void {
  const last = runs.pop() ?? '';
  runs.push(last + source);
}

const membersSource = (members: string): string =>
  members
    .replaceAll('[:digit:]', '0-9')
    .replaceAll(/\\([^])|[[\]^]|^-|-$/gu, (all, escaped: string = all) =>
      escaped.replace(/[^\p{L}\p{N}\s]/u, '\\$&'),
    );
