import { createRequire } from 'node:module';
import { ToolcribError } from '../../core/errors.ts';
import { isExecutable } from './is-executable.ts';

/**
 * Absolute path of ripgrep: the one that came with this package, else the machine's own (`discovered`).
 * Throws PROGRAM_NOT_FOUND.
 */
export async function findRipgrep(discovered?: string): Promise<string> {
  for (const candidate of [...shipped(), ...(discovered === undefined ? [] : [discovered])]) {
    if (await isExecutable(candidate)) return candidate;
  }
  throw new ToolcribError(
    'PROGRAM_NOT_FOUND',
    `ripgrep (rg) was not found: neither the npm package @vscode/ripgrep has it for ${process.platform}-${process.arch}, nor is it on the search path.`,
    'Install it (apt install ripgrep, brew install ripgrep, winget install BurntSushi.ripgrep.MSVC), or reinstall this package with optional dependencies.',
  );
}

/** Processors that can run another one's programs: Windows and macOS translate. Linux builds are static, so musl is no matter. */
const alsoRuns: Readonly<Record<string, string>> = {
  'win32-arm64': 'win32-x64',
  'darwin-arm64': 'darwin-x64',
  'win32-x64': 'win32-ia32',
};

function shipped(): string[] {
  const own = `${process.platform}-${process.arch}`;
  const binary = process.platform === 'win32' ? 'rg.exe' : 'rg';
  return [own, alsoRuns[own]].flatMap((platform) => {
    if (platform === undefined) return [];
    try {
      // Only found, never loaded. The binary's package is a dependency of the main one, and pnpm shows it to nobody else.
      const main = createRequire(import.meta.url).resolve('@vscode/ripgrep');
      return [createRequire(main).resolve(`@vscode/ripgrep-${platform}/bin/${binary}`)];
    } catch {
      // Not installed: the machine may have its own.
      return [];
    }
  });
}
