import { sep } from 'node:path';
import { ToolcribError } from '../../../core/errors.ts';
import type { OpenedFile } from '../../../machine/paths/opened.ts';
import type { RootedWorkspace } from '../../../machine/paths/workspace.ts';
import { globExpression } from './glob-expression.ts';

/** A glob that was parsed. */
export interface GlobPattern {
  /** The folder that all matches are in: the literal beginning of the glob; '' for none. */
  readonly folder: string;
  /**
   * Globs for ripgrep, such that every match has such a file name; empty when ripgrep cannot select by names.
   */
  readonly names: readonly string[];
  /** Every file with such a name matches. */
  readonly isByName: boolean;
  /** A part of the glob is for names that begin with a dot. */
  readonly hidden: boolean;
  /** Says whether a path relative to `folder`, with `/` between its names, matches. */
  matches(path: string): boolean;
}

const mostCharacters = 1000;
const mostAlternatives = 100;

/**
 * Parses a glob: `*`, `?`, `[a-z]`, `[!a]`, `{a,b}`, `**` for any folders, `\` before a literal character (on
 * Windows it is a `/`). A glob without `/` matches names at any depth. Throws ARG_INVALID for one that leads
 * out of the folder or has too many alternatives.
 *
 * Globs are not passed on to ripgrep, as its `--glob` also finds files that `.gitignore` and the rule for dot
 * files leave out.
 */
export function parseGlob(glob: string): GlobPattern {
  const pattern = sep === '/' ? glob : glob.replaceAll(sep, '/');
  if (pattern.length > mostCharacters || pattern.includes('\0'))
    throw invalid(pattern, 'is longer than 1,000 characters or has a NUL');
  const plain = pattern.replace(/^(?:\.\/)+/, '');
  const [, folder = '', rest = ''] = /^((?:[^*?[\]{}\\/]+\/)*)([^]*)$/.exec(plain) ?? [];
  const below = expandBraces(rest).map((expanded) =>
    expanded.split('/').filter((part) => !['', '.'].includes(part)),
  );
  const isOut = [folder.split('/'), ...below].some((parts) => parts.includes('..'));
  if (isOut || /^(?:\/|[a-z]:[\\/])/i.test(pattern))
    throw invalid(
      pattern,
      'leads out of the folder',
      'Give the folder as path, and a pattern relative to it.',
    );
  // Without a slash, a glob is for names at any depth; with one at its end, for everything in the folder.
  if (!pattern.includes('/')) for (const parts of below) parts.unshift('**');
  for (const parts of below) if (parts.length === 0) parts.push('**');
  const names = [...new Set(below.map((parts) => parts.at(-1) ?? '**'))];
  const isSimple = names.every((name) => /^[\w.*?@+~-]+$/.test(name) && name !== '**');
  const patterns = below.map((parts) => {
    const expression = globExpression(parts);
    if (expression) return expression;
    const wayOut = `Put ${sep === '/' ? '\\ before' : 'brackets around'} one that is meant itself.`;
    throw invalid(pattern, 'has a [ that is never closed, or a range such as [z-a]', wayOut);
  });
  return {
    folder: folder.replace(/\/$/, ''),
    names: isSimple ? names : [],
    isByName: isSimple && below.every((parts) => parts.length === 2 && parts[0] === '**'),
    hidden: /(?:^|[/{,])\.[^/.]/.test(plain),
    matches: (path) => patterns.some((expression) => expression.test(path)),
  };
}

/** Opens the folder that all matches of a pattern are in. Throws what opening throws. */
export async function openPatternFolder(
  workspace: RootedWorkspace,
  base: string,
  { folder }: GlobPattern,
): Promise<OpenedFile> {
  if (folder === '') return workspace.open('folder', base);
  const from = await workspace.resolve(base, { kind: 'folder', mustExist: true });
  return workspace.open('folder', folder, { from });
}

const invalid = (pattern: string, problem: string, wayOut = ''): ToolcribError =>
  new ToolcribError('ARG_INVALID', `glob ${JSON.stringify(pattern.slice(0, 100))}: ${problem}.`, wayOut);

/**
 * Expands `a{b,c}` to `ab` and `ac`, the innermost braces first. Braces that are never closed are literal.
 */
function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  for (;;) {
    const next = open.pop();
    if (next === undefined) return done.toReversed();
    const [group, inner = ''] = /(?<!\\)\{((?:\\[^]|[^\\{}])*)\}/.exec(next) ?? [];
    if (group === undefined) done.push(next);
    else open.push(...inner.split(/(?<!\\),/).map((alternative) => next.replace(group, () => alternative)));
    // Each step adds at least one pattern, so that this limits the work as well as the result.
    if (done.length + open.length > mostAlternatives)
      throw invalid(pattern, `has more than ${mostAlternatives} alternatives in its braces`);
  }
}
