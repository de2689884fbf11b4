import { statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { isAbsolute } from 'node:path';

/** The home folder of a user without one, as Debian sets it for system users. Nothing is stored there. */
export const noHome = '/nonexistent';

/**
 * Sets HOME to the home of the user database where it is missing or no absolute path, and to `noHome` where
 * the result is no folder. Without this, every look-up of the home folder would throw.
 */
export function settleHome(): void {
  if (process.platform === 'win32') return;
  const configured = process.env['HOME'];
  const home = configured === undefined || !isAbsolute(configured) ? homeInDatabase() : configured;
  process.env['HOME'] = home === undefined || isNoFolder(home) ? noHome : home;
}

function homeInDatabase(): string | undefined {
  try {
    const { homedir: home } = userInfo();
    return isAbsolute(home) ? home : undefined;
  } catch {
    // The user of a container may have no entry.
    return undefined;
  }
}

/**
 * True for a path that exists and is no folder, such as the /dev/null of daemons. A missing or unreadable
 * path may still become or be a folder.
 */
function isNoFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOTDIR';
  }
}
