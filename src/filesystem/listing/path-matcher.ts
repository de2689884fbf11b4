/** A part of a pattern: one item that fits, or any number of them. */
type Wanted<Item> = 'any' | ((item: Item) => boolean);

/** Whether items fit a pattern, in time that grows with both: only the last `any` takes one more at a time. */
function fits<Item>(wanted: readonly Wanted<Item>[], items: readonly Item[]): boolean {
  let [next, at, any, taken] = [0, 0, -1, 0];
  for (const item = () => items[at] as Item; at < items.length;) {
    const want = wanted[next];
    if (want === 'any') [any, taken] = [next++, at];
    else if (want?.(item())) [next, at] = [next + 1, at + 1];
    else if (any >= 0) [next, at] = [any + 1, ++taken];
    else return false;
  }
  while (wanted[next] === 'any') next++;
  return next === wanted.length;
}

/**
 * Whether the names of a path fit the parts of a glob: `*`, `?`, `[a-z]`, `[!a]`, `\` before a literal character, `**`
 * for any folders, at the end for one name at least. Undefined for a `[` that is never closed, or `[z-a]`.
 */
export function pathMatcher(parts: readonly string[]): ((names: readonly string[]) => boolean) | undefined {
  const ends = parts.at(-1) === '**' ? ['*'] : [];
  try {
    const wanted = [...parts, ...ends].map((part) => (part === '**' ? 'any' : nameMatcher(part)));
    return (names) => fits(wanted, names);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A character class, whose first member may be `]`, or one other sign. */
const pieces = /(\*+)|(\?)|\[([!^]?)(\]?(?:\[:digit:\]|\\[^]|[^\]\\])*)\]|\\?([^])/gu;

/** Throws SyntaxError for what is no glob. */
function nameMatcher(part: string): (name: string) => boolean {
  if (part === '*') return () => true;
  if (!/[*?[\\]/.test(part)) return (name) => name === part;
  const wanted = Array.from(part.matchAll(pieces), ([whole, stars, one, not, members, literal]) => {
    if (whole === '[') throw new SyntaxError('a [ that is never closed');
    if (stars !== undefined) return 'any';
    if (one !== undefined) return () => true;
    if (members === undefined) return (character: string) => character === literal;
    const allowed = new RegExp(`^[${not ? '^' : ''}${membersSource(members)}]$`, 'u');
    return (character: string) => allowed.test(character);
  });
  return (name) => fits<string>(wanted, [...name]);
}

const membersSource = (members: string): string =>
  members
    .replaceAll('[:digit:]', '0-9')
    .replaceAll(/\\([^])|[[\]^]|^-|-$/gu, (all, escaped: string = all) =>
      escaped.replace(/[^\p{L}\p{N}\s]/u, '\\$&'),
    );
