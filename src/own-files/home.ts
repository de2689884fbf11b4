import { devNull, homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';

/**
 * Sets HOME where it is missing or no absolute path: to what the user database says, and for a user without an entry to
 * a path below which nothing can be. Else every question for the home folder would throw, ours and those of children.
 */
export function settleHome(): void {
  if (process.platform === 'win32' || isAbsolute(process.env['HOME'] ?? '')) return;
  // With an empty or relative HOME the system would answer just that.
  delete process.env['HOME'];
  process.env['HOME'] = homeInDatabase() ?? devNull;
}

/** Whether there is no home folder at all. */
export const isHomeless = (): boolean => homedir() === devNull;

function homeInDatabase(): string | undefined {
  try {
    const { homedir: home } = userInfo();
    return isAbsolute(home) ? home : undefined;
  } catch {
    // A container's user need not have an entry.
    return undefined;
  }
}
