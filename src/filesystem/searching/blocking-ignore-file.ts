import { readdir, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import { pseudoMountsBelow } from '../../machine/paths/pseudo-filesystem.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';

/** What ripgrep reads in each folder. */
const ruleNames: ReadonlySet<string> = new Set(['.git', '.gitignore', '.ignore', '.rgignore']);
const placeOf: Readonly<Record<string, string>> = { '.git': '.git/info/exclude' };
/** ripgrep 15 takes half a gigabyte for the rules in 1 MB, and more than five for those in 10 MB. */
const mostBytes = 1024 * 1024;
const mostFolders = 50_000;

/**
 * A file of ignore rules in a folder or above it that keeps ripgrep from searching: it waits for a FIFO, and reads all
 * of a device into memory. Returns what to tell about the nearest; undefined when there is none.
 */
export async function blockingFileAbove(folder: string): Promise<ToolcribError | undefined> {
  for (let above = folder; ; above = dirname(above)) {
    const problem = await firstProblem(above, [...ruleNames]);
    if (problem || above === dirname(above)) return problem;
  }
}

/** The same below a folder, in hidden folders or not. Ends with `signal`. */
export async function blockingFileBelow(
  folder: string,
  hidden: boolean,
  signal: AbortSignal,
): Promise<ToolcribError | undefined> {
  const leftOut = new Set((await pseudoMountsBelow(folder)).map((place) => join(folder, place)));
  const folders = [folder];
  for (let index = 0; index < Math.min(folders.length, mostFolders) && !signal.aborted; index++) {
    const here = folders[index] ?? folder;
    const entries = await readdir(here, { withFileTypes: true }).catch(() => []);
    const names = entries.map(({ name }) => name).filter((name) => ruleNames.has(name));
    const problem = await firstProblem(here, names);
    if (problem) return problem;
    for (const entry of entries) {
      const isSeen = hidden ? entry.name !== '.git' : !entry.name.startsWith('.');
      const path = here + sep + entry.name;
      if (isSeen && entry.isDirectory() && !leftOut.has(path)) folders.push(path);
    }
  }
  return undefined;
}

async function firstProblem(folder: string, names: readonly string[]): Promise<ToolcribError | undefined> {
  for (const name of names) {
    const problem = await problemOf(join(folder, placeOf[name] ?? name));
    if (problem) return problem;
  }
  return undefined;
}

async function problemOf(path: string): Promise<ToolcribError | undefined> {
  // As ripgrep does, this follows links. What is not there, or cannot be looked at, is none that it could read.
  const found = await stat(path).catch(() => undefined);
  if (!found || found.isDirectory() || (found.isFile() && found.size <= mostBytes)) return undefined;
  const wayOut = 'Set ignored to search without ignore rules, or search another folder.';
  return found.isFile()
    ? new ToolcribError('TOO_LARGE', `${shownPath(path)}: has too many ignore rules.`, wayOut)
    : new ToolcribError(
        'PATH_NOT_REGULAR',
        `${shownPath(path)}: is not a regular file, and ripgrep waits for it.`,
        wayOut,
      );
}
