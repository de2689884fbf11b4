import { lstat } from 'node:fs/promises';
import { ToolcribError } from '../../../core/errors.ts';
import type { ToolPlanContext } from '../../define-tool.ts';
import { togetherAs, type Facts } from '../../../machine/history/entry.ts';
import type { PathTarget } from '../../../machine/paths/path-target.ts';
import { refuseDeleting, refuseMoving } from '../../../machine/paths/protected-trees.ts';
import { refusal, displayPath } from '../../../machine/paths/display-path.ts';
import { rooted } from '../../../machine/paths/workspace.ts';
import { changeFile, type ChangedFile, type ChangeOptions, type FileChange } from './change-files.ts';

/** A move of the file, link or folder at a path. */
interface MoveStep {
  readonly path: string;
  readonly movesTo: string;
}

/** One step of a call: a change of the content of a file, a move, or a removal. */
export type Step = FileChange | MoveStep | { readonly path: string; readonly isRemoved: true };

/**
 * A step that was done or tried, with its outcome: `file` of a change, `to` of a move, `removed` of a
 * removal.
 */
export interface StepDone {
  readonly path: string;
  /** The id of the change in the history; undefined when nothing was changed. */
  readonly id?: string | undefined;
  readonly file?: ChangedFile;
  readonly to?: string;
  readonly removed?: Facts | undefined;
}

const nothingWritten = 'Nothing was written.';
/** Failures that one error lists. */
const mostFailures = 3;

/**
 * Does all steps, or none: each is tried in a dry run first. Throws one error for the failures of all steps,
 * with the code of the first, that says what was written.
 */
export async function takeSteps(
  steps: readonly Step[],
  options: ChangeOptions,
  context: ToolPlanContext,
): Promise<StepDone[]> {
  if (steps.length === 1 && steps[0]) return [await takeStep(steps[0], options, context)];
  const tried = await takeEach(steps, { ...options, isDry: true }, context);
  refuseFailed(tried, nothingWritten);
  if (options.isDry) return tried.done;
  // Once begun, the steps are brought to their end even if the caller has left.
  const uncancelled = { ...context, signal: new AbortController().signal };
  const taken = await takeEach(steps, { ...options, kind: togetherAs(options.kind) }, uncancelled);
  // All steps were possible a moment ago: the disk is full, or another program was faster.
  const names = taken.done.map(({ path }) => displayPath(path)).join(', ');
  refuseFailed(
    taken,
    names ? `Only these were changed: ${names}. undo last=1 takes them back.` : nothingWritten,
  );
  return taken.done;
}

/** The outcomes of steps that do not depend on each other. */
interface StepOutcomes {
  readonly done: StepDone[];
  readonly failed: { readonly path: string; readonly error: ToolcribError }[];
}

/** Does each step that can be done, and collects the failures of the others. Throws CANCELLED. */
export async function takeEach(
  steps: readonly Step[],
  options: ChangeOptions,
  context: ToolPlanContext,
): Promise<StepOutcomes> {
  const taken: StepOutcomes = { done: [], failed: [] };
  for (const step of steps) {
    if (context.signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
    try {
      taken.done.push(await takeStep(step, options, context));
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
  const messages = failed.slice(0, mostFailures).map(({ error }) => error.message);
  const more = failed.length > mostFailures ? [`${failed.length - mostFailures} more fail.`] : [];
  throw new ToolcribError(first.error.code, [written, ...messages, ...more].join('\n'));
}

async function takeStep(step: Step, options: ChangeOptions, context: ToolPlanContext): Promise<StepDone> {
  const { path } = step;
  if ('movesTo' in step) return { path, to: step.movesTo, id: await move(step, options, context) };
  if ('isRemoved' in step) return { path, ...(await remove(path, options, context)) };
  const file = await changeFile(step, options, context);
  return { path, file, id: file.id };
}

/** Moves the file, link or folder at a path into the history. */
function remove(
  path: string,
  { kind, isDry }: ChangeOptions,
  { workspace, signal, session }: ToolPlanContext,
): Promise<Pick<StepDone, 'removed' | 'id'>> {
  const gate = rooted(workspace);
  return gate.atPlace(path, {}, async (target) => {
    const refuseProtected = async (facts: Facts) => {
      if (facts.kind !== 'folder') return;
      gate.refuseWhole(path);
      await refuseDeleting({ at: target.at, path: target.path, given: path });
    };
    const history = await session.history();
    const { id, before } = await history.remove(target, { kind, dryRun: isDry, signal }, refuseProtected);
    if (isDry) return { removed: before };
    session.knownFiles.forget(target.path);
    return { removed: before, id };
  });
}

/** Moves the file, link or folder at a path. Returns the id of the change; undefined in a dry run. */
async function move(
  { path, movesTo }: MoveStep,
  { kind, isDry }: ChangeOptions,
  { workspace, signal, session }: ToolPlanContext,
): Promise<string | undefined> {
  const gate = rooted(workspace);
  return gate.atPlace(path, {}, async (source) => {
    const stat = await lstat(source.at).catch(() => {
      throw refusal('PATH_NOT_FOUND', path, 'does not exist.', 'list_files finds files by their names.');
    });
    if (stat.isDirectory()) gate.refuseWhole(path);
    const moveTo = async (target: PathTarget) => {
      const history = await session.history();
      const change = await history.move(source, target, { kind, signal, dryRun: isDry });
      if (isDry) return undefined;
      // A file that was read stays known under its new name.
      const knownFile = session.knownFiles.get(source.path);
      session.knownFiles.forget(source.path);
      if (knownFile?.hash !== undefined) session.knownFiles.remember(target.path, knownFile);
      return change.id;
    };
    try {
      return await gate.atPlace(movesTo, { make: !isDry }, moveTo);
    } catch (error) {
      if (!isDry || !(error instanceof ToolcribError) || error.code !== 'PATH_NOT_FOUND') throw error;
      // The folder of the target does not exist yet: the move would make it.
      const otherKind = stat.isSymbolicLink() ? 'link' : 'folder';
      const fileKind = stat.isFile() ? 'file' : otherKind;
      await refuseMoving({ ...source, given: path }, { kind: fileKind, to: await gate.resolve(movesTo) });
      return undefined;
    }
  });
}
