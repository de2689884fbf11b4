import { dirname, join } from 'node:path';
import type { Stats } from 'node:fs';
import { changeOf, type Change, type Entry } from './change.ts';
import type { ChangeKit } from './change-kit.ts';
import { openExisting, tooLarge, type ExistingFile } from './existing-file.ts';
import type { CarriedOver } from './extended-attributes.ts';
import type { Kept, Replaced } from './kept-contents.ts';
import { lookOnceMore } from './last-look.ts';
import { removeMade, type Place } from '../paths/place.ts';
import { refuseReadOnly, writeBeside, type Beside } from './replace-file.ts';
import { sha256 } from './sha256.ts';
import { spliceBetween } from './splice.ts';
import type { Working } from './work-log.ts';
import { unwritable } from './write-failure.ts';

/** The regular file as it is while it is locked. */
export interface Before {
  readonly bytes: Buffer;
  readonly stat: Stats;
  /** SHA-256 in hexadecimal; made once, while the caller waits for something else. */
  hash(): Promise<string>;
}

/** What a file is to be. */
export interface Decision {
  readonly bytes: Buffer;
  /** Waited for before the file is replaced; when it rejects, nothing changes. */
  readonly fresh?: Promise<void>;
  /** Lines, for the list of changes. */
  readonly added?: number;
  readonly removed?: number;
  /** Told of the change before the next one of this file begins. */
  readonly done?: (written: Written) => void;
}

export type Decide = (before: Before | undefined) => Decision | undefined | Promise<Decision | undefined>;

export interface About {
  /** What to call it in the list: edit, write, delete, move… */
  readonly kind: string;
  readonly undoes?: string;
  /** Whether the content before is only looked at until the change is done: its memory is used again then. */
  readonly lends?: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface Written {
  readonly change: Change;
  /** Of the new file in its place. */
  readonly stat: Stats;
  /** SHA-256 of the new content, in hexadecimal. */
  readonly hash: string;
  /** What the caller should be told. */
  readonly notes: readonly string[];
}

/** What was inserted is kept up to this size, so that a conflict can show what the file should have been. */
const mostSpliced = 64 * 1024;

/** Replaces or makes one file, as `FileChanges.write` says. */
export async function writeChange(
  kit: ChangeKit,
  place: Place,
  decide: Decide,
  about: About,
): Promise<Written | undefined> {
  const temporary = kit.temporaryName();
  const request = {
    paths: [place.path],
    temporaries: [join(dirname(place.path), temporary)],
    signal: about.signal,
  };
  const changing = kit.locks.hold(request, async (working) => {
    lookOnceMore(place);
    const existing = await openExisting(
      place,
      kit.mostBytes,
      kit.written,
      about.lends ? kit.spare : undefined,
    );
    try {
      if (existing) refuseReadOnly(place, existing.stat);
      const decision = await decide(existing);
      if (!decision) return undefined;
      const { bytes } = decision;
      if (bytes.length > kit.mostBytes) throw tooLarge(place.path, bytes.length, kit.mostBytes);
      if (existing?.bytes.equals(bytes)) {
        await decision.fresh;
        return undefined;
      }
      const minted = kit.journal.mint();
      const beside = await writeBeside(place, temporary, { bytes, existing, written: kit.written });
      try {
        return await finish(kit, { place, working, existing, decision, about, beside, temporary, minted });
      } finally {
        beside.end();
        await kit.journal.passed(minted.at);
      }
    } catch (error) {
      throw unwritable(place.path, error);
    } finally {
      existing?.close();
    }
  });
  if (place.made.length === 0) return changing;
  const written = await changing.catch(() => undefined);
  if (!written) await removeMade(place.made);
  return changing;
}

interface Writing {
  readonly place: Place;
  readonly working: Working;
  readonly existing: ExistingFile | undefined;
  readonly decision: Decision;
  readonly about: About;
  readonly beside: Beside;
  readonly temporary: string;
  readonly minted: { readonly id: string; readonly at: number };
}

async function finish({ journal, carryOver, written: files }: ChangeKit, work: Writing): Promise<Written> {
  const { place, working, existing, decision, about, beside, temporary, minted } = work;
  const { bytes, added, removed } = decision;
  // First what other threads and programs do; hashing fills the time until they are done.
  const synced = beside.synced();
  const [carried, [hash, oldHash, splice]] = await all([
    existing && !existing.known?.isPlain ? carryOver(existing, beside) : nothingToCarry(),
    Promise.all([sha256(bytes), existing?.hash(), spliced(existing?.bytes, bytes)]),
    synced,
    decision.fresh ?? Promise.resolve(),
  ]);
  const entry: Entry = {
    ...minted,
    kind: about.kind,
    step: 'write',
    path: place.path,
    ...(existing && { before: { kind: 'file', size: existing.bytes.length, hash: oldHash ?? '' } }),
    after: { kind: 'file', size: bytes.length, hash },
    ...(added !== undefined && { added }),
    ...(removed !== undefined && { removed }),
    ...(about.undoes !== undefined && { undoes: about.undoes }),
    ...(splice && { splice }),
    ...(place.made.length > 0 && { made: place.made }),
    temporary,
  };
  const replaced: Replaced | undefined = existing && {
    at: place.at,
    stat: existing.stat,
    bytes: existing.bytes,
    hash: oldHash ?? '',
  };
  if (replaced) await journal.contents.prepare(replaced);

  // From here on nothing is waited for: other programs have some ten microseconds to come in between.
  let kept: Kept | undefined;
  working.begin(entry);
  try {
    kept = beside.put(() => {
      lookOnceMore(place);
      return replaced && journal.contents.keep(replaced);
    });
  } catch (error) {
    working.drop();
    throw error;
  }
  working.done();
  kept?.replaced();
  const stat = beside.inPlace();
  files.remember(stat, { hash, isPlain: carried.none });
  const notes = [...beside.notes, ...(carried.note === undefined ? [] : [carried.note])];
  const names = existing?.stat.nlink ?? 1;
  if (names > 1)
    notes.push(`It was one of ${names} hard links to the same file; the others keep the old content.`);
  const written = { change: changeOf(entry), stat, hash, notes };
  decision.done?.(written);
  return written;
}

const spliced = async (before: Buffer | undefined, after: Buffer) =>
  spliceBetween(before ?? Buffer.alloc(0), after, mostSpliced);

const nothingToCarry = (): Promise<CarriedOver> => Promise.resolve({ none: true });

/** Waits for all of them even when one fails: a file must not be closed while it is worked on. */
async function all<T extends readonly unknown[]>(promises: readonly [...{ [K in keyof T]: Promise<T[K]> }]) {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
