import { lstat } from 'node:fs/promises';
import { ToolcribError } from '../../../core/errors.ts';
import type { PlanContext } from '../../../core/tool.ts';
import { togetherAs, type Facts } from '../../../machine/history/entry.ts';
import type { PathTarget } from '../../../machine/paths/path-target.ts';
import { refuseDeleting, refuseMoving } from '../../../machine/paths/protected-trees.ts';
import { refusal, displayPath } from '../../../machine/paths/display-path.ts';
import { rooted } from '../../../machine/paths/workspace.ts';
import { changeFile, type ChangedFile, type Changing, type FileChange } from './change-files.ts';

interface MoveStep {
  readonly path: string;
  readonly movesTo: string;
}

/** One of several changes: of what is in a file, of where it is, or of whether it is. */
export type Step = FileChange | MoveStep | { readonly path: string; readonly isRemoved: true };

/** A step that was found possible, and what came or would come of it: one of the last three. */
export interface StepDone {
  readonly path: string;
  /** The change in the history; undefined where nothing was changed. */
  readonly id?: string | undefined;
  readonly file?: ChangedFile;
  readonly to?: string;
  readonly removed?: Facts | undefined;
}

const nothing = 'Nothing was written.';
/** Failures that one answer tells. */
const mostTold = 3;

/**
 * Does all steps, or none: each is tried first. In a dry run it only tells what would be done. Throws the
 * failures of all steps in one, by the code of the first, which says what was written.
 */
export async function takeSteps(
  steps: readonly Step[],
  changing: Changing,
  context: PlanContext,
): Promise<StepDone[]> {
  if (steps.length === 1 && steps[0]) return [await takeStep(steps[0], changing, context)];
  const tried = await takeEach(steps, { ...changing, isDry: true }, context);
  refuseFailed(tried, nothing);
  if (changing.isDry) return tried.done;
  // What is begun is brought to its end, also for a caller that has left.
  const all = { ...context, signal: new AbortController().signal };
  const taken = await takeEach(steps, { ...changing, kind: togetherAs(changing.kind) }, all);
  // What was possible a moment ago: the disk is full, or another program was at it.
  const names = taken.done.map(({ path }) => displayPath(path)).join(', ');
  refuseFailed(taken, names ? `Only these were changed: ${names}. undo last=1 takes them back.` : nothing);
  return taken.done;
}

/** What came of some steps, each for itself. */
interface StepOutcomes {
  readonly done: StepDone[];
  readonly failed: { readonly path: string; readonly error: ToolcribError }[];
}

/** Does each step that can be done. Throws CANCELLED. */
export async function takeEach(
  steps: readonly Step[],
  changing: Changing,
  context: PlanContext,
): Promise<StepOutcomes> {
  const taken: StepOutcomes = { done: [], failed: [] };
  for (const step of steps) {
    if (context.signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
    try {
      taken.done.push(await takeStep(step, changing, context));
    } catch (error) {
      if (!(error instanceof ToolcribError)) throw error;
      taken.failed.push({ path: step.path, error });
    }
  }
  return taken;
}

function refuseFailed({ failed }: StepOutcomes, written: string): void {
  const [first] = failed;
  if (!first) return;
  const told = failed.slice(0, mostTold).map(({ error }) => error.message);
  const more = failed.length > mostTold ? [`${failed.length - mostTold} more fail.`] : [];
  throw new ToolcribError(first.error.code, [written, ...told, ...more].join('\n'));
}

async function takeStep(step: Step, changing: Changing, context: PlanContext): Promise<StepDone> {
  const { path } = step;
  if ('movesTo' in step) return { path, to: step.movesTo, id: await move(step, changing, context) };
  if ('isRemoved' in step) return { path, ...(await remove(path, changing, context)) };
  const file = await changeFile(step, changing, context);
  return { path, file, id: file.id };
}

/** Moves what is at a path into the history. */
function remove(at: string, { kind, isDry, session }: Changing, { workspace, signal }: PlanContext) {
  const gate = rooted(workspace);
  return gate.atPlace(at, {}, async (place) => {
    const look = async (found: Facts) => {
      if (found.kind !== 'folder') return;
      gate.refuseWhole(at);
      await refuseDeleting({ at: place.at, path: place.path, given: at });
    };
    const history = await session.history();
    const { id, before } = await history.remove(place, { kind, dryRun: isDry, signal }, look);
    if (isDry) return { removed: before };
    session.knownFiles.forget(place.path);
    return { removed: before, id };
  });
}

/** Moves what is at a path, and returns the id of the change; undefined in a dry run. */
async function move(
  { path, movesTo }: MoveStep,
  { kind, isDry, session }: Changing,
  { workspace, signal }: PlanContext,
): Promise<string | undefined> {
  const gate = rooted(workspace);
  return gate.atPlace(path, {}, async (source) => {
    const found = await lstat(source.at).catch(() => {
      throw refusal('PATH_NOT_FOUND', path, 'does not exist.', 'list_files finds files by their names.');
    });
    if (found.isDirectory()) gate.refuseWhole(path);
    const moved = async (target: PathTarget) => {
      const history = await session.history();
      const change = await history.move(source, target, { kind, signal, dryRun: isDry });
      if (isDry) return undefined;
      // A file that was read is still known under its new name; its times are not as they were.
      const known = session.knownFiles.get(source.path);
      session.knownFiles.forget(source.path);
      if (known?.hash !== undefined) session.knownFiles.remember(target.path, known);
      return change.id;
    };
    try {
      return await gate.atPlace(movesTo, { make: !isDry }, moved);
    } catch (error) {
      if (!isDry || !(error instanceof ToolcribError) || error.code !== 'PATH_NOT_FOUND') throw error;
      // Its folder would be made.
      const what = found.isFile() ? 'file' : found.isSymbolicLink() ? 'link' : 'folder';
      await refuseMoving({ ...source, given: path }, { kind: what, to: await gate.resolve(movesTo) });
      return undefined;
    }
  });
}
