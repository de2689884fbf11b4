import { noConsent } from '../paths/consent.ts';
import { lstatSync, readdirSync, readlinkSync, rmdirSync, unlinkSync, type Stats } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import type { Entry } from './change.ts';
import type { Journal } from './journal.ts';
import { contentsFolder, discardLink } from './kept-contents.ts';
import { openPlaceAt } from '../paths/place.ts';
import { moveWithoutOverwriting } from './relocate.ts';
import { removeTree } from './remove-tree.ts';
import { endFor, isWrittenHere, workIn } from './work-log.ts';

/** A path while its folder is held open. */
interface Side {
  readonly at: string;
  readonly beside: string;
}

/**
 * Ends what a dead process was doing: a change that took effect is filed, any other leaves nothing behind. Which it was
 * is told by what lies on the disk. Each order below is such that the next one to try, should this process die as well,
 * comes to the same end. By a log that came from elsewhere nothing is touched outside the journal.
 */
export async function finishDead(journal: Journal, token: string): Promise<void> {
  const isOurs = isWrittenHere(journal.folder, token);
  for (const work of workIn(journal.folder, token)) {
    const { entry, end, temporaries } = work;
    if (entry && end === 'done') journal.file(entry);
    if (end === 'done' || !isOurs) continue;
    if (entry && end !== 'dropped') {
      const tookEffect = await (entry.step === 'write' ? finishWrite : finishRelocation)(journal, entry);
      // Where the folder is gone it cannot be told; a change too many is harmless, one too few is not.
      if (tookEffect !== false) {
        journal.file(entry);
        continue;
      }
      // Before the temporary file goes: without one, the change would seem to have taken effect.
      endFor(journal.folder, token, work, 'dropped');
    }
    for (const temporary of temporaries) await withSide(temporary, ({ at }) => removeFile(at));
  }
}

function finishWrite(journal: Journal, entry: Entry): Promise<boolean | undefined> {
  return withSide(entry.path, ({ at, beside }) => {
    const path = join(beside, entry.temporary);
    const there = look(at);
    const temporary = look(path);
    if (!temporary) return true;
    if (isSame(there, temporary)) {
      unlinkSync(path);
      return true;
    }
    if (entry.before?.hash && there)
      discardLink(join(contentsFolder(journal.folder), entry.before.hash), there.ino);
    return false;
  });
}

async function finishRelocation(journal: Journal, entry: Entry): Promise<boolean | undefined> {
  const [from, to] = endsOf(journal, entry);
  const both = await withSide(from, (old) =>
    withSide(to, async (now) => {
      const aside = join(old.beside, entry.temporary);
      const copy = join(now.beside, entry.temporary);
      const [first, second] = [look(old.at), look(now.at)];
      if (look(aside)) {
        if (second && second.ino === entry.copy) {
          await removeTree(aside);
          return true;
        }
        // When something else took its place, it stays aside rather than being lost.
        if (!first) moveWithoutOverwriting(aside, old.at);
        await removeTree(copy);
        return false;
      }
      if (!first) return second !== undefined;
      if (second && !second.isDirectory() && hasBothNames(old.at, first, now.at, second)) {
        unlinkSync(old.at);
        return true;
      }
      if (second?.isDirectory()) removeIfEmpty(now.at);
      return false;
    }),
  );
  return both ?? finishOneEnd(entry, from, to);
}

/**
 * One end lies in a folder that has been renamed or removed since. What is whole at the other end has arrived there; else
 * the original may still be aside, and a folder beside the one that is missing may be that one under its new name.
 */
async function finishOneEnd(entry: Entry, from: string, to: string): Promise<boolean | undefined> {
  const arrived = await withSide(to, ({ at }) => look(at)?.ino ?? 0);
  const isWhole = arrived !== undefined && arrived === entry.copy;
  const aside = besideOf(from, entry.temporary);
  for (const path of [aside, ...renamed(aside)]) {
    const isFound = await withSide(path, async ({ at, beside }) => {
      const place = join(beside, basename(from));
      if (!look(at)) return false;
      if (isWhole) await removeTree(at);
      else if (!look(place)) moveWithoutOverwriting(at, place);
      return true;
    });
    if (isFound) return isWhole;
  }
  if (arrived) return true;
  // Into the journal and out of it things go whole or not at all, and the journal is there.
  return entry.step === 'move' ? undefined : entry.step === 'restore' && !look(from);
}

/** More folders than this beside one that is missing are not looked into. */
const mostSiblings = 10_000;

/** Where a path may be now that one folder on its way has been renamed. */
function renamed(path: string): string[] {
  let top = dirname(path);
  while (!look(top)?.isDirectory() && top !== dirname(top)) top = dirname(top);
  const rest = relative(top, path).split(sep).slice(1).join(sep);
  try {
    return readdirSync(top, { withFileTypes: true })
      .slice(0, mostSiblings)
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(top, name, rest))
      .filter(look);
  } catch {
    // It may not be looked into.
    return [];
  }
}

/** From where to where a change moves something. */
export function endsOf(journal: Journal, { step, id, path, to, undoes }: Entry): [string, string] {
  if (step === 'remove') return [path, journal.trashOf(id)];
  if (step === 'restore') return [journal.trashOf(undoes ?? ''), path];
  return [path, to ?? path];
}

/** Undefined when the folder is no longer there, or the path now leads elsewhere. */
async function withSide<T>(path: string, work: (side: Side) => T | Promise<T>): Promise<T | undefined> {
  const place = await openPlaceAt(path, path, {
    make: false,
    consent: noConsent,
    check: (real) => (real === path ? Promise.resolve() : Promise.reject(new Error('leads elsewhere'))),
  }).catch(() => undefined);
  if (!place) return undefined;
  try {
    return await work({ at: join(place.folder.stablePath, basename(path)), beside: place.folder.stablePath });
  } finally {
    await place.folder.handle.close();
  }
}

const look = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false });

const isSame = (a: Stats | undefined, b: Stats): boolean => a?.ino === b.ino && a.dev === b.dev;

/** macOS gives a link its new name by making it again. */
const hasBothNames = (from: string, first: Stats, to: string, second: Stats): boolean =>
  isSame(first, second) ||
  (first.isSymbolicLink() && second.isSymbolicLink() && readlinkSync(from) === readlinkSync(to));

/** What is made beside a file to replace it is a file. */
function removeFile(path: string): void {
  if (look(path)?.isFile()) unlinkSync(path);
}

/** It may be one that was made to be replaced. */
function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It is not.
  }
}

const besideOf = (path: string, name: string): string => join(dirname(path), name);
