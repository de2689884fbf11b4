import type { Stats } from 'node:fs';
import { ToolcribError } from '../../core/errors.ts';
import type { Before } from '../../machine/history/existing-file.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import type { KnownFile } from '../known-files.ts';
import type { Services } from '../services.ts';
import { sameVersion, settled } from '../unchanged.ts';
import { unifiedDiff } from '../diff/unified-diff.ts';

/** A file about to be changed: as it is, and what was read of it. */
interface Candidate {
  /** Its real path, and the one the caller knows it by. */
  readonly path: string;
  readonly shown: string;
  readonly before: Before;
  /** What read_file handed out with the content, for a caller that has not read it through this server. */
  readonly version?: string | undefined;
}

const diffCharacters = 3_000;

/**
 * Refuses to change a file that the caller has not read, or that is no longer what was read. Throws NOT_READ, or
 * STALE_FILE with what changed. When it can only be known by the content, it is left to the promise that is returned:
 * hashing goes on while the new content is written beside the old.
 */
export function refuseStale(candidate: Candidate, services: Services): Promise<void> {
  const { path, shown, before, version } = candidate;
  const known = services.known.get(path);
  if (!known && version === undefined) {
    // An empty file has nothing that could be lost.
    if (before.bytes.length === 0) return Promise.resolve();
    throw new ToolcribError(
      'NOT_READ',
      `${shownPath(shown)}: has not been read, so a change could destroy what is in it.`,
      'Read it with read_file first, or give the version that it printed to another session.',
    );
  }
  if (known && version === undefined && isUntouched(known, before.stat)) return Promise.resolve();
  return refuseOtherContent(candidate, known, services);
}

async function refuseOtherContent(
  candidate: Candidate,
  known: KnownFile | undefined,
  services: Services,
): Promise<void> {
  const { path, shown, before, version } = candidate;
  const hash = await before.hash();
  // A version that was given has to hold, whatever else is known.
  if (version === undefined ? known?.hash === hash : services.versions.fits(version, path, hash)) return;
  if (version !== undefined && (!known || known.hash === hash))
    throw new ToolcribError(
      'STALE_FILE',
      `${shownPath(shown)}: version: is not that of what is in the file now.`,
      'Read it again, and leave version out or give the one that comes with it.',
    );
  throw new ToolcribError(
    'STALE_FILE',
    `${shownPath(shown)}: has changed since it was read.${await whatChanged(candidate, known, services)}`,
    'Read it again, and base the change on what is there now.',
  );
}

/** Whether nobody can have written to it: then it need not be hashed. */
const isUntouched = ({ stat, seenAt, hash }: KnownFile, now: Stats): boolean =>
  // Of a file that was read in part there is no hash to compare.
  sameVersion(stat, now) && (hash === undefined || settled(stat, seenAt));

async function whatChanged(
  { path, shown, before }: Candidate,
  known: KnownFile | undefined,
  services: Services,
): Promise<string> {
  const old =
    known?.bytes ?? (known?.hash ? await (await services.history()).content(known.hash, path) : undefined);
  if (!old) {
    const { size, mtime } = before.stat;
    const then = known && known.stat.size !== size ? `, then ${known.stat.size.toLocaleString('en')}` : '';
    const when = mtime.toISOString();
    return ` It was written to, or touched, at ${when}; it has ${size.toLocaleString('en')} bytes${then}.`;
  }
  const { text } = await unifiedDiff(old, before.bytes, {
    path: shown,
    encoding: known?.encoding ?? 'utf-8',
    maxCharacters: diffCharacters,
  });
  return ` What changed:\n${text}\n`;
}
