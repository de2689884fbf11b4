import { constants, lstatSync, rmdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import { removeMade, type Place } from '../paths/place.ts';
import { shownPath } from '../paths/shown-path.ts';
import type { RootedWorkspace } from '../paths/workspace.ts';
import type { Change, Entry, Facts } from './entry.ts';
import { factsAt, isTooMuch, sameFacts } from './facts.ts';
import type { Log } from './log.ts';
import type { InTurn } from './path-turns.ts';
import { gone, refuseMovingTo, relocateChange } from './relocate.ts';
import { writeFile } from './write.ts';

/** What came of taking a change back. Contents are given of files that are not too large to be shown. */
export interface Undone {
  /** The change that was taken back. */
  readonly undone: Change;
  /** The change that this made; undefined in a dry run. */
  readonly change?: Change;
  readonly was?: Buffer | undefined;
  readonly is?: Buffer | undefined;
  readonly notes: readonly string[];
}

/** What a change left is no longer there: in a sentence what is not, with what it left where that can still be told. */
export class Conflict extends Error {
  readonly path: string;
  readonly expected: Buffer | undefined;
  readonly found: Buffer | undefined;
  constructor(path: string, why: string, expected?: Buffer, found?: Buffer) {
    super(why);
    this.path = path;
    this.expected = expected;
    this.found = found;
  }
}

export interface Undoing {
  readonly log: Log;
  readonly entry: Entry;
  readonly workspace: RootedWorkspace;
  readonly inTurn: InTurn;
  readonly mostBytes: number;
  readonly dryRun: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Again, once it is its turn: two callers may have asked. */
  refuseUndone(): void;
}

const mostShown = 1024 * 1024;

/** Takes back one change, as `History.undo` says. */
export function undoEntry(undoing: Undoing): Promise<Omit<Undone, 'undone'>> {
  const { step, before } = undoing.entry;
  if (step === 'move') return moveBack(undoing);
  if (step === 'remove') return bringBack(undoing);
  return step === 'write' && before ? writeBack(undoing, before) : takeAway(undoing);
}

/** An edited or replaced file gets its old content. */
async function writeBack(undoing: Undoing, before: Facts) {
  const { log, entry, inTurn } = undoing;
  const is = await log.content(before.hash ?? '');
  if (!is) throw gone(entry.id);
  return atPlace(entry.path, undoing, undefined, async (place) => {
    let was: Buffer | undefined;
    const decide = async (found: { bytes: Buffer; hash(): Promise<string> } | undefined) => {
      undoing.refuseUndone();
      was = found?.bytes;
      const why = found ? 'The file has been changed since.' : 'The file no longer exists.';
      if ((await found?.hash()) !== entry.after?.hash) throw await conflict(undoing, why, was);
      return undoing.dryRun ? undefined : { bytes: is };
    };
    const written = await inTurn([place.path], () => writeFile(log, place, decide, aboutUndoing(undoing)));
    return { ...(written && { change: written.change }), was, is, notes: written?.notes ?? [] };
  });
}

/** A file that was made, or had come back, goes into the history. */
function takeAway(undoing: Undoing) {
  const { log, entry, inTurn, dryRun, mostBytes } = undoing;
  return atPlace(entry.path, undoing, undefined, async (from) => {
    const was = await contentToShow(from.at);
    const look = async (found: Facts | undefined) => {
      undoing.refuseUndone();
      if (!sameFacts(found, entry.after))
        throw await conflict(undoing, whyNot(found, 'It no longer exists.'), was);
    };
    if (dryRun || !lstatSync(from.at, { throwIfNoEntry: false })) {
      await look(await factsAt(from.at));
      return { was, notes: [] };
    }
    const move = { from, about: aboutUndoing(undoing), look, mostBytes };
    const change = await inTurn([from.path], () => relocateChange(log, move));
    await removeEmpty(entry.made ?? [], undoing.workspace);
    return { change, was, notes: [] };
  });
}

/** What was removed comes back. */
async function bringBack(undoing: Undoing) {
  const { log, entry, inTurn, dryRun, mostBytes } = undoing;
  const trash = log.trashOf(entry.id);
  if (!lstatSync(trash, { throwIfNoEntry: false })) throw gone(entry.id);
  const is = await contentToShow(trash);
  const shown = { is, notes: [] };
  return atPlace(entry.path, undoing, shown, async (to) => {
    await refuseOccupied(to, undoing);
    if (dryRun) return shown;
    const move = { to, about: aboutUndoing(undoing), look: () => undoing.refuseUndone(), mostBytes };
    return { change: await inTurn([to.path], () => relocateChange(log, move)), ...shown };
  });
}

function moveBack(undoing: Undoing) {
  const { log, entry, inTurn, dryRun, signal, mostBytes } = undoing;
  const nothing = { notes: [] };
  return atPlace(entry.to ?? '', undoing, undefined, (from) =>
    atPlace(entry.path, undoing, nothing, async (to) => {
      const look = async (found: Facts | undefined) => {
        undoing.refuseUndone();
        if (!sameFacts(found, entry.after))
          throw await conflict(undoing, whyNot(found, 'It is no longer where it was moved to.'));
      };
      const found = await factsAt(from.at);
      await look(found);
      if (from.path.toLowerCase() !== to.path.toLowerCase()) await refuseOccupied(to, undoing);
      if (dryRun && found) await refuseMovingTo(from, { kind: found.kind, to: to.path, signal });
      if (dryRun) return nothing;
      const move = { from, to, about: aboutUndoing(undoing), look, mostBytes };
      const change = await inTurn([from.path, to.path], () => relocateChange(log, move));
      await removeEmpty(entry.made ?? [], undoing.workspace);
      return { change, ...nothing };
    }),
  );
}

const aboutUndoing = ({ entry, signal }: Undoing) => ({ kind: 'undo', undoes: entry.id, signal });

async function conflict({ log, entry }: Undoing, why: string, found?: Buffer): Promise<Conflict> {
  const { hash, kind } = entry.after ?? {};
  const expected = hash !== undefined && kind === 'file' ? await log.content(hash) : undefined;
  return new Conflict(entry.path, why, expected, found);
}

/** What keeps something from being taken for what a change left. */
function whyNot(found: Facts | undefined, missing: string): string {
  if (!found) return missing;
  return isTooMuch(found)
    ? 'It holds too much to tell whether it has been changed since; move_path and delete_path take it all the same.'
    : 'It has been changed since.';
}

/**
 * Works at the real path a change was at. Without its folder there is a conflict; unless it may be missing: then it is
 * made, and in a dry run, which makes nothing, `missing` says what would come of it.
 */
async function atPlace<T>(
  path: string,
  { workspace, dryRun, entry }: Undoing,
  missing: T | undefined,
  work: (place: Place) => Promise<T>,
): Promise<T> {
  const leadsElsewhere = (now: string) =>
    new Conflict(entry.path, `The path now leads to ${shownPath(now)}.`);
  const openIt = async () => {
    // Before folders are made where it leads now. With a slash at the end, a link there is followed.
    const now = await workspace.resolve(dirname(path) + sep);
    if (now !== dirname(path)) throw leadsElsewhere(join(now, basename(path)));
    return workspace.openPlace(path, { follow: false, make: missing !== undefined && !dryRun });
  };
  const place = await openIt().catch((error: unknown) => {
    if (!(error instanceof ToolcribError) || error.code !== 'PATH_NOT_FOUND') throw error;
    return undefined;
  });
  if (!place) {
    if (missing !== undefined && dryRun) return missing;
    throw new Conflict(entry.path, 'The folder it was in no longer exists.');
  }
  try {
    if (place.path !== path) throw leadsElsewhere(place.path);
    return await work(place);
  } catch (error) {
    await removeMade(place.made);
    throw error;
  } finally {
    await place.folder.handle.close();
  }
}

async function refuseOccupied(place: Place, { entry }: Undoing): Promise<void> {
  if (!lstatSync(place.at, { throwIfNoEntry: false })) return;
  throw new Conflict(
    entry.path,
    'Something else is at the path now.',
    undefined,
    await contentToShow(place.at),
  );
}

/** Undefined for what is no file, or too large. What was swapped for a link is not followed. */
async function contentToShow(path: string): Promise<Buffer | undefined> {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
  try {
    const found = await handle?.stat();
    return found?.isFile() && found.size <= mostShown ? await handle?.readFile() : undefined;
  } finally {
    await handle?.close();
  }
}

/** Removes folders, innermost first, as far as nothing is in them. Never throws: an empty folder may remain. */
export async function removeEmpty(folders: readonly string[], workspace: RootedWorkspace): Promise<void> {
  for (const folder of folders.toReversed()) {
    try {
      const place = await workspace.openPlace(folder, { follow: false });
      try {
        rmdirSync(place.at);
      } finally {
        await place.folder.handle.close();
      }
    } catch {
      // Not empty, not removable, or not there.
      return;
    }
  }
}
