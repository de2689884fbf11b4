import { sep } from 'node:path';
import { ToolcribError } from '../../../core/errors.ts';
import type { Before, WriteOutcome } from '../../../machine/history/write.ts';
import type { PathTarget } from '../../../machine/paths/path-target.ts';
import { refusal, displayPath } from '../../../machine/paths/display-path.ts';
import { rooted } from '../../../machine/paths/workspace.ts';
import { versionOf } from '../../../machine/known-files.ts';
import type { ToolPlanContext } from '../../define-tool.ts';
import type { NewContent } from '../text/file-text.ts';
import { unifiedDiff, type UnifiedDiff } from '../text/unified-diff.ts';
import { refuseUnseen } from './refusals.ts';
import { syntaxNote } from './syntax.ts';

/** A change of one file, proposed from its present content. */
export interface FileChange {
  /** The path as the caller gave it. */
  readonly path: string;
  readonly encoding?: string | undefined;
  /** The version that the caller says to have read. */
  readonly version?: string | undefined;
  /** The whole content is replaced, and a file that does not exist is made. */
  readonly replacesAll: boolean;
  /** The change is about the content at this moment, even if the caller has not seen it. */
  readonly allowsUnseen?: boolean;
  /** Makes the new content from the present one, which is undefined where no file exists. */
  propose(before: Buffer | undefined, encoding: string | undefined): Promise<NewContent>;
}

/** The options that all changes of a call share. */
export interface ChangeOptions {
  /** The name of the change in the list of changes; those with one `@` and number are taken back together. */
  readonly kind: string;
  readonly isDry: boolean;
  /** The call as a text: one that was refused because the file was not seen passes when it is repeated. */
  call(): string;
}

/** The outcome of a change of one file, made or only tried. */
export interface ChangedFile {
  /** The id of the change in the history; undefined when nothing was changed. */
  readonly id?: string;
  readonly isNew: boolean;
  readonly isSame: boolean;
  readonly diff: UnifiedDiff;
  readonly places: number;
  readonly notes: readonly string[];
}

/**
 * Characters of the diff; the caller knows the content of the change, so that counts are enough for the rest.
 */
const mostDiff = 1_500;

/**
 * Changes one file, or makes a new one, in one step that the history keeps; a dry run only returns the
 * outcome. Throws what the gate, refuseUnseen() and the proposal throw; then nothing has changed.
 */
export async function changeFile(
  change: FileChange,
  options: ChangeOptions,
  context: ToolPlanContext,
): Promise<ChangedFile> {
  const { path, replacesAll } = change;
  const { kind, isDry } = options;
  const { workspace, signal, session } = context;
  const gate = rooted(workspace);
  if (replacesAll && (path.endsWith('/') || path.endsWith(sep)))
    throw refusal('ARG_INVALID', path, 'ends like a folder.', 'Give the whole path, with its name.');
  const history = await session.history();
  const write = async (target: PathTarget) => {
    let file: ChangedFile | undefined;
    const decide = async (before: Before | undefined) => {
      const { bytes, encoding, ...facts } = await decideChange(
        change,
        options,
        { path: target.path, before },
        context,
      );
      file = facts;
      if (isDry) return undefined;
      const { added, removed } = facts.diff;
      const otherEncoding = encoding === 'utf-8' ? {} : { encoding };
      // Called before the next change of the file begins, which asks if its caller has seen this content.
      const done = ({ stat, hash }: Pick<WriteOutcome, 'stat' | 'hash'>) =>
        session.knownFiles.remember(target.path, { version: versionOf(stat), hash, bytes, ...otherEncoding });
      return { bytes, added, removed, done };
    };
    const written = await history.write(target, decide, { kind, signal });
    if (!file) throw new Error('a change was not decided');
    if (!written) return file;
    return { ...file, id: written.change.id, notes: [...file.notes, ...written.notes] };
  };
  try {
    return await gate.atPlace(path, { follow: true, make: replacesAll && !isDry }, write);
  } catch (error) {
    const isMissing = error instanceof ToolcribError && error.code === 'PATH_NOT_FOUND';
    if (!isDry || !replacesAll || !isMissing) throw error;
    // Throws when more is in the way than missing folders: a file, or links that lead in a circle.
    await gate.resolve(path);
    return decideChange(change, options, { path: '', before: undefined }, context);
  }
}

/** Makes the new content of a file, after a check that the caller has seen the present one. */
async function decideChange(
  change: FileChange,
  { call, isDry }: ChangeOptions,
  { path, before }: { readonly path: string; readonly before: Before | undefined },
  { session: { knownFiles } }: ToolPlanContext,
): Promise<ChangedFile & NewContent> {
  const { path: shown, replacesAll, allowsUnseen = false } = change;
  const checkSeen = async () => {
    if (before && !allowsUnseen) await refuseUnseen(change, { path, before, call }, knownFiles);
  };
  // Before the edit is tried: that the file has changed matters more than an edit that no longer fits it.
  if (!replacesAll) await checkSeen();
  const content = await change.propose(before?.bytes, change.encoding ?? knownFiles.get(path)?.encoding);
  const { bytes, encoding, places = 0 } = content;
  const isSame = before?.bytes.equals(bytes) === true;
  // Writing the same content again loses nothing.
  if (replacesAll && !isSame) await checkSeen();
  const broken = isSame ? undefined : await syntaxNote(shown, before?.bytes, bytes);
  // A dry run is made to be read, so that its diff is not cut short.
  const options = { path: displayPath(shown), encoding, ...(!isDry && { maxCharacters: mostDiff }) };
  const diff = await unifiedDiff(before?.bytes, bytes, options);
  const notes = [...content.notes, ...(broken === undefined ? [] : [broken])];
  return { bytes, encoding, isNew: before === undefined, isSame, diff, places, notes };
}
