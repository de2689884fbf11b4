import { lstatSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { ownFolder, thisPlatform } from '../../store/own-files.ts';
import * as own from '../../store/private-file.ts';
import { ChatError, type ChatErrorCode } from '../errors.ts';

/**
 * Finds the folders for what the person writes (config) and what the chat writes (state). Throws
 * CONFIG_INVALID.
 */
export function chatFolders(
  env: NodeJS.ProcessEnv,
  home: string,
): { readonly config: string; readonly state: string } {
  const config = ownFolder('config', thisPlatform(), env, home);
  const state = ownFolder('state', thisPlatform(), env, home);
  if (config !== undefined && state !== undefined) return { config, state: join(state, 'chat') };
  throw new ChatError('CONFIG_INVALID', 'No home folder is known. Set HOME to an absolute path.');
}

const orThrows =
  <A extends unknown[], T>(code: ChatErrorCode, work: (...args: A) => T) =>
  (...args: A): T => {
    try {
      return work(...args);
    } catch (error) {
      if (!(error instanceof own.OwnFileError)) throw error;
      throw new ChatError(code, error.message, { cause: error });
    }
  };

export const readPrivateFile = orThrows('CONFIG_INVALID', own.readOwnTextOnly);
export const writePrivateFile = orThrows('CONFIG_INVALID', own.writePrivateFile);
export const appendPrivately = orThrows('CONFIG_INVALID', own.appendPrivately);
export const readSessionText = orThrows('SESSION_UNUSABLE', own.readOwnText);
export const openSessionFile = orThrows('SESSION_UNUSABLE', own.openToAppend);
export const makeSessionFolder = orThrows('SESSION_UNUSABLE', own.makePrivateFolder);

/**
 * Adds values to a file that only this person can read, one JSON line each. Throws USAGE when it cannot be
 * written.
 */
export function jsonLinesTo(path: string, what: string): (value: object) => void {
  const write = (text: string) => {
    try {
      own.appendPrivately(path, text);
    } catch (error) {
      throw new ChatError('USAGE', `The ${what} ${path} cannot be written.`, { cause: error });
    }
  };
  write('');
  return (value) => write(`${JSON.stringify(value)}\n`);
}

/** A log file is put aside at this size; two are kept. */
const mostLogBytes = 1_000_000;

/**
 * Writes to `<state>/chat.log`, with the time before each line; the one before is kept as `chat.log.1`.
 * Logging never fails a chat.
 */
export function openLog(folder: string): (text: string) => void {
  const file = join(folder, 'chat.log');
  return (text) => {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const size = lstatSync(file, { throwIfNoEntry: false })?.size ?? 0;
      if (size > mostLogBytes) renameSync(file, `${file}.1`);
      const line = `${new Date().toISOString()} ${process.pid} ${text.replaceAll('\n', '\n  ')}\n`;
      own.appendPrivately(file, line);
    } catch {
      // A full disk or a read-only home: the chat goes on without a log.
    }
  };
}
