import type { Pace } from './pace.ts';
import { pathPattern, type PathPart } from './path-pattern.ts';
import { compileName, readClass } from './wildcard.ts';

/** The rules of one ignore file. */
export interface IgnoreRules {
  /** Whether a rule looks at the folder something is in. */
  readonly needsPath: boolean;
  /**
   * What the last rule says that fits something; undefined when none does. `prefix` leads from the folder of the ignore
   * file to the folder it is in (`''` or `a/b/`). That folder is taken not to be ignored itself.
   */
  verdict(prefix: string, name: string, isFolder: boolean): 'ignored' | 'kept' | undefined;
}

/** A rule that has to be tried. */
interface TriedRule {
  readonly order: number;
  readonly folderOnly: boolean;
  readonly fits: (prefix: string, name: string) => boolean;
}

/** The last rules for a literal: for anything, and for folders alone. */
interface Latest {
  any: number;
  folder: number;
}

/** Microseconds for reading a rule. */
const ruleUnits = 5;
/** Longer than any path: such a rule fits nothing. */
const longestRule = 4096;

/**
 * Reads an ignore file as git does (gitignore(5); add_patterns_from_buffer() and last_matching_pattern() in its dir.c);
 * undefined when there is no rule in it. Case counts. What most rules are, a name, an extension or a path, is looked up
 * instead of tried, and no rule takes longer than its length times that of the name: the file comes from strangers.
 */
export async function parseIgnoreRules(text: string, pace: Pace): Promise<IgnoreRules | undefined> {
  const kept: boolean[] = [];
  const names = new Map<string, Latest>();
  const extensions = new Map<string, Latest>();
  const paths = new Map<string, Latest>();
  const tried: TriedRule[] = [];
  let needsPath = false;

  const lines = (text.startsWith('\ufeff') ? text.slice(1) : text).split('\n');
  for (const line of lines) {
    if (pace.spend(ruleUnits)) await pace.rest();
    const rule = line.startsWith('#') ? undefined : readRule(line);
    if (!rule) continue;
    const order = kept.push(rule.kept) - 1;
    const { pattern, folderOnly, anchored } = rule;
    needsPath ||= anchored;
    if (!/[*?[\\]/.test(pattern)) {
      setLatest(anchored ? paths : names, pattern, order, folderOnly);
    } else if (!anchored && /^\*\.[^.*?[\\]+$/.test(pattern)) {
      setLatest(extensions, pattern.slice(1), order, folderOnly);
    } else {
      tried.push({ order, folderOnly, fits: compile(pattern, anchored) });
    }
  }
  if (kept.length === 0) return undefined;
  tried.reverse();

  return {
    needsPath,
    verdict(prefix, name, isFolder) {
      let last = latest(names.get(name), isFolder);
      if (extensions.size > 0) {
        const dot = name.lastIndexOf('.');
        if (dot !== -1) last = Math.max(last, latest(extensions.get(name.slice(dot)), isFolder));
      }
      if (paths.size > 0) last = Math.max(last, latest(paths.get(prefix + name), isFolder));
      for (const rule of tried) {
        if (rule.order < last) break;
        if ((rule.folderOnly && !isFolder) || !rule.fits(prefix, name)) continue;
        last = rule.order;
        break;
      }
      if (last === -1) return undefined;
      return kept[last] ? 'kept' : 'ignored';
    },
  };
}

function setLatest(rules: Map<string, Latest>, literal: string, order: number, folderOnly: boolean): void {
  const before = rules.get(literal) ?? { any: -1, folder: -1 };
  rules.set(literal, folderOnly ? { ...before, folder: order } : { ...before, any: order });
}

function latest(rules: Latest | undefined, isFolder: boolean): number {
  if (!rules) return -1;
  return isFolder ? Math.max(rules.any, rules.folder) : rules.any;
}

interface Rule {
  readonly pattern: string;
  /** Whether it brings back what an earlier rule ignores. */
  readonly kept: boolean;
  readonly folderOnly: boolean;
  /** Whether it is about paths from the file's folder on, not about names in any depth. */
  readonly anchored: boolean;
}

function readRule(line: string): Rule | undefined {
  let pattern = withoutTrailingBlanks(line.endsWith('\r') ? line.slice(0, -1) : line);
  const kept = pattern.startsWith('!');
  if (kept) pattern = pattern.slice(1);
  const folderOnly = pattern.endsWith('/');
  if (folderOnly) pattern = pattern.slice(0, -1);
  // `**/x` is the same as `x`, only slower.
  const anywhere = /^(?:\*\*\/)+([^/]+)$/.exec(pattern)?.[1];
  const anchored = anywhere === undefined && pattern.includes('/');
  pattern = anywhere ?? (pattern.startsWith('/') ? pattern.slice(1) : pattern);
  if (pattern === '' || pattern.length > longestRule) return undefined;
  return { pattern, kept, folderOnly, anchored };
}

/** Only blanks, as git has it, and not one behind a backslash. */
function withoutTrailingBlanks(line: string): string {
  if (!line.endsWith(' ')) return line;
  let end = 0;
  for (let at = 0; at < line.length; at++) {
    if (line[at] === '\\') at++;
    else if (line[at] === ' ') continue;
    end = at + 1;
  }
  return line.slice(0, end);
}

function compile(pattern: string, anchored: boolean): TriedRule['fits'] {
  if (!anchored) {
    const fits = compileName(pattern, 'never');
    return (_, name) => fits(name);
  }
  const parts = splitParts(pattern).map((part): PathPart =>
    /^\*{2,}$/.test(part) ? '**' : compileName(part, 'never'),
  );
  // `a/**` is what lies below `a`, and not `a` itself.
  if (parts.at(-1) === '**') parts.push(() => true);
  const { start, below, chooses } = pathPattern([parts]);
  // Many names are asked about in the same folder.
  let folder = { prefix: '', state: start };
  return (prefix, name) => {
    if (folder.prefix !== prefix)
      folder = { prefix, state: prefix.split('/').slice(0, -1).reduce(below, start) };
    return folder.state.length > 0 && chooses(folder.state, name);
  };
}

/** Cut at each `/` that is not inside a class of characters. */
function splitParts(pattern: string): string[] {
  const characters = [...pattern];
  const parts = [''];
  for (let at = 0; at < characters.length; at++) {
    const close = characters[at] === '[' ? readClass(characters, at)?.end : undefined;
    const escaped = characters[at] === '\\';
    const piece = characters.slice(at, (close ?? (escaped ? at + 1 : at)) + 1).join('');
    at += [...piece].length - 1;
    if (piece === '/' || piece === '\\/') parts.push('');
    else parts[parts.length - 1] += piece;
  }
  return parts;
}
