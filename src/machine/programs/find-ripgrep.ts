import { createRequire } from 'node:module';
import { ToolcribError } from '../../core/errors.ts';
import { isExecutable } from './project-folders.ts';

/**
 * Finds ripgrep: the one that came with this package, otherwise the machine's own (`discovered`). Returns its
 * absolute path. Throws PROGRAM_NOT_FOUND.
 */
export async function findRipgrep(discovered?: string): Promise<string> {
  for (const candidate of [shipped(), discovered])
    if (candidate !== undefined && isExecutable(candidate)) return candidate;
  throw new ToolcribError(
    'PROGRAM_NOT_FOUND',
    `ripgrep (rg) was not found: @vscode/ripgrep has none for ${platform}, and it is not on the search path.`,
    'Install it (apt install ripgrep, brew install ripgrep, winget install BurntSushi.ripgrep.MSVC).',
  );
}

const platform = `${process.platform}-${process.arch}`;

function shipped(): string | undefined {
  const binary = process.platform === 'win32' ? 'rg.exe' : 'rg';
  try {
    // The binary's package is a dependency of the main one, and pnpm lets no other package resolve it.
    const main = createRequire(import.meta.url).resolve('@vscode/ripgrep');
    return createRequire(main).resolve(`@vscode/ripgrep-${platform}/bin/${binary}`);
  } catch {
    // The package is not installed, but the machine may have its own ripgrep.
    return undefined;
  }
}
