import { ToolcribError } from '../../core/errors.ts';
import { pathPattern, type PathPart, type PathPattern } from './path-pattern.ts';
import { compileName } from './wildcard.ts';

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
  /** The same, name by name, from `folder` down. */
  readonly paths: PathPattern;
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
  const paths = pathPattern(below.map((parts) => parts.map(compilePart)));
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
    matches(path) {
      const given = path.split('/');
      const last = given.pop() ?? '';
      return paths.chooses(given.reduce(paths.below, paths.start), last);
    },
    paths,
  };
}

const compilePart = (part: string): PathPart => (part === '**' ? part : compileName(part, 'literal'));

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
