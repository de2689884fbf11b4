import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { globExpression } from './glob-expression.ts';

/** A line of an ignore file. */
interface IgnoreRule {
  readonly isNegated: boolean;
  readonly foldersOnly: boolean;
  /** What paths below the folder of the file it is about. */
  readonly expression: RegExp;
}

/** A file with more bytes is none that somebody wrote. */
const mostBytes = 1024 * 1024;

/** Whether git leaves out an entry of a folder, by its name: the nearest file first, its last line first. */
export function ignoreRules(folder: string): (name: string, isFolder: boolean) => boolean {
  const above = foldersAbove(folder);
  // Git's rules count in its repositories only.
  const top = above.findIndex((each) => existsSync(join(each, '.git')));
  const scopes = above.slice(0, top + 1).flatMap((from, index) => {
    const way = from === folder ? '' : `${relative(from, folder).replaceAll(sep, '/')}/`;
    const files = index === top ? ['.gitignore', '.git/info/exclude'] : ['.gitignore'];
    return files.flatMap((name) => rulesIn(join(from, name)).map((rule) => ({ ...rule, way })));
  });
  return (name, isFolder) => {
    const meant = scopes.find(
      ({ foldersOnly, way, expression }) => (isFolder || !foldersOnly) && expression.test(way + name),
    );
    return meant !== undefined && !meant.isNegated;
  };
}

/** A folder and those it is in, the nearest first. */
function foldersAbove(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersAbove(above)];
}

/** The rules of a file, the last first; none when it is not there, or no file that can be read. */
function rulesIn(path: string): IgnoreRule[] {
  try {
    // A FIFO would be waited for.
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found?.isFile() || found.size > mostBytes) return [];
    return readFileSync(path, 'utf8').split(/\r?\n/).flatMap(ruleOf).toReversed();
  } catch {
    // It may not be read; then ripgrep cannot read it either.
    return [];
  }
}

function ruleOf(line: string): IgnoreRule[] {
  const [, not, glob = '', slash] = /^(!?)(.*?)(\/?)$/.exec(line.replace(/(?<!\\)\s+$/, '')) ?? [];
  if (glob === '' || (!not && glob.startsWith('#'))) return [];
  const parts = glob.split('/');
  // With a slash before its end it is about one place, else about a name anywhere.
  const expression = globExpression(
    parts.length === 1 ? ['**', ...parts] : parts.filter((part) => part !== ''),
  );
  return expression ? [{ isNegated: not === '!', foldersOnly: slash === '/', expression }] : [];
}
