import { accessSync, constants, statSync } from 'node:fs';

/** Whether a path leads to a file that we may run. Some microseconds, less than another thread takes to be asked. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Not there, or not for us.
    return false;
  }
}
