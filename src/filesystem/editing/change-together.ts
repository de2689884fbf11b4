import { randomBytes } from 'node:crypto';
import { ToolcribError } from '../../core/errors.ts';
import type { PlanContext } from '../../core/tool.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { removePath } from '../history/delete-path.ts';
import { relocatePath } from '../history/move-path.ts';
import { changeFile, type ChangedFile, type Changing, type FileChange } from './change-files.ts';

/** One of several changes: of what is in a file, of where it is, or of whether it is. */
export type Step =
  | FileChange
  | { readonly path: string; readonly movesTo: string }
  | { readonly path: string; readonly isRemoved: true };

/** A step that was found possible, and what came or would come of it. */
export interface StepDone {
  readonly path: string;
  /** Where it was moved. */
  readonly to?: string;
  readonly id?: string | undefined;
  /** Undefined for what was moved or removed. */
  readonly changed?: ChangedFile;
}

/** Failures that one answer tells. */
const mostTold = 3;

/** The kind of changes that are one: undo takes them back together. */
export const togetherAs = (kind: string): string => `${kind}@${randomBytes(4).toString('hex')}`;

/**
 * Does all steps, or none: what was done is taken back when a later one fails. In a dry run it only tells what would be
 * done. Throws the failures of all steps in one, by the code of the first, which says that nothing was written.
 */
export async function changeTogether(
  steps: readonly Step[],
  given: Changing,
  context: PlanContext,
): Promise<StepDone[]> {
  const done: StepDone[] = [];
  const failures: ToolcribError[] = [];
  for (const step of steps) {
    if (context.signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
    try {
      done.push(await takeStep(step, { ...given, isDry: true }, context));
    } catch (error) {
      if (!(error instanceof ToolcribError) || error.code === 'CANCELLED') throw error;
      failures.push(error);
    }
  }
  const [first] = failures;
  if (!first) return given.isDry ? done : takeAll(steps, { ...given, kind: togetherAs(given.kind) }, context);
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
  if ('propose' in step) {
    const changed = await changeFile(step, changing, context);
    return { path, id: changed.id, changed };
  }
  if (!('movesTo' in step)) return { path, id: (await removePath(path, changing, context)).id };
  const to = step.movesTo;
  return { path, to, id: await relocatePath({ from: path, to }, changing, context) };
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
  const named = done.flatMap(({ path, to }) => (to === undefined ? [path] : [path, to]));
  const paths = await Promise.all(named.map((path) => workspace.resolve(path)));
  const history = await services.history();
  const options = { workspace: rooted(workspace), dryRun: false, signal: new AbortController().signal };
  const { changes, left } = await history.undo({ since, paths }, options);
  for (const path of paths) services.known.forget(path);
  return changes.length === ids.length ? [] : left.map(({ path }) => path);
}
