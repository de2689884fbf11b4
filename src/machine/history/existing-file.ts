import { accessSync, closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs';
import type { Stats } from 'node:fs';
import type { ToolcribError } from '../../core/errors.ts';
import { refuseWrongKind } from '../paths/opened.ts';
import type { Place } from '../paths/place.ts';
import { refusal } from '../paths/shown-path.ts';
import { sha256 } from './log.ts';

/** The regular file that is at a place, with all of its content. */
export interface Before {
  readonly bytes: Buffer;
  readonly stat: Stats;
  /** SHA-256 in hexadecimal, made once. */
  hash(): Promise<string>;
}

/** A larger file is no text that somebody wrote, and all of it has to be in memory. */
export const mostChangedBytes = 64 * 1024 * 1024;

/** Undefined when there is nothing. Throws PATH_NOT_REGULAR, TOO_LARGE, and what the system says. */
export function readExisting(place: Place): Before | undefined {
  if (!lstatSync(place.at, { throwIfNoEntry: false })) return undefined;
  const { O_RDONLY, O_NONBLOCK = 0, O_NOCTTY = 0, O_NOFOLLOW = 0 } = constants;
  const fd = openSync(place.at, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
  try {
    const stat = fstatSync(fd);
    refuseWrongKind(stat, place.path, 'file');
    if (stat.size > mostChangedBytes) throw tooLarge(place.path, stat.size, mostChangedBytes);
    const bytes = readFileSync(fd);
    let hash: string | undefined;
    return { bytes, stat, hash: async () => (hash ??= sha256(bytes)) };
  } finally {
    closeSync(fd);
  }
}

export function tooLarge(path: string, bytes: number, most: number): ToolcribError {
  const [has, kept] = [bytes, most].map((each) => `${Math.ceil(each / 1024 / 1024).toLocaleString('en')} MB`);
  const why = `has ${has}; changes that can be undone are kept up to ${kept}. Nothing was changed.`;
  return refusal('TOO_LARGE', path, why, 'Change it with a program of your own.');
}

/** Throws PATH_DENIED for a file that may not be written to: replacing it would only need the right to its folder. */
export function refuseReadOnly({ at, path }: Place, { mode }: Stats): void {
  try {
    // To root, nothing is denied.
    if ((mode & 0o222) === 0) throw new Error('nobody may write');
    accessSync(at, constants.W_OK);
  } catch {
    const wayOut = 'Whoever made it so did not want it changed; chmod u+w allows it.';
    throw refusal('PATH_DENIED', path, 'is read-only.', wayOut);
  }
}

/** Throws STALE_FILE when what is at a place is no longer what was read there. */
export function refuseChanged(place: Place, { stat }: Pick<Before, 'stat'>): void {
  const now = lstatSync(place.at, { throwIfNoEntry: false });
  const facts = ['dev', 'ino', 'size', 'mtimeMs', 'ctimeMs'] as const;
  if (!now || facts.some((fact) => now[fact] !== stat[fact])) throw changedMeanwhile(place);
}

export const changedMeanwhile = (place: Place): ToolcribError =>
  refusal(
    'STALE_FILE',
    place.path,
    'another program changed it while it was being changed here; that was left as it is.',
    'Read it again, and base the change on what is there now.',
  );
