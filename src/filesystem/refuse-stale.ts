import type { Stats } from 'node:fs';
import { ToolcribError } from '../core/errors.ts';
import type { Before } from '../machine/file-changes.ts';
import { shownPath } from '../machine/shown-path.ts';
import type { KnownFile } from './known-files.ts';
import type { Services } from './services.ts';
import { unifiedDiff } from './unified-diff.ts';

/** A file about to be changed: as it is, and what was read of it. */
interface Candidate {
  /** Its real path, and the one the caller knows it by. */
  readonly path: string;
  readonly shown: string;
  readonly before: Before;
  /** What read_file handed out with the content, for a caller that has not read it through this server. */
  readonly version?: string | undefined;
}

/** Within this time two changes can carry the same time: a tick of Linux is up to 10 ms, of FAT 2 s. */
const tickMs = 20;
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
      'Read it with read_file first.',
    );
  }
  if (known && isUntouched(known, before.stat)) return Promise.resolve();
  return refuseOtherContent(candidate, known, services);
}

async function refuseOtherContent(
  { path, shown, before, version }: Candidate,
  known: KnownFile | undefined,
  services: Services,
): Promise<void> {
  const hash = await before.hash();
  if (known?.hash === hash) return;
  if (version !== undefined && services.versions.fits(version, path, hash)) return;
  throw new ToolcribError(
    'STALE_FILE',
    `${shownPath(shown)}: has changed since it was read.${await whatChanged(shown, before, known, services)}`,
    'Read it again, and base the change on what is there now.',
  );
}

/** Whether nobody can have written to it: then it need not be hashed. */
function isUntouched(known: KnownFile, now: Stats): boolean {
  const { stat, seenAt, hash } = known;
  const same =
    stat.dev === now.dev &&
    stat.ino === now.ino &&
    stat.size === now.size &&
    stat.mtimeMs === now.mtimeMs &&
    stat.ctimeMs === now.ctimeMs;
  // What was written just before it was read could have been written again within the same tick.
  return same && (hash === undefined || seenAt - stat.ctimeMs > tickMs);
}

async function whatChanged(
  shown: string,
  before: Before,
  known: KnownFile | undefined,
  services: Services,
): Promise<string> {
  const old =
    known?.bytes ?? (known?.hash ? await (await services.changes()).content(known.hash) : undefined);
  if (!old) {
    const { size, mtime } = before.stat;
    const then = known ? `; it had ${known.stat.size.toLocaleString('en')} bytes` : '';
    return ` It was written at ${mtime.toISOString()} and has ${size.toLocaleString('en')} bytes${then}.`;
  }
  const { text } = await unifiedDiff(old, before.bytes, {
    path: shown,
    encoding: known?.encoding ?? 'utf-8',
    maxCharacters: diffCharacters,
  });
  return ` What changed:\n${text}\n`;
}
