import { lstat } from 'node:fs/promises';
import { ToolcribError } from '../../core/errors.ts';
import type { PlanContext } from '../../core/tool.ts';
import { togetherAs, type Facts } from '../../machine/history/entry.ts';
import type { Place } from '../../machine/paths/place.ts';
import { refuseDeleting, refuseMoving } from '../../machine/paths/protected-trees.ts';
import { refusal } from '../../machine/paths/shown-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { changeFile, type ChangedFile, type Changing, type FileChange } from './change-files.ts';

interface Move {
  readonly path: string;
  readonly movesTo: string;
}

/** One of several changes: of what is in a file, of where it is, or of whether it is. */
export type Step = FileChange | Move | { readonly path: string; readonly isRemoved: true };

/** A step that was found possible, and what came or would come of it. */
export interface StepDone {
  readonly path: string;
  /** The change in the history; undefined where nothing was changed. */
  readonly id?: string | undefined;
  /** One of these three. */
  readonly file?: ChangedFile;
  readonly to?: string;
  readonly removed?: Facts | undefined;
}

/** Failures that one answer tells. */
const mostTold = 3;

/**
 * Does all steps, or none: what was done is taken back when a later one fails. In a dry run it only tells what would be
 * done. Throws the failures of all steps in one, by the code of the first, which says that nothing was written.
 */
export async function takeSteps(
  steps: readonly Step[],
  changing: Changing,
  context: PlanContext,
): Promise<StepDone[]> {
  const [only] = steps;
  if (only && steps.length === 1) return [await takeStep(only, changing, context)];
  const done: StepDone[] = [];
  const failures: ToolcribError[] = [];
  for (const step of steps) {
    if (context.signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
    try {
      done.push(await takeStep(step, { ...changing, isDry: true }, context));
    } catch (error) {
      if (!(error instanceof ToolcribError) || error.code === 'CANCELLED') throw error;
      failures.push(error);
    }
  }
  const [first] = failures;
  if (!first)
    return changing.isDry ? done : takeAll(steps, { ...changing, kind: togetherAs(changing.kind) }, context);
  const told = failures.slice(0, mostTold).map(({ message }) => message);
  const more = failures.length > mostTold ? [`${failures.length - mostTold} more fail.`] : [];
  throw new ToolcribError(first.code, ['Nothing was written.', ...told, ...more].join('\n'));
}

async function takeAll(
  steps: readonly Step[],
  changing: Changing,
  context: PlanContext,
): Promise<StepDone[]> {
  const done: StepDone[] = [];
  try {
    for (const step of steps) done.push(await takeStep(step, changing, context));
    return done;
  } catch (error) {
    const left = await takeBack(done, changing, context);
    if (!(error instanceof ToolcribError)) throw error;
    const rest = left.length === 0 ? 'Nothing was written.' : `These stay changed: ${left.join(', ')}.`;
    throw new ToolcribError(error.code, `${rest} ${error.message}`);
  }
}

async function takeStep(step: Step, changing: Changing, context: PlanContext): Promise<StepDone> {
  const { path } = step;
  if ('propose' in step) return { path, ...(await changeFile(step, changing, context)) };
  if ('movesTo' in step) return { path, to: step.movesTo, id: await move(step, changing, context) };
  return { path, ...(await remove(path, changing, context)) };
}

/** Moves what is at a path into the history. */
function remove(at: string, { kind, isDry, services }: Changing, { workspace, signal }: PlanContext) {
  const gate = rooted(workspace);
  return gate.atPlace(at, {}, async (place) => {
    const look = async (found: Facts) => {
      if (found.kind !== 'folder') return;
      gate.refuseWhole(at);
      await refuseDeleting({ at: place.at, path: place.path, given: at });
    };
    const history = await services.history();
    const { id, before } = await history.remove(place, { kind, dryRun: isDry, signal }, look);
    if (isDry) return { removed: before };
    services.known.forget(place.path);
    return { removed: before, id };
  });
}

/** Moves what is at a path, and returns the id of the change; undefined in a dry run. */
async function move(
  { path, movesTo }: Move,
  { kind, isDry, services }: Changing,
  { workspace, signal }: PlanContext,
): Promise<string | undefined> {
  const gate = rooted(workspace);
  return gate.atPlace(path, {}, async (source) => {
    const found = await lstat(source.at).catch(() => {
      throw refusal('PATH_NOT_FOUND', path, 'does not exist.', 'list_files finds files by their names.');
    });
    if (found.isDirectory()) gate.refuseWhole(path);
    const moved = async (target: Place) => {
      const history = await services.history();
      const change = await history.move(source, target, { kind, signal, dryRun: isDry });
      if (isDry) return undefined;
      // A file that was read is still known under its new name; its times are not as they were.
      const known = services.known.get(source.path);
      services.known.forget(source.path);
      if (known?.hash !== undefined) services.known.remember(target.path, known);
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

/** The paths that could not be taken back. */
async function takeBack(
  done: readonly StepDone[],
  { services }: Changing,
  { workspace }: PlanContext,
): Promise<string[]> {
  const ids = done.flatMap(({ id }) => id ?? []);
  const [since] = ids;
  if (since === undefined) return [];
  const named = done.flatMap(({ path, to = path }) => [path, to]);
  const paths = await Promise.all(named.map((path) => workspace.resolve(path)));
  const history = await services.history();
  const options = { workspace: rooted(workspace), dryRun: false, signal: new AbortController().signal };
  const { changes, left } = await history.undo({ since, paths }, options);
  for (const path of paths) services.known.forget(path);
  return changes.length === ids.length ? [] : left.map(({ path }) => path);
}
