import { sep } from 'node:path';
import { ToolcribError } from '../../../core/errors.ts';
import type { OpenedFile } from '../../../machine/paths/opened.ts';
import type { RootedWorkspace } from '../../../machine/paths/workspace.ts';
import { globExpression } from './glob-expression.ts';

/** A glob, ready to choose files with. */
export interface GlobPattern {
  /** The folder all matches are in, from the pattern's literal beginning; '' for none. */
  readonly folder: string;
  /** Globs of file names that ripgrep can choose by: every match has such a name. Empty when it cannot. */
  readonly names: readonly string[];
  /** Whether every file with such a name matches. */
  readonly isByName: boolean;
  /** Whether a part of the pattern asks for a name that begins with a dot. */
  readonly hidden: boolean;
  /** Whether a path relative to `folder`, with `/` between its names, is chosen. */
  matches(path: string): boolean;
}

const mostCharacters = 1000;
const mostAlternatives = 100;

/**
 * Reads a glob: `*`, `?`, `[a-z]`, `[!a]`, `{a,b}`, `**` for any folders, `\` before a literal character (on
 * Windows it is a `/`). One without `/` chooses by name in any depth. Throws ARG_INVALID for one that leaves
 * the folder or has too many alternatives.
 *
 * Paths are not left to ripgrep: its `--glob` also brings back files that `.gitignore` and the rule for dot
 * files leave out.
 */
export function parseGlob(given: string): GlobPattern {
  const pattern = sep === '/' ? given : given.replaceAll(sep, '/');
  if (pattern.length > mostCharacters || pattern.includes('\0'))
    throw invalid(pattern, 'is longer than 1,000 characters or has a NUL');
  const plain = pattern.replace(/^(?:\.\/)+/, '');
  const [, folder = '', rest = ''] = /^((?:[^*?[\]{}\\/]+\/)*)([^]*)$/.exec(plain) ?? [];
  const below = expandBraces(rest).map((one) => one.split('/').filter((part) => !['', '.'].includes(part)));
  const isOut = [folder.split('/'), ...below].some((parts) => parts.includes('..'));
  if (isOut || /^(?:\/|[a-z]:[\\/])/i.test(pattern))
    throw invalid(
      pattern,
      'leads out of the folder',
      'Give the folder as path, and a pattern relative to it.',
    );
  // Without a slash it is about names in any depth; with one at its end, about all that is in the folder.
  if (!pattern.includes('/')) for (const parts of below) parts.unshift('**');
  for (const parts of below) if (parts.length === 0) parts.push('**');
  const names = [...new Set(below.map((parts) => parts.at(-1) ?? '**'))];
  const isSimple = names.every((name) => /^[\w.*?@+~-]+$/.test(name) && name !== '**');
  const patterns = below.map((parts) => {
    const found = globExpression(parts);
    if (found) return found;
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

/** The folder all matches of a pattern are in. Throws what opening throws. */
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
 * `a{b,c}` as `ab` and `ac`, the innermost braces first. Braces that are never closed stand for themselves.
 */
function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [group, inner = ''] = /(?<!\\)\{((?:\\[^]|[^\\{}])*)\}/.exec(next) ?? [];
    if (group === undefined) done.push(next);
    else open.push(...inner.split(/(?<!\\),/).map((one) => next?.replace(group, () => one) ?? ''));
    // Each step adds at least one, so this bounds the work as well as the result.
    if (done.length + open.length > mostAlternatives)
      throw invalid(pattern, `has more than ${mostAlternatives} alternatives in its braces`);
  }
  return done.toReversed();
}
