import { existsSync, lstatSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readPlain } from '../folders.ts';

/** Finds the origin of the repository whose top a folder is: '' when it has none, undefined where no repository is. */
export function createOriginReader(): (folder: string) => string | undefined {
  const readPath = rememberByStat((path) => textOf(path).trim());
  const readOrigin = rememberByStat((path) => originIn(textOf(path)));
  return (folder) => {
    try {
      if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return undefined;
      const dotGit = join(folder, '.git');
      const facts = lstatSync(dotGit, { throwIfNoEntry: false });
      // Without a work tree it has the names in it that git itself looks for.
      const isBare = !facts && ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(folder, name)));
      if (!facts && !isBare) return undefined;
      const pointer = facts?.isDirectory() ? '.git' : readPath(dotGit)?.replace(/^gitdir: */, '');
      const gitFolder = resolve(folder, pointer ?? '');
      // That of a linked work tree names that of its repository.
      const common = resolve(gitFolder, readPath(join(gitFolder, 'commondir')) ?? '');
      return readOrigin(join(common, 'config')) ?? '';
    } catch {
      // Git takes no such address.
      return '(cannot be read)';
    }
  };
}

/** Remembers what was read of a file until its stat is another; undefined for one that is not there. */
export function rememberByStat<T>(read: (path: string) => T): (path: string) => T | undefined {
  const known = new Map<string, { readonly stamp: string; readonly value: T }>();
  return (path) => {
    const facts = existsSync(path) ? lstatSync(path, { throwIfNoEntry: false }) : undefined;
    if (!facts) return undefined;
    // Taken before reading: what changes in between has another one the next time.
    const stamp = [facts.ino, facts.size, facts.mtimeMs, facts.ctimeMs].join();
    const before = known.get(path);
    if (before?.stamp === stamp) return before.value;
    const value = read(path);
    known.set(path, { stamp, value });
    return value;
  };
}

/** Throws for a link or a pipe in the place of a file, and above 1 MB: thousands of branches take less. */
function textOf(path: string): string {
  const bytes = readPlain(path, ({ size }) => size <= 1024 * 1024);
  if (!bytes) throw new Error(`${path} is no small file that can be read`);
  return bytes.toString('utf8');
}

/** The first address of the remote "origin" in a configuration, as git writes it: one setting a line. */
function originIn(config: string): string | undefined {
  const sections = config.matchAll(/^[ \t]*\[remote(?:\.|[ \t]+")origin"?\](.*(?:\n(?![ \t]*\[).*)*)/gim);
  const settings = [...sections].map(([, text]) => text).join('\n');
  const address = /^[ \t]*url[ \t]*=[ \t]*"?([^"\n]+)/im.exec(settings)?.[1]?.trim();
  // A name before the host may be a token as well.
  return address?.replace(/:\/\/[^/?#]*@/, '://');
}
