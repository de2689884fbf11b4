import { sep } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import type { PlanContext } from '../../core/tool.ts';
import { readExisting, type Before, type Written } from '../../machine/history/write.ts';
import { removeMade, type Place } from '../../machine/paths/place.ts';
import { refusal, shownPath } from '../../machine/paths/shown-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { versionOf } from '../known-files.ts';
import type { Services } from '../services.ts';
import { unifiedDiff, type UnifiedDiff } from '../text/unified-diff.ts';
import { refuseUnseen } from './overwrite.ts';
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
    const { proposal, diff, notes } = await proposalFor(change, changing, place?.path ?? '', before);
    const { bytes, encoding, places = 0 } = proposal;
    const isSame = before?.bytes.equals(bytes) === true;
    changed = { path: change.path, isNew: before === undefined, isSame, diff, places, notes };
    // Before the next caller in the queue is asked whether it has seen what is there now.
    const done = ({ stat, hash }: Written) => {
      if (!place) return;
      const named = encoding === 'utf-8' ? {} : { encoding };
      services.known.remember(place.path, { stat: versionOf(stat), hash, bytes, ...named });
    };
    return { bytes, added: diff.added, removed: diff.removed, done };
  };
  try {
    if (!place || isDry) await decide(place && readExisting(place));
    const history = await services.history();
    const written =
      place && !isDry ? await history.write(place, decide, { kind, signal: context.signal }) : undefined;
    if (!changed) throw new Error('a change was not decided');
    if (!written) return changed;
    return { ...changed, id: written.change.id, notes: [...changed.notes, ...written.notes] };
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
  const proposal = await change.propose(
    before?.bytes,
    change.encoding ?? (seen === 'utf-8' ? undefined : seen),
  );
  const { bytes, encoding } = proposal;
  const isSame = before?.bytes.equals(bytes) === true;
  // What is there already takes nothing away.
  if (replacesAll && !isSame) await check();
  const broken = isSame ? undefined : await syntaxNote(shown, before?.bytes, bytes);
  const notes = broken === undefined ? proposal.notes : [...proposal.notes, broken];
  // Who will read a dry run has asked for all of it.
  const maxCharacters = isDry ? undefined : mostDiff;
  const name = shownPath(shown);
  const diff = await unifiedDiff(before?.bytes, bytes, { path: name, encoding, maxCharacters });
  return { proposal, diff, notes };
}
