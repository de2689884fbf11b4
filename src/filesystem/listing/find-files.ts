import type { Opened } from '../../machine/paths/opened.ts';
import { decode } from '../../machine/decode.ts';
import { notesOn, search } from '../searching/ripgrep.ts';
import { printedPath, scopeOf } from '../searching/search-scope.ts';
import type { Services } from '../services.ts';
import { withCommas } from '../with-commas.ts';
import type { GlobPattern } from './glob-pattern.ts';

interface FileSearch {
  readonly folder: Opened;
  readonly pattern: GlobPattern;
  readonly hidden: boolean;
  readonly ignored: boolean;
  readonly sort: 'path' | 'modified';
  readonly signal: AbortSignal;
}

interface FoundFiles {
  /** Below the searched folder, with `/` between names. */
  readonly paths: readonly string[];
  /** What was not searched, and why. */
  readonly notes: readonly string[];
}

/** More than the largest repositories have. */
const mostFiles = 200_000;
const timeoutMs = 30_000;

/** All files below a folder that a pattern chooses, in order, by one run of ripgrep. Throws what `search` throws. */
export async function findFiles(services: Services, wanted: FileSearch): Promise<FoundFiles> {
  const { folder, pattern, hidden, ignored, sort, signal } = wanted;
  const paths: string[] = [];
  let rest = Buffer.alloc(0);
  const take = (chunk: Buffer) => {
    const end = chunk.lastIndexOf(0);
    if (end === -1) {
      rest = Buffer.concat([rest, chunk]);
      return true;
    }
    // Each name is decoded for itself: they may be in several encodings.
    for (const printed of decode(Buffer.concat([rest, chunk.subarray(0, end)])).split('\0')) {
      const path = printedPath(printed);
      if (pattern.namesDecide || pattern.matches(path)) paths.push(path);
    }
    rest = Buffer.from(chunk.subarray(end + 1));
    return paths.length < mostFiles;
  };
  const ended = await search(services, {
    // Threads find files sooner than one does in order.
    argv: [
      '--files',
      '--null',
      ...(sort === 'modified' ? ['--sortr=modified'] : []),
      ...scopeOf(wanted),
      './',
    ],
    folder: folder.stablePath,
    realFolder: folder.path,
    signal,
    timeoutMs,
    ignoreFiles: ignored ? 'none' : hidden || pattern.hidden ? 'all' : 'visible',
    take,
  });
  if (sort === 'path') paths.sort();
  const early = {
    enough: `stopped after ${withCommas(mostFiles)} files: search a smaller folder`,
    timed_out: 'stopped at the time limit: search a smaller folder',
  };
  return { paths, notes: [...(ended.early ? [early[ended.early]] : []), ...notesOn(ended)] };
}
