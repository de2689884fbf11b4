import { randomBytes } from 'node:crypto';
import { sep } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import type { PlanContext } from '../../core/tool.ts';
import { readExisting, type Before, type Written } from '../../machine/history/write.ts';
import { removeMade, type Place } from '../../machine/paths/place.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { rooted, type RootedWorkspace } from '../../machine/paths/workspace.ts';
import { unifiedDiff, type UnifiedDiff } from '../diff/unified-diff.ts';
import { versionOf } from '../known-files.ts';
import type { Services } from '../services.ts';
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
  /** What it is called in the list of changes. */
  readonly kind: string;
  /** Characters of a diff that are shown. */
  readonly diffCharacters?: number | undefined;
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

interface Proposed extends Proposal {
  readonly diff: UnifiedDiff;
}

/** The kind of changes that are one: undo takes them back together. */
export const togetherAs = (kind: string): string => `${kind}@${randomBytes(4).toString('hex')}`;

/** Works a change out, and changes nothing. Throws what the gate, refuseUnseen() and the proposal throw. */
export async function prepareChange(
  change: FileChange,
  changing: Changing,
  { workspace }: PlanContext,
): Promise<ChangedFile> {
  if (change.replacesAll) refuseFolderName(change.path);
  const place = await placeFor(change, rooted(workspace));
  try {
    const before = place && readExisting(place);
    return changedFile(change, await proposalFor(change, changing, place?.path ?? '', before), before);
  } finally {
    await place?.folder.handle.close();
  }
}

/**
 * Changes one file, or makes a new one, in one step that the history keeps. Throws what prepareChange() throws; then
 * nothing has changed.
 */
export async function writeChange(
  change: FileChange,
  changing: Changing,
  { workspace, signal }: PlanContext,
): Promise<ChangedFile> {
  const { kind, services } = changing;
  if (change.replacesAll) refuseFolderName(change.path);
  const place = await rooted(workspace).openPlace(change.path, { make: change.replacesAll });
  try {
    let done: { proposed: Proposed; before: Before | undefined } | undefined;
    const decide = async (before: Before | undefined) => {
      const proposed = await proposalFor(change, changing, place.path, before);
      done = { proposed, before };
      const { added, removed } = proposed.diff;
      // Before the next caller in the queue is asked whether it has seen what is there now.
      const remembered = (made: Written) => remember(place, proposed, made, services);
      return { bytes: proposed.bytes, added, removed, done: remembered };
    };
    const history = await services.history();
    const written = await history.write(place, decide, { kind, signal });
    if (!done) throw new Error('a change was not decided');
    const changed = changedFile(change, done.proposed, done.before);
    if (!written) return changed;
    return { ...changed, id: written.change.id, notes: [...changed.notes, ...written.notes] };
  } catch (error) {
    await removeMade(place.made);
    throw error;
  } finally {
    await place.folder.handle.close();
  }
}

/** Before a dry run, which makes nothing that could show it. */
function refuseFolderName(path: string): void {
  if (!path.endsWith('/') && !path.endsWith(sep)) return;
  throw new ToolcribError(
    'ARG_INVALID',
    `${shownPath(path)}: ends like a folder.`,
    'Give the whole path, with the name of the file.',
  );
}

/** Undefined for a new file whose folder is missing too: nothing is made to find out. */
async function placeFor(
  { path, replacesAll }: FileChange,
  gate: RootedWorkspace,
): Promise<Place | undefined> {
  try {
    return await gate.openPlace(path);
  } catch (error) {
    if (!replacesAll || !(error instanceof ToolcribError) || error.code !== 'PATH_NOT_FOUND') throw error;
    // Throws when it is more than missing folders that is in the way: a file, or links that lead in a circle.
    await gate.resolve(path);
    return undefined;
  }
}

async function proposalFor(
  change: FileChange,
  { call, services, diffCharacters: maxCharacters }: Changing,
  path: string,
  before: Before | undefined,
): Promise<Proposed> {
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
  const diff = await unifiedDiff(before?.bytes, bytes, { path: shown, encoding, maxCharacters });
  return { ...proposal, notes, diff };
}

const changedFile = (
  { path }: FileChange,
  { bytes, diff, places = 0, notes }: Proposed,
  before: Before | undefined,
): ChangedFile => ({
  path,
  isNew: before === undefined,
  isSame: before?.bytes.equals(bytes) === true,
  diff,
  places,
  notes,
});

function remember(
  { path }: Place,
  { bytes, encoding }: Proposal,
  { stat, hash }: Written,
  { known }: Services,
): void {
  const named = encoding === 'utf-8' ? {} : { encoding };
  known.remember(path, { stat: versionOf(stat), hash, bytes, ...named });
}
