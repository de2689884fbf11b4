import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import { pseudoMountsBelow } from '../../machine/paths/pseudo-filesystem.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';

/** What ripgrep reads in each folder. */
const ruleFiles = ['.gitignore', '.ignore', '.rgignore', '.git/info/exclude'];
/** ripgrep 15 takes half a gigabyte for the rules in 1 MB, and more than five for those in 10 MB. */
const mostBytes = 1024 * 1024;
const mostFolders = 50_000;

/**
 * A file of ignore rules in a folder, above it or below it, that keeps ripgrep from searching: it waits for a FIFO, and
 * reads all of a device into memory. Returns what to tell about it; undefined when there is none, or `signal` ends.
 */
export async function blockingFile(
  folder: string,
  hidden: boolean,
  signal: AbortSignal,
): Promise<ToolcribError | undefined> {
  for (let above = folder; above !== dirname(above); above = dirname(above)) {
    const problem = await problemIn(dirname(above));
    if (problem) return problem;
  }
  const leftOut = new Set((await pseudoMountsBelow(folder)).map((place) => join(folder, place)));
  const folders = [folder];
  for (let index = 0; index < Math.min(folders.length, mostFolders) && !signal.aborted; index++) {
    const here = folders[index] ?? folder;
    const problem = await problemIn(here);
    if (problem) return problem;
    for (const entry of await readdir(here, { withFileTypes: true }).catch(() => [])) {
      const isSeen = hidden ? entry.name !== '.git' : !entry.name.startsWith('.');
      const path = join(here, entry.name);
      if (isSeen && entry.isDirectory() && !leftOut.has(path)) folders.push(path);
    }
  }
  return undefined;
}

async function problemIn(folder: string): Promise<ToolcribError | undefined> {
  for (const name of ruleFiles) {
    const path = join(folder, name);
    // As ripgrep does, this follows links. What is not there, or cannot be looked at, is none that it could read.
    const found = await stat(path).catch(() => undefined);
    if (!found || found.isDirectory() || (found.isFile() && found.size <= mostBytes)) continue;
    const wayOut = 'Set ignored to search without ignore rules, or search another folder.';
    return found.isFile()
      ? new ToolcribError('TOO_LARGE', `${shownPath(path)}: has too many ignore rules.`, wayOut)
      : new ToolcribError(
          'PATH_NOT_REGULAR',
          `${shownPath(path)}: is not a regular file, and ripgrep waits for it.`,
          wayOut,
        );
  }
  return undefined;
}
