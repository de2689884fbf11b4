import { statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { isAbsolute } from 'node:path';

/** The home folder of who has none, as Debian's users have it that are no persons. Nothing is kept there. */
export const noHome = '/nonexistent';

/**
 * Sets HOME where it is missing, no absolute path, or no folder: to what the user database says, and to
 * `noHome` for a user without an entry. Else every question for the home folder would throw.
 */
export function settleHome(): void {
  if (process.platform === 'win32') return;
  const given = process.env['HOME'];
  const home = given === undefined || !isAbsolute(given) ? homeInDatabase() : given;
  process.env['HOME'] = home === undefined || isNoFolder(home) ? noHome : home;
}

function homeInDatabase(): string | undefined {
  try {
    const { homedir: home } = userInfo();
    return isAbsolute(home) ? home : undefined;
  } catch {
    // A container's user need not have an entry.
    return undefined;
  }
}

/** Daemons have /dev/null there. What is not there yet, or may not be looked at, can be a folder. */
function isNoFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOTDIR';
  }
}
