import { existsSync, lstatSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readPlain } from '../../own-files/own-files.ts';

/** The origin of the repository whose top a folder is: '' when it has none, undefined where no repository is. */
export function originAt(folder: string): string | undefined {
  try {
    if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return undefined;
    const dotGit = join(folder, '.git');
    const facts = lstatSync(dotGit, { throwIfNoEntry: false });
    // Without a work tree it has the names in it that git itself looks for.
    const isBare = !facts && ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(folder, name)));
    if (!facts && !isBare) return undefined;
    const pointer = facts?.isDirectory()
      ? '.git'
      : textOf(dotGit)
          .trim()
          .replace(/^gitdir: */, '');
    const gitFolder = resolve(folder, isBare ? '' : pointer);
    // That of a linked work tree names that of its repository.
    const common = resolve(gitFolder, textOf(join(gitFolder, 'commondir')).trim());
    return originIn(textOf(join(common, 'config'))) ?? '';
  } catch {
    // Git takes no such address.
    return '(cannot be read)';
  }
}

/** '' where nothing is. Throws for a link or a pipe, and above 1 MB: thousands of branches take less. */
function textOf(path: string): string {
  if (!existsSync(path)) return '';
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
