import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import { search } from '../searching/ripgrep.ts';
import { printedPath } from '../searching/search-scope.ts';
import type { Services } from '../services.ts';

interface Look {
  /** A real path. */
  readonly folder: string;
  /** Levels of folders that are looked at. */
  readonly depth: number;
  readonly signal: AbortSignal;
}

const timeoutMs = 10_000;
/** Each ignored entry takes some 300 bytes of what ripgrep says. */
const keepBytes = 8 * 1024 * 1024;

/**
 * Which entries of a folder ignore rules leave out: paths below it, with `/` between names. ripgrep only lists files,
 * and says of folders that it does not go into them in its messages alone. Throws what `search` throws.
 */
export async function ignoredEntries(
  services: Services,
  { folder, depth, signal }: Look,
): Promise<ReadonlySet<string>> {
  const ignored = new Set<string>();
  if (depth === 1 && !rulesApply(folder)) return ignored;
  try {
    const { complaints } = await search(services, {
      argv: ['--files', '--debug', '--hidden', `--max-depth=${depth}`, './'],
      folder,
      realFolder: folder,
      signal,
      timeoutMs,
      keepBytes,
      ignoreFiles: 'all',
      take: () => true,
    });
    for (const line of complaints) {
      const [, printed] = /: ignoring (\.[/\\].+): Ignore\(IgnoreMatch\(Gitignore/.exec(line) ?? [];
      if (printed !== undefined) ignored.add(printedPath(printed));
    }
  } catch (error) {
    // Without ripgrep a folder can be listed all the same.
    if (!(error instanceof ToolcribError) || error.code !== 'PROGRAM_NOT_FOUND') throw error;
  }
  return ignored;
}

/** Git's rules count in its repositories only; asking takes less time than starting a program. */
function rulesApply(folder: string): boolean {
  for (let above = folder; ; above = dirname(above)) {
    if (['.git', '.jj', '.ignore', '.rgignore'].some((name) => existsSync(join(above, name)))) return true;
    if (above === dirname(above)) return false;
  }
}
