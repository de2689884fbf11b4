import { accessSync, constants, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { stamp } from './run-file.ts';

/** Changes when what lies there does; for a folder when something in it comes or goes. */
export function factsOf(path: string): string {
  try {
    return stamp(lstatSync(path, { bigint: true }));
  } catch {
    // Gone meanwhile.
    return '';
  }
}

/** Whether names in a folder can be used, also when it cannot be listed. */
export function canEnter(folder: string): boolean {
  try {
    accessSync(folder, constants.X_OK);
    return true;
  } catch {
    // Closed, or gone.
    return false;
  }
}

/** Undefined where there is nothing that this user could reach. */
export function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    // Nothing there, or nothing that this user could reach.
    return undefined;
  }
}

/** What a link says, and where that is in the end. */
export function whereTo(link: string): { text: string; real: string | undefined; isFolder: boolean } {
  try {
    const text = readlinkSync(link);
    const real = realOf(link);
    return { text, real, isFolder: real !== undefined && statSync(real).isDirectory() };
  } catch {
    // Gone meanwhile, or where it leads to is.
    return { text: '', real: undefined, isFolder: false };
  }
}
