import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, canKeep, isPrivate, stateFolder } from '../store/own-files.ts';
import { processFolder } from '../store/process-folder.ts';
import type { Host } from './host.ts';

type FolderRequest = Pick<Host, 'platform' | 'env' | 'home'>;

const folders = { cache: cacheFolder, state: stateFolder } as const;

/** The user's folder of a kind, or, where that cannot be written, one that is removed with this process. */
export function userFolder(
  kind: keyof typeof folders,
  { platform, env, home }: FolderRequest,
): string | undefined {
  const folder = folders[kind](platform, env, home);
  if (folder !== undefined && canKeep(folder)) return folder;
  try {
    return join(processFolder(), kind);
  } catch {
    // There is no folder for temporary files either. A later write to this one reports the system's error.
    return folder;
  }
}

/**
 * The reason why the state folder cannot be used, with the consequence and a way out; undefined where it can
 * be.
 */
export function unkeptState({ platform, env, home }: FolderRequest): string | undefined {
  const folder = stateFolder(platform, env, home);
  if (folder !== undefined && canKeep(folder)) return undefined;
  const fault =
    folder !== undefined && isUsed(folder) ? 'is open to others, or not yours' : 'cannot be written';
  const why =
    folder === undefined
      ? 'there is no home folder: HOME is not set, and the user database does not have this user'
      : `${folder} ${fault}`;
  const variable = { linux: 'XDG_STATE_HOME', darwin: 'HOME', win32: 'LOCALAPPDATA' }[platform];
  return (
    `${why}. So undo reaches back to the start of a server only, and trust, answers of "always" and the ` +
    `record of calls are forgotten at its end. ${variable}=DIR names a folder that can be written.`
  );
}

const isUsed = (folder: string): boolean => existsSync(folder) && !isPrivate(folder);
