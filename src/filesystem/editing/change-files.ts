import { sep } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import type { PlanContext } from '../../core/tool.ts';
import { readExisting, type Before } from '../../machine/history/write.ts';
import type { Place } from '../../machine/paths/place.ts';
import { refusal, shownPath } from '../../machine/paths/shown-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { versionOf } from '../known-files.ts';
import type { Services } from '../services.ts';
import { unifiedDiff, type UnifiedDiff } from '../text/unified-diff.ts';
import { refuseUnseen } from './refusals.ts';
import { syntaxNote } from './syntax.ts';

/** What a file is to be. */
interface Proposal {
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

/** What came of a file, or would come of it. */
export interface ChangedFile {
  readonly isNew: boolean;
  readonly isSame: boolean;
  readonly diff: UnifiedDiff;
  readonly places: number;
  readonly notes: readonly string[];
}

/** Of a longer diff the counts say enough: who made the edit knows what is in it. */
const mostDiff = 1_500;

/**
 * Changes one file, or makes a new one, in one step that the history keeps, by the id that is returned; in a dry run it
 * only tells what would come of it. Throws what the gate, refuseUnseen() and the proposal throw; then nothing has
 * changed.
 */
export async function changeFile(
  change: FileChange,
  changing: Changing,
  { workspace, signal }: PlanContext,
): Promise<{ file: ChangedFile; id?: string }> {
  const { path, replacesAll } = change;
  const { kind, isDry, services } = changing;
  const gate = rooted(workspace);
  if (replacesAll && (path.endsWith('/') || path.endsWith(sep)))
    throw refusal(
      'ARG_INVALID',
      path,
      'ends like a folder.',
      'Give the whole path, with the name of the file.',
    );
  const write = async (place: Place) => {
    let file: ChangedFile | undefined;
    const history = await services.history();
    const decide = async (before: Before | undefined) => {
      const { bytes, encoding, ...facts } = await decided(change, changing, place.path, before);
      file = facts;
      const { added, removed } = facts.diff;
      const named = encoding === 'utf-8' ? {} : { encoding };
      return {
        bytes,
        added,
        removed,
        // Before the next caller in the queue is asked whether it has seen what is there now.
        done: ({ stat, hash }: { stat: Parameters<typeof versionOf>[0]; hash: string }) =>
          services.known.remember(place.path, { version: versionOf(stat), hash, bytes, ...named }),
      };
    };
    const written = await history.write(place, decide, { kind, signal });
    if (!file) throw new Error('a change was not decided');
    if (!written) return { file };
    return { file: { ...file, notes: [...file.notes, ...written.notes] }, id: written.change.id };
  };
  if (!isDry) return gate.atPlace(path, { follow: true, make: replacesAll }, write);
  try {
    return await gate.atPlace(path, { follow: true }, async (place) => ({
      file: await decided(change, changing, place.path, readExisting(place)),
    }));
  } catch (error) {
    const isMissing = error instanceof ToolcribError && error.code === 'PATH_NOT_FOUND';
    if (!replacesAll || !isMissing) throw error;
    // Throws when it is more than missing folders that is in the way: a file, or links that lead in a circle.
    await gate.resolve(path);
    return { file: await decided(change, changing, '', undefined) };
  }
}

async function decided(
  change: FileChange,
  { call, services, isDry }: Changing,
  path: string,
  before: Before | undefined,
): Promise<ChangedFile & Pick<Proposal, 'bytes' | 'encoding'>> {
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
  const all = [...notes, ...(broken === undefined ? [] : [broken])];
  return { bytes, encoding, isNew: before === undefined, isSame, diff, places, notes: all };
}
