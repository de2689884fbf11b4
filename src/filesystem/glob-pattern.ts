import { ToolcribError } from '../core/errors.ts';

/** A glob, ready to choose files with. */
export interface GlobPattern {
  /** The folder all matches are in, from the pattern's literal beginning; '' for none. */
  readonly folder: string;
  /** Globs of file names that ripgrep can choose by: every match has such a name. Empty when it cannot. */
  readonly names: readonly string[];
  /** Whether `names` alone decide, in any depth. */
  readonly namesDecide: boolean;
  /** How deep below `folder` a match can be; undefined for any depth. */
  readonly depth: number | undefined;
  /** Whether a part of the pattern asks for a name that begins with a dot. */
  readonly hidden: boolean;
  /** Whether a path relative to `folder`, with `/` between its names, is chosen. */
  matches(path: string): boolean;
}

const mostCharacters = 1000;
const mostAlternatives = 100;

/**
 * Reads a glob: `*`, `?`, `[a-z]`, `[!a]`, `{a,b}`, `**` for any folders, `\` before a literal character. One without
 * `/` chooses by name in any depth. Throws ARG_INVALID for one that leaves the folder or has too many alternatives.
 *
 * Not left to ripgrep: its `--glob` also brings back files that `.gitignore` and the rule for dot files leave out.
 */
export function parseGlob(pattern: string): GlobPattern {
  if (pattern.length > mostCharacters || pattern.includes('\0'))
    throw invalid(pattern, 'is longer than 1,000 characters or has a NUL');
  if (/^(?:\/|[a-z]:[\\/])/i.test(pattern))
    throw invalid(pattern, 'is absolute', 'Give the folder as path, and a pattern relative to it.');
  const anywhere = !pattern.includes('/');
  const alternatives = expandBraces(pattern.replace(/^(?:\.\/)+/, '')).map((plain) =>
    plain.split('/').filter((part) => part !== '' && part !== '.'),
  );
  if (alternatives.some((parts) => parts.includes('..')))
    throw invalid(pattern, 'has ".."', 'Give the folder as path, and a pattern relative to it.');
  const folder = anywhere ? [] : sharedFolder(alternatives);
  const below = alternatives.map((parts) => [...(anywhere ? ['**'] : []), ...parts.slice(folder.length)]);
  const compiled = below.map((parts) => parts.map(compilePart));
  const names = [...new Set(below.map((parts) => parts.at(-1) ?? '**'))];
  const plain = names.every((name) => /^[\w.*?@+~-]+$/.test(name) && name !== '**');
  return {
    folder: folder.map(unescape).join('/'),
    names: plain ? names : [],
    namesDecide: below.every((parts) => parts.length === 2 && parts[0] === '**') && plain,
    depth: below.some((parts) => parts.includes('**'))
      ? undefined
      : Math.max(...below.map((parts) => parts.length)),
    hidden: alternatives.some((parts) => parts.some((part) => part.startsWith('.'))),
    matches: (path) => {
      const given = path.split('/');
      return compiled.some((parts) => matchesParts(parts, given));
    },
  };
}

const invalid = (pattern: string, problem: string, wayOut = ''): ToolcribError =>
  new ToolcribError('ARG_INVALID', `glob ${JSON.stringify(pattern.slice(0, 100))}: ${problem}.`, wayOut);

/** `a{b,c}` as `ab` and `ac`. Braces that are never closed stand for themselves. */
function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const group = firstGroup(next);
    if (group) open.push(...group);
    else done.push(next);
    // Each step adds at least one, so this bounds the work as well as the result.
    if (done.length + open.length > mostAlternatives)
      throw invalid(pattern, `has more than ${mostAlternatives} alternatives in its braces`);
  }
  return done.toReversed();
}

/** The pattern once for each alternative of its first `{…}`; undefined when it has none. */
function firstGroup(pattern: string): string[] | undefined {
  let depth = 0;
  let start = 0;
  const cuts: number[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at];
    if (character === '\\') at++;
    else if (character === '{' && depth++ === 0) start = at;
    else if (character === ',' && depth === 1) cuts.push(at);
    else if (character === '}' && depth > 0 && --depth === 0) {
      const edges = [start, ...cuts, at];
      const inner = edges.slice(1).map((end, index) => pattern.slice((edges[index] ?? 0) + 1, end));
      return inner.map((piece) => pattern.slice(0, start) + piece + pattern.slice(at + 1));
    }
  }
  return undefined;
}

/** The literal folders with which all alternatives begin. */
function sharedFolder(alternatives: readonly (readonly string[])[]): string[] {
  const [first = [], ...others] = alternatives;
  const shared: string[] = [];
  for (const part of first.slice(0, -1)) {
    const index = shared.length;
    if (/[*?[\]{}]/.test(part) || others.some((parts) => parts.length <= index + 1 || parts[index] !== part))
      break;
    shared.push(part);
  }
  return shared;
}

const unescape = (part: string): string => part.replaceAll(/\\(.)/g, '$1');

/** One name of a pattern: `**`, or a test for each character with 'star' where any number may stand. */
type Part = '**' | readonly ('star' | ((character: string) => boolean))[];

function compilePart(part: string): Part {
  if (part === '**') return '**';
  const tokens: ('star' | ((character: string) => boolean))[] = [];
  const characters = [...part];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? '';
    const classEnd =
      character === '[' ? characters.indexOf(']', at + (/[!^]/.test(characters[at + 1] ?? '') ? 3 : 2)) : -1;
    if (character === '*') {
      if (tokens.at(-1) !== 'star') tokens.push('star');
    } else if (character === '?') {
      tokens.push(() => true);
    } else if (classEnd !== -1) {
      tokens.push(characterClass(characters.slice(at + 1, classEnd)));
      at = classEnd;
    } else {
      const literal = character === '\\' ? (characters[++at] ?? '\\') : character;
      tokens.push((given) => given === literal);
    }
  }
  return tokens;
}

function characterClass(inside: readonly string[]): (character: string) => boolean {
  const negated = inside[0] === '!' || inside[0] === '^';
  const members = negated ? inside.slice(1) : inside;
  const ranges: [string, string][] = [];
  for (let at = 0; at < members.length; at++) {
    const low = members[at] ?? '';
    const high = members[at + 1] === '-' ? members[at + 2] : undefined;
    ranges.push([low, high ?? low]);
    if (high !== undefined) at += 2;
  }
  return (character) => ranges.some(([low, high]) => low <= character && character <= high) !== negated;
}

/** Whether names match a pattern's parts. Goes back only to the last `**`, so the work is at most parts × names. */
const matchesParts = (parts: readonly Part[], names: readonly string[]): boolean =>
  matchesWithStars(
    parts,
    names,
    (part) => part === '**',
    (part, name) => part !== '**' && matchesName(part, [...name]),
  );

const matchesName = (tokens: Exclude<Part, '**'>, characters: readonly string[]): boolean =>
  matchesWithStars(
    tokens,
    characters,
    (token) => token === 'star',
    (token, character) => token !== 'star' && token(character),
  );

/** The greedy wildcard match that keeps one point to go back to: https://research.swtch.com/glob */
function matchesWithStars<T>(
  pattern: readonly T[],
  given: readonly string[],
  isStar: (token: T) => boolean,
  fits: (token: T, item: string) => boolean,
): boolean {
  let at = 0;
  let token = 0;
  let retry: { token: number; at: number } | undefined;
  while (at < given.length || token < pattern.length) {
    const current = pattern[token];
    if (current !== undefined && isStar(current)) {
      retry = { token: token++, at: at + 1 };
      continue;
    }
    if (current !== undefined && at < given.length && fits(current, given[at] ?? '')) {
      at++;
      token++;
      continue;
    }
    if (!retry || retry.at > given.length) return false;
    ({ at } = retry);
    token = retry.token;
  }
  return true;
}
