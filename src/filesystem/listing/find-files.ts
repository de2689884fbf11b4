import { decode } from '../../machine/decode.ts';
import type { Opened } from '../../machine/paths/opened.ts';
import { search } from '../searching/ripgrep.ts';
import { isDotFile, printedPath, scopeOf } from '../searching/search-scope.ts';
import type { Services } from '../services.ts';
import { withCommas } from '../with-commas.ts';
import type { GlobPattern } from './glob-pattern.ts';

interface FileSearch {
  readonly where: Opened;
  readonly pattern: GlobPattern | undefined;
  readonly hidden: boolean;
  readonly ignored: boolean;
  readonly sort: 'path' | 'modified';
  readonly signal: AbortSignal;
}

/** More than the largest repositories have. */
const mostFiles = 200_000;

/**
 * The paths of all files below a folder, or of those that a pattern chooses, in order, and what was not searched. By
 * one run of ripgrep; throws what `search` throws.
 */
export async function findFiles(services: Services, request: FileSearch) {
  const { where, pattern, ignored, sort, signal } = request;
  const paths: string[] = [];
  const dots = request.hidden || pattern?.hidden === true;
  let rest = Buffer.alloc(0);
  const take = (chunk: Buffer) => {
    const end = chunk.lastIndexOf(0);
    // Each name is decoded for itself: they may be in several encodings.
    const whole = end === -1 ? [] : decode(Buffer.concat([rest, chunk.subarray(0, end)])).split('\0');
    for (const printed of whole) {
      const path = printedPath(printed);
      if ((dots || !isDotFile(path)) && (!pattern || pattern.matches(path))) paths.push(path);
    }
    rest = end === -1 ? Buffer.concat([rest, chunk]) : Buffer.from(chunk.subarray(end + 1));
    return paths.length < mostFiles;
  };
  // Threads find files sooner than one does in order.
  const order = sort === 'modified' ? ['--sortr=modified'] : [];
  const argv = ['--files', '--null', ...order, ...scopeOf(request), '--'];
  const ended = await search(services, { argv, where, ignored, signal, take });
  if (sort === 'path') paths.sort();
  const enough = `stopped after ${withCommas(mostFiles)} files: search a smaller folder`;
  return { paths, notes: [...(ended.isEnough ? [enough] : []), ...ended.notes] };
}
