import { opendir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ToolcribError } from '../../../core/errors.ts';
import { displayPath } from '../../../machine/paths/display-path.ts';

/** What ripgrep reads in each folder. */
const ruleFiles = ['.gitignore', '.ignore', '.rgignore', '.git/info/exclude'];
/** ripgrep 15 takes half a gigabyte for the rules in 1 MB, and more than five for those in 10 MB. */
const mostBytes = 1024 * 1024;
const mostFolders = 50_000;

/**
 * A file of ignore rules in a folder, above it or below it, that keeps ripgrep from searching: it waits for a
 * FIFO, and reads all of a device into memory. Returns what to tell about it; undefined when there is none,
 * or `signal` ends.
 */
export async function blockingFile(folder: string, signal: AbortSignal): Promise<ToolcribError | undefined> {
  for (let above = folder; above !== dirname(above); above = dirname(above)) {
    const problem = await problemIn(dirname(above));
    if (problem) return problem;
  }
  let looked = 0;
  const folders = [folder];
  for (let next = folders.shift(); next !== undefined; next = folders.shift()) {
    if (signal.aborted || looked++ > mostFolders) return undefined;
    const problem = await problemIn(next);
    if (problem) return problem;
    // What cannot be read is not searched either.
    for await (const entry of await opendir(next).catch(() => []))
      if (entry.isDirectory() && entry.name !== '.git') folders.push(join(next, entry.name));
  }
  return undefined;
}

async function problemIn(folder: string): Promise<ToolcribError | undefined> {
  for (const name of ruleFiles) {
    const path = join(folder, name);
    // As ripgrep does, this follows links. What is not there, or cannot be looked at, is none that it could
    // read.
    const found = await stat(path).catch(() => undefined);
    if (!found || found.isDirectory() || (found.isFile() && found.size <= mostBytes)) continue;
    const wayOut = 'Set ignored to search without ignore rules, or search another folder.';
    const what = found.isFile()
      ? 'has too many ignore rules.'
      : 'is not a regular file, and ripgrep waits for it.';
    const code = found.isFile() ? 'TOO_LARGE' : 'PATH_NOT_REGULAR';
    return new ToolcribError(code, `${displayPath(path)}: ${what}`, wayOut);
  }
  return undefined;
}
