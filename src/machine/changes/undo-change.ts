import { constants, existsSync, lstatSync, rmdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import { changeOf, type Change, type Entry, type Facts } from './change.ts';
import type { ChangeKit } from './change-kit.ts';
import { factsAt, isTooMuch, sameFacts } from './facts.ts';
import { isInside } from '../paths/inside.ts';
import type { Index } from './journal.ts';
import { removeMade, type Place } from '../paths/place.ts';
import { gone, refuseMovingTo, relocateChange } from './relocate-change.ts';
import { shownPath } from '../paths/shown-path.ts';
import type { RootedWorkspace } from '../paths/workspace.ts';
import { writeChange } from './write-change.ts';

export interface UndoOptions {
  readonly workspace: RootedWorkspace;
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** What became of taking a change back. Contents are given of files that are not too large to be shown. */
export type Undone =
  | {
      readonly state: 'done';
      /** The change that was taken back. */
      readonly undone: Change;
      /** The change that this made; undefined in a dry run. */
      readonly change?: Change;
      readonly was?: Buffer;
      readonly is?: Buffer;
      readonly notes: readonly string[];
    }
  | {
      readonly state: 'conflict';
      readonly undone: Change;
      /** In a sentence: what is not as the change left it. */
      readonly why: string;
      /** What the change left, where that can still be told. */
      readonly expected?: Buffer;
      readonly found?: Buffer;
    };

/** What a change left is no longer there. */
class Conflict extends Error {
  readonly expected: Buffer | undefined;
  readonly found: Buffer | undefined;
  constructor(
    why: string,
    { expected, found }: { expected?: Buffer | undefined; found?: Buffer | undefined } = {},
  ) {
    super(why);
    this.expected = expected;
    this.found = found;
  }
}

type Done = Omit<Extract<Undone, { state: 'done' }>, 'state' | 'undone'>;

interface Undoing extends UndoOptions {
  readonly kit: ChangeKit;
  readonly entry: Entry;
  /** Again, once the path is locked: two callers may have asked. */
  refuseUndone(): void;
}

const mostShown = 1024 * 1024;

/** Takes back one change, as `FileChanges.undo` says. */
export async function undoChange(kit: ChangeKit, id: string, options: UndoOptions): Promise<Undone> {
  const index = kit.journal.index();
  const entry = index.entry(id);
  // One outside the roots is none for the caller, in the same words.
  if (!entry || entry.at < Date.now() - kit.limits.expiryMs || !isInRoots(entry, options.workspace.roots))
    throw gone({ undoes: id });
  refuseUndone(id, index);
  const undone = changeOf(entry);
  const undoing = { ...options, kit, entry, refuseUndone: () => refuseUndone(id, kit.journal.index()) };
  try {
    return { state: 'done', undone, ...(await undo(undoing)) };
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
    const { message: why, expected, found } = error;
    return { state: 'conflict', undone, why, ...(expected && { expected }), ...(found && { found }) };
  }
}

/** Both ends of a move must be inside. */
export const isInRoots = ({ path, to }: Change, roots: readonly string[]): boolean =>
  [path, to ?? path].every((each) => roots.some((root) => isInside(each, root)));

function refuseUndone(id: string, { undoneBy }: Index): void {
  let last = id;
  for (let next = undoneBy.get(last); next !== undefined; next = undoneBy.get(last)) last = next;
  if (last === id) return;
  throw new ToolcribError(
    'NOT_FOUND',
    `${id}: was undone already, by ${undoneBy.get(id)}.`,
    `Undo ${last}, the last of these, to go back once more.`,
  );
}

function undo(undoing: Undoing): Promise<Done> {
  const { step, before } = undoing.entry;
  if (step === 'move') return moveBack(undoing);
  if (step === 'remove') return bringBack(undoing);
  return step === 'write' && before ? writeBack(undoing, before) : takeAway(undoing);
}

/** An edited or replaced file gets its old content. */
async function writeBack({ kit, entry, ...undoing }: Undoing, before: Facts): Promise<Done> {
  const old = await kit.journal.contents.content(before.hash ?? '', before.size);
  if (!old) throw gone({ undoes: entry.id });
  return atPlace(entry.path, { ...undoing, entry, kit }, undefined, async (place) => {
    let was: Buffer | undefined;
    const written = await writeChange(
      kit,
      place,
      async (found) => {
        undoing.refuseUndone();
        was = found?.bytes;
        if ((await found?.hash()) !== entry.after?.hash)
          throw new Conflict(found ? 'The file has been changed since.' : 'The file no longer exists.', {
            expected: await kit.journal.contentAfter(entry),
            found: was,
          });
        return undoing.dryRun ? undefined : { bytes: old };
      },
      aboutUndoing({ entry, ...undoing }),
    );
    const { change, notes = [] } = written ?? {};
    return { ...(change && { change }), ...(was && { was }), is: old, notes };
  });
}

/** A file that was made, or had come back, goes into the journal. */
function takeAway(undoing: Undoing): Promise<Done> {
  const { kit, entry, dryRun } = undoing;
  return atPlace(entry.path, undoing, undefined, async (place) => {
    const was = await contentToShow(place.at);
    const look = async (found: Facts | undefined) => {
      undoing.refuseUndone();
      if (!sameFacts(found, entry.after))
        throw new Conflict(whyNot(found, 'It no longer exists.'), {
          expected: await kit.journal.contentAfter(entry),
          found: was,
        });
    };
    const shown = was && { was };
    if (dryRun) return look(await factsAt(place.at)).then(() => ({ ...shown, notes: [] }));
    if (!lstatSync(place.at, { throwIfNoEntry: false })) await look(undefined);
    const change = await relocateChange(kit, { from: place, about: aboutUndoing(undoing), look });
    await removeEmpty(entry.made ?? [], undoing);
    return { change, ...shown, notes: [] };
  });
}

/** What was removed comes back. */
async function bringBack(undoing: Undoing): Promise<Done> {
  const { kit, entry, dryRun } = undoing;
  const trash = kit.journal.trashOf(entry.id);
  if (!lstatSync(trash, { throwIfNoEntry: false })) throw gone({ undoes: entry.id });
  const is = await contentToShow(trash);
  const shown = { ...(is && { is }), notes: [] };
  return atPlace(
    entry.path,
    undoing,
    () => shown,
    async (place) => {
      await refuseOccupied(place);
      if (dryRun) return shown;
      const look = () => undoing.refuseUndone();
      const change = await relocateChange(kit, { to: place, about: aboutUndoing(undoing), look });
      return { change, ...shown };
    },
  );
}

function moveBack(undoing: Undoing): Promise<Done> {
  const { kit, entry, dryRun, signal } = undoing;
  const nothing = { notes: [] };
  return atPlace(entry.to ?? '', undoing, undefined, (from) =>
    atPlace(
      entry.path,
      undoing,
      () => nothing,
      async (to) => {
        const look = (found: Facts | undefined) => {
          undoing.refuseUndone();
          if (!sameFacts(found, entry.after))
            throw new Conflict(whyNot(found, 'It is no longer where it was moved to.'));
        };
        const found = await factsAt(from.at);
        look(found);
        if (from.path.toLowerCase() !== to.path.toLowerCase()) await refuseOccupied(to);
        if (dryRun && found) await refuseMovingTo(from, { kind: found.kind, to: to.path, signal });
        if (dryRun) return nothing;
        const change = await relocateChange(kit, { from, to, about: aboutUndoing(undoing), look });
        await removeEmpty(entry.made ?? [], undoing);
        return { change, ...nothing };
      },
    ),
  );
}

/** What keeps something from being taken for what a change left. */
function whyNot(found: Facts | undefined, missing: string): string {
  if (!found) return missing;
  return isTooMuch(found)
    ? 'It holds too much to tell whether it has been changed since; move_path and delete_path take it all the same.'
    : 'It has been changed since.';
}

const aboutUndoing = ({ entry, signal }: Pick<Undoing, 'entry' | 'signal'>) => ({
  kind: 'undo',
  undoes: entry.id,
  signal,
});

/**
 * Works at the real path a change was at. Without its folder there is a conflict; unless it may be missing: then it is
 * made, and in a dry run, which makes nothing, `missing` says what would come of it.
 */
async function atPlace<T>(
  path: string,
  { workspace, dryRun = false }: Undoing,
  missing: (() => T) | undefined,
  work: (place: Place) => Promise<T>,
): Promise<T> {
  const open = async () => {
    // Before folders are made where it leads now. With a slash at the end, a link there is followed.
    const now = await workspace.resolve(dirname(path) + sep);
    if (now !== dirname(path)) throw leadsElsewhere(join(now, basename(path)));
    return workspace.openPlace(path, { follow: false, make: missing !== undefined && !dryRun });
  };
  const place = await open().catch((error: unknown) => {
    if (!(error instanceof ToolcribError) || error.code !== 'PATH_NOT_FOUND') throw error;
    return undefined;
  });
  if (!place) {
    if (missing && dryRun) return missing();
    throw new Conflict('The folder it was in no longer exists.');
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

const leadsElsewhere = (now: string) => new Conflict(`The path now leads to ${shownPath(now)}.`);

async function refuseOccupied(place: Place): Promise<void> {
  if (!lstatSync(place.at, { throwIfNoEntry: false })) return;
  const found = await contentToShow(place.at);
  throw new Conflict('Something else is at the path now.', { found });
}

/** Undefined for what is no file, or too large. What was swapped for a link is not followed. */
async function contentToShow(path: string): Promise<Buffer | undefined> {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
  if (!handle) return undefined;
  try {
    const found = await handle.stat();
    return found.isFile() && found.size <= mostShown ? await handle.readFile() : undefined;
  } finally {
    await handle.close();
  }
}

/** The folders that had been made for it, unless something else is in them by now. */
async function removeEmpty(folders: readonly string[], { workspace }: Undoing): Promise<void> {
  for (const folder of folders.toReversed()) {
    if (!existsSync(folder)) continue;
    try {
      const place = await workspace.openPlace(folder, { follow: false });
      try {
        rmdirSync(place.at);
      } finally {
        await place.folder.handle.close();
      }
    } catch {
      // Not empty, or not removable: no more than an empty folder remains.
      return;
    }
  }
}
