import { sep } from 'node:path';
import { ToolcribError } from '../../../core/errors.ts';
import type { PlanContext } from '../../../core/tool.ts';
import type { Before, Written } from '../../../machine/history/write.ts';
import type { PathTarget } from '../../../machine/paths/path-target.ts';
import { refusal, displayPath } from '../../../machine/paths/display-path.ts';
import { rooted } from '../../../machine/paths/workspace.ts';
import { versionOf } from '../../../machine/known-files.ts';
import type { Session } from '../../../machine/session.ts';
import type { NewContent } from '../text/file-text.ts';
import { unifiedDiff, type UnifiedDiff } from '../text/unified-diff.ts';
import { refuseUnseen } from './refusals.ts';
import { syntaxNote } from './syntax.ts';

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
  propose(before: Buffer | undefined, encoding: string | undefined): Promise<NewContent>;
}

/** What all changes of a call have in common. */
export interface Changing {
  /**
   * What it is called in the list of changes; with `@` and a number, changes of one kind are taken back
   * together.
   */
  readonly kind: string;
  readonly isDry: boolean;
  /** All that was asked for, as a text: the same call again passes where it was refused once. */
  call(): string;
  readonly session: Session;
}

/** What came of a file, or would come of it. */
export interface ChangedFile {
  /** The change in the history; undefined where nothing was changed. */
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
 * Changes one file, or makes a new one, in one step that the history keeps; in a dry run it only tells what
 * would come of it. Throws what the gate, refuseUnseen() and the proposal throw; then nothing has changed.
 */
export async function changeFile(
  change: FileChange,
  changing: Changing,
  { workspace, signal }: PlanContext,
): Promise<ChangedFile> {
  const { path, replacesAll } = change;
  const { kind, isDry, session } = changing;
  const gate = rooted(workspace);
  if (replacesAll && (path.endsWith('/') || path.endsWith(sep)))
    throw refusal('ARG_INVALID', path, 'ends like a folder.', 'Give the whole path, with its name.');
  const history = await session.history();
  const write = async (place: PathTarget) => {
    let file: ChangedFile | undefined;
    const decide = async (before: Before | undefined) => {
      const { bytes, encoding, ...facts } = await decided(change, changing, place.path, before);
      file = facts;
      if (isDry) return undefined;
      const { added, removed } = facts.diff;
      const named = encoding === 'utf-8' ? {} : { encoding };
      // Before the next caller in the queue is asked whether it has seen what is there now.
      const done = ({ stat, hash }: Pick<Written, 'stat' | 'hash'>) =>
        session.knownFiles.remember(place.path, { version: versionOf(stat), hash, bytes, ...named });
      return { bytes, added, removed, done };
    };
    const written = await history.write(place, decide, { kind, signal });
    if (!file) throw new Error('a change was not decided');
    return written ? { ...file, id: written.change.id, notes: [...file.notes, ...written.notes] } : file;
  };
  try {
    return await gate.atPlace(path, { follow: true, make: replacesAll && !isDry }, write);
  } catch (error) {
    const isMissing = error instanceof ToolcribError && error.code === 'PATH_NOT_FOUND';
    if (!isDry || !replacesAll || !isMissing) throw error;
    // Throws when it is more than missing folders that is in the way: a file, or links that lead in a circle.
    await gate.resolve(path);
    return decided(change, changing, '', undefined);
  }
}

async function decided(
  change: FileChange,
  { call, session: { knownFiles: known }, isDry }: Changing,
  path: string,
  before: Before | undefined,
): Promise<ChangedFile & NewContent> {
  const { path: shown, replacesAll, takesAny = false } = change;
  const check = async () => before && !takesAny && refuseUnseen(change, { path, before, call }, known);
  // That an edit does not fit a file that has changed is the lesser news.
  if (!replacesAll) await check();
  const fresh = await change.propose(before?.bytes, change.encoding ?? known.get(path)?.encoding);
  const { bytes, encoding, places = 0 } = fresh;
  const isSame = before?.bytes.equals(bytes) === true;
  // What is there already takes nothing away.
  if (replacesAll && !isSame) await check();
  const broken = isSame ? undefined : await syntaxNote(shown, before?.bytes, bytes);
  // Who will read a dry run has asked for all of it.
  const options = { path: displayPath(shown), encoding, ...(!isDry && { maxCharacters: mostDiff }) };
  const diff = await unifiedDiff(before?.bytes, bytes, options);
  const notes = [...fresh.notes, ...(broken === undefined ? [] : [broken])];
  return { bytes, encoding, isNew: before === undefined, isSame, diff, places, notes };
}
