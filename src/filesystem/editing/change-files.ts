import { sep } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import type { PlanContext } from '../../core/tool.ts';
import { readExisting, type Before } from '../../machine/history/write.ts';
import { removeMade, type Place } from '../../machine/paths/place.ts';
import { refusal, shownPath } from '../../machine/paths/shown-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { versionOf } from '../known-files.ts';
import type { Services } from '../services.ts';
import { unifiedDiff, type UnifiedDiff } from '../text/unified-diff.ts';
import { refuseUnseen } from './refusals.ts';
import { syntaxNote } from './syntax.ts';

/** What a file is to be. */
export interface Proposal {
  readonly bytes: Buffer;
  readonly encoding: string;
  readonly notes: readonly string[];
  /** How many places were replaced. */
  readonly places?: number;
}

/** What is made of a file, from what it has now. */
export interface FileChange {
  /** As it was given. */
  readonly path: string;
  readonly encoding?: string | undefined;
  /** What a caller says to have read. */
  readonly version?: string | undefined;
  /** Whether nothing of the old content stays but by chance, and a file that is not there is made. */
  readonly replacesAll: boolean;
  /** It is about what is there now, whoever wrote it. */
  readonly takesAny?: boolean;
  propose(before: Buffer | undefined, encoding: string | undefined): Promise<Proposal>;
}

/** What all changes of a call have in common. */
export interface Changing {
  /** What it is called in the list of changes; with `@` and a number, changes of one kind are taken back together. */
  readonly kind: string;
  readonly isDry: boolean;
  /** All that was asked for, as a text: the same call again passes where it was refused once. */
  call(): string;
  readonly services: Services;
}

/** What all changes of a tool's call have in common, whose parameters these are. */
export const changingBy = (
  kind: string,
  given: { readonly dry_run: boolean },
  services: Services,
): Changing => ({
  kind,
  isDry: given.dry_run,
  call: () => JSON.stringify([kind, { ...given, dry_run: false }]),
  services,
});

/** A file that was changed, or would be. */
export interface ChangedFile {
  readonly path: string;
  /** The change in the history; undefined where nothing was written. */
  readonly id?: string;
  readonly isNew: boolean;
  readonly isSame: boolean;
  readonly diff: UnifiedDiff;
  readonly places: number;
  readonly notes: readonly string[];
}

/** Of a longer diff the counts say enough: who made the edit knows what is in it. */
const mostDiff = 1_500;

/**
 * Changes one file, or makes a new one, in one step that the history keeps; in a dry run it only tells what would come
 * of it. Throws what the gate, refuseUnseen() and the proposal throw; then nothing has changed.
 */
export async function changeFile(
  change: FileChange,
  changing: Changing,
  context: PlanContext,
): Promise<ChangedFile> {
  const { kind, isDry, services } = changing;
  const place = await placeFor(change, isDry, context);
  let changed: ChangedFile | undefined;
  const decide = async (before: Before | undefined) => {
    const { bytes, encoding, ...facts } = await proposalFor(change, changing, place?.path ?? '', before);
    changed = { path: change.path, isNew: before === undefined, ...facts };
    return { bytes, encoding, added: facts.diff.added, removed: facts.diff.removed };
  };
  try {
    if (!place || isDry) await decide(place && readExisting(place));
    else {
      const history = await services.history();
      const written = await history.write(
        place,
        async (before) => {
          const { encoding, ...decision } = await decide(before);
          const named = encoding === 'utf-8' ? {} : { encoding };
          // Before the next caller in the queue is asked whether it has seen what is there now.
          return {
            ...decision,
            done: ({ stat, hash }) =>
              services.known.remember(place.path, {
                stat: versionOf(stat),
                hash,
                bytes: decision.bytes,
                ...named,
              }),
          };
        },
        { kind, signal: context.signal },
      );
      if (changed && written)
        changed = { ...changed, id: written.change.id, notes: [...changed.notes, ...written.notes] };
    }
    if (!changed) throw new Error('a change was not decided');
    return changed;
  } catch (error) {
    if (place) removeMade(place.made);
    throw error;
  } finally {
    await place?.folder.handle.close();
  }
}

/** Undefined in a dry run for a new file whose folder is missing too: nothing is made to find out. */
async function placeFor(
  { path, replacesAll }: FileChange,
  isDry: boolean,
  { workspace }: PlanContext,
): Promise<Place | undefined> {
  const gate = rooted(workspace);
  if (replacesAll && (path.endsWith('/') || path.endsWith(sep)))
    throw refusal(
      'ARG_INVALID',
      path,
      'ends like a folder.',
      'Give the whole path, with the name of the file.',
    );
  try {
    return await gate.openPlace(path, { make: replacesAll && !isDry });
  } catch (error) {
    const isMissing = error instanceof ToolcribError && error.code === 'PATH_NOT_FOUND';
    if (!isDry || !replacesAll || !isMissing) throw error;
    // Throws when it is more than missing folders that is in the way: a file, or links that lead in a circle.
    await gate.resolve(path);
    return undefined;
  }
}

async function proposalFor(
  change: FileChange,
  { call, services, isDry }: Changing,
  path: string,
  before: Before | undefined,
) {
  const { path: shown, version, replacesAll, takesAny = false } = change;
  const check = async () =>
    before && !takesAny && refuseUnseen({ path, shown, before, replacesAll, call, version }, services);
  // That an edit does not fit a file that has changed is the lesser news.
  if (!replacesAll) await check();
  // That the part which was read is UTF-8 does not say that all of it is.
  const seen = services.known.get(path)?.encoding;
  const known = change.encoding ?? (seen === 'utf-8' ? undefined : seen);
  const { bytes, encoding, places = 0, notes } = await change.propose(before?.bytes, known);
  const isSame = before?.bytes.equals(bytes) === true;
  // What is there already takes nothing away.
  if (replacesAll && !isSame) await check();
  const broken = isSame ? undefined : await syntaxNote(shown, before?.bytes, bytes);
  // Who will read a dry run has asked for all of it.
  const options = { path: shownPath(shown), encoding, ...(!isDry && { maxCharacters: mostDiff }) };
  const diff = await unifiedDiff(before?.bytes, bytes, options);
  return {
    bytes,
    encoding,
    isSame,
    diff,
    places,
    notes: [...notes, ...(broken === undefined ? [] : [broken])],
  };
}
