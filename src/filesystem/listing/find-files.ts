import { decode } from '../../machine/decode.ts';
import type { Opened } from '../../machine/paths/opened.ts';
import { isDotFile, printedPath, scopeOf, search } from '../searching/ripgrep.ts';
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
const mostBytes = 32 * 1024 * 1024;

/**
 * The paths of all files below a folder, or of those that a pattern chooses, in order, and what was not searched. By
 * one run of ripgrep; throws what `search` throws.
 */
export async function findFiles(services: Services, request: FileSearch) {
  const { where, pattern, ignored, sort, signal } = request;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const take = (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    return bytes < mostBytes;
  };
  // Threads find files sooner than one does in order.
  const order = sort === 'modified' ? ['--sortr=modified'] : [];
  const argv = ['--files', '--null', ...order, ...scopeOf(request), '--'];
  const ended = await search(services, { argv, where, ignored, signal, take });
  // Each name is decoded for itself: they may be in several encodings.
  let paths = decode(Buffer.concat(chunks)).split('\0').slice(0, -1).map(printedPath);
  if (!request.hidden && pattern?.hidden !== true) paths = paths.filter((path) => !isDotFile(path));
  if (pattern && !pattern.isByName) paths = paths.filter((path) => pattern.matches(path));
  if (sort === 'path') paths.sort();
  const enough = `stopped after ${withCommas(paths.length)} files: search a smaller folder`;
  return { paths, notes: [...(ended.isEnough ? [enough] : []), ...ended.notes] };
}
