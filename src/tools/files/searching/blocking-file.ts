import { opendir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ToolcribError } from '../../../core/errors.ts';
import { displayPath } from '../../../machine/paths/display-path.ts';

/** The files of ignore rules that ripgrep reads in each folder. */
const ruleFiles = ['.gitignore', '.ignore', '.rgignore', '.git/info/exclude'];
/** ripgrep 15 takes half a gigabyte for the rules in 1 MB, and more than five for those in 10 MB. */
const mostBytes = 1024 * 1024;
const mostFolders = 50_000;

/**
 * Finds a file of ignore rules, in a folder, above it or below it, that keeps ripgrep from searching: ripgrep
 * waits for a FIFO, and reads a whole device into memory. Returns the error for it; undefined when there is
 * none, or after `signal`.
 */
export async function blockingFile(folder: string, signal: AbortSignal): Promise<ToolcribError | undefined> {
  for (let above = folder; above !== dirname(above); above = dirname(above)) {
    const problem = await problemIn(dirname(above));
    if (problem) return problem;
  }
  let count = 0;
  const folders = [folder];
  for (let next = folders.shift(); next !== undefined; next = folders.shift()) {
    if (signal.aborted || count > mostFolders) return undefined;
    count += 1;
    const problem = await problemIn(next);
    if (problem) return problem;
    // ripgrep cannot search a folder that cannot be read.
    for await (const entry of await opendir(next).catch(() => []))
      if (entry.isDirectory() && entry.name !== '.git') folders.push(join(next, entry.name));
  }
  return undefined;
}

async function problemIn(folder: string): Promise<ToolcribError | undefined> {
  for (const name of ruleFiles) {
    const path = join(folder, name);
    // Like ripgrep, stat follows links. A file that does not exist or cannot be looked at does not block it.
    const file = await stat(path).catch(() => undefined);
    if (!file || file.isDirectory() || (file.isFile() && file.size <= mostBytes)) continue;
    const wayOut = 'Set ignored to search without ignore rules, or search another folder.';
    const problem = file.isFile()
      ? 'has too many ignore rules.'
      : 'is not a regular file, and ripgrep waits for it.';
    const code = file.isFile() ? 'TOO_LARGE' : 'PATH_NOT_REGULAR';
    return new ToolcribError(code, `${displayPath(path)}: ${problem}`, wayOut);
  }
  return undefined;
}
