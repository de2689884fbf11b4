import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { globExpression } from './glob-expression.ts';

/** A rule of an ignore file: one line of it. */
interface IgnoreRule {
  readonly isNegated: boolean;
  readonly foldersOnly: boolean;
  /** Matches paths below the folder of the ignore file. */
  readonly expression: RegExp;
}

/** Bytes of an ignore file that somebody could have written; larger files are disregarded. */
const mostBytes = 1024 * 1024;

/**
 * Makes a function that says whether git ignores an entry of a folder, by its name. The nearest file decides,
 * and in it the last line that matches.
 */
export function ignoreRules(folder: string): (name: string, isFolder: boolean) => boolean {
  const above = foldersAbove(folder);
  // The rules of git apply inside a repository only.
  const top = above.findIndex((parent) => existsSync(join(parent, '.git')));
  const scopes = above.slice(0, top + 1).flatMap((from, index) => {
    const prefix = from === folder ? '' : `${relative(from, folder).replaceAll(sep, '/')}/`;
    const files = index === top ? ['.gitignore', '.git/info/exclude'] : ['.gitignore'];
    return files.flatMap((name) => rulesIn(join(from, name)).map((rule) => ({ ...rule, prefix })));
  });
  return (name, isFolder) => {
    const match = scopes.find(
      ({ foldersOnly, prefix, expression }) => (isFolder || !foldersOnly) && expression.test(prefix + name),
    );
    return match !== undefined && !match.isNegated;
  };
}

/** A folder and the folders above it, the nearest first. */
function foldersAbove(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersAbove(above)];
}

/** The rules of a file, the last one first; none when it does not exist or cannot be read. */
function rulesIn(path: string): IgnoreRule[] {
  try {
    // Only a regular file is read: reading a FIFO would wait.
    const file = statSync(path, { throwIfNoEntry: false });
    if (!file?.isFile() || file.size > mostBytes) return [];
    return readFileSync(path, 'utf8').split(/\r?\n/).flatMap(parseRule).toReversed();
  } catch {
    // A file that may not be read has no effect in ripgrep, either.
    return [];
  }
}

/** The rule of a line; none for an empty line or a comment. */
function parseRule(line: string): IgnoreRule[] {
  const [, not, glob = '', slash] = /^(!?)(.*?)(\/?)$/.exec(line.replace(/(?<!\\)\s+$/, '')) ?? [];
  if (glob === '' || (!not && glob.startsWith('#'))) return [];
  const parts = glob.split('/');
  // With a slash before its end, a rule is for one path; without, for a name at any depth.
  const expression = globExpression(
    parts.length === 1 ? ['**', ...parts] : parts.filter((part) => part !== ''),
  );
  return expression ? [{ isNegated: not === '!', foldersOnly: slash === '/', expression }] : [];
}
