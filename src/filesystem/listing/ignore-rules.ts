import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { pathPattern } from './glob-pattern.ts';

/** A line of an ignore file. */
interface IgnoreRule {
  readonly negated: boolean;
  readonly foldersOnly: boolean;
  /** What paths below the folder of the file look like that are meant, with `/` after each of their names. */
  readonly pattern: RegExp;
}

/** A file with more bytes is none that somebody wrote. */
const mostBytes = 1024 * 1024;

/**
 * Whether ignore rules leave out an entry of a folder, by its name, as ripgrep applies them: `.rgignore` before
 * `.ignore` before `.gitignore`, the nearest file first, its last line first. What the user ignores everywhere is not
 * asked about.
 */
export function ignoreRules(folder: string): (name: string, isFolder: boolean) => boolean {
  const above = foldersAbove(folder);
  // Git's rules count in its repositories only.
  const top = above.findIndex((each) => ['.git', '.jj'].some((name) => existsSync(join(each, name))));
  const files = [
    ...above.map((each) => [each, '.rgignore'] as const),
    ...above.map((each) => [each, '.ignore'] as const),
    ...above.slice(0, top + 1).map((each) => [each, '.gitignore'] as const),
    ...above.slice(top, top + 1).map((each) => [each, '.git/info/exclude'] as const),
  ];
  const scopes = files.flatMap(([from, name]) => {
    const rules = rulesIn(join(from, name));
    const prefix = from === folder ? '' : `${relative(from, folder).replaceAll(sep, '/')}/`;
    return rules.length > 0 ? [{ rules, prefix }] : [];
  });
  return (name, isFolder) => {
    for (const { rules, prefix } of scopes) {
      const rule = rules.find(
        ({ foldersOnly, pattern }) => (isFolder || !foldersOnly) && pattern.test(`${prefix}${name}/`),
      );
      if (rule) return !rule.negated;
    }
    return false;
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
  const text = line.replace(/(?<!\\)\s+$/, '');
  if (text === '' || text.startsWith('#')) return [];
  const negated = text.startsWith('!');
  const glob = text.slice(negated ? 1 : 0);
  const foldersOnly = glob.endsWith('/');
  const parts = glob.replace(/\/$/, '').split('/');
  // With a slash before its end it is about one place, else about a name anywhere.
  const pattern = pathPattern(parts.length === 1 ? ['**', ...parts] : parts.filter((part) => part !== ''));
  return pattern ? [{ negated, foldersOnly, pattern }] : [];
}
