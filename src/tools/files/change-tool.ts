import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import type { PlanContext, ToolFacts } from '../../core/tool.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { takeSteps, type Step } from './editing/take-steps.ts';
import { formatChanges, type ChangeAnswer } from './editing/changed-text.ts';
import { defineTool, type BuiltInTool, type ToolPlanContext } from '../define-tool.ts';

/** The facts of a tool that changes files, and how a call of it is described. */
interface ChangeToolSpec<P extends z.ZodObject, Values> extends Pick<
  ToolFacts,
  'name' | 'title' | 'description' | 'hint'
> {
  /** Other names that models bring for the tool, separated by blanks. */
  readonly aliases?: string;
  readonly listed: NonNullable<ToolFacts['listed']>;
  readonly params: P;
  /** The act in one line: `write src/a.ts`. */
  subject(values: Values): string;
  /** The paths that a call names. */
  paths(values: Values): readonly string[];
  /** The paths are folders in which the tool searches for files to change. */
  readonly searchesPaths?: boolean;
  /** The tool changes a link itself, not its target. Every plan of such a tool makes the dry run. */
  readonly noFollow?: boolean;
}

interface ChangeHandler<Values> {
  /** Makes the changes, or in a dry run only says what would change. */
  apply(values: Values, isDry: boolean, context: ToolPlanContext): Promise<ChangeAnswer>;
  /** Says whether a call changes nothing. */
  isReadOnly(values: Values): boolean;
}

/** Defines a tool that changes files; undo takes all of its changes back. */
export function changeTool<P extends z.ZodObject>(
  spec: ChangeToolSpec<P, z.output<P>> & ChangeHandler<z.output<P>>,
): BuiltInTool {
  const { subject, paths, apply, isReadOnly, noFollow = false, searchesPaths = false, ...facts } = spec;
  return defineTool<P, z.output<P>>({
    ...facts,
    toolset: 'files',
    effects: ['write'],
    async plan(values, context) {
      const { workspace } = context;
      const names = [...new Set(paths(values))];
      const identify = async (path: string): Promise<PathIdentity> =>
        searchesPaths
          ? { path: await workspace.resolve(path, { mustExist: true }) }
          : identifyPath(path, !noFollow, context);
      const identities = await Promise.all(names.map(identify));
      // The dry run also makes the gate note the protected files that would change.
      const dryRun = context.preview || noFollow ? await apply(values, true, context) : undefined;
      const [first] = identities;
      const scope = searchesPaths ? first?.path : first && dirname(first.path);
      const content = 'content' in values ? values.content : '';
      return {
        effects: isReadOnly(values) ? ['read'] : ['write'],
        subject: `${subject(values)}${dryRun?.counts === undefined ? '' : ` (${dryRun.counts})`}`,
        folder: scope ?? workspace.home,
        paths: identities.map(({ path }) => path),
        ...(dryRun && context.preview && { preview: dryRun.text }),
        isUndoable: true,
        // A content may have megabytes, and writing it as JSON takes longer than writing it to a disk.
        fingerprint: `${JSON.stringify([{ ...values, content: undefined }, identities])}\n${String(content)}`,
        work: values,
      };
    },
    async run({ work }, context) {
      const { text } = await apply(work, isReadOnly(work), context);
      return { content: [{ type: 'text', text }] };
    },
  });
}

interface StepsSpec<Values> {
  /** The name of the change in the list of changes: `edit`. */
  readonly kind: string;
  /** The beginning of the answer: `Edited`. */
  readonly done: string;
  /** The steps of a call, of which all are done, or none. */
  steps(values: Values, context: PlanContext): readonly Step[] | Promise<readonly Step[]>;
}

/** Defines a tool that changes files step by step: all of them, or none. */
export const stepTool = <P extends z.ZodObject>({
  kind,
  done,
  steps: stepsOf,
  ...spec
}: ChangeToolSpec<P, z.output<P>> & StepsSpec<z.output<P>>): BuiltInTool =>
  changeTool<P>({
    ...spec,
    isReadOnly: (values) => 'dry_run' in values && values.dry_run === true,
    async apply(values, isDry, context) {
      const call = () => JSON.stringify([kind, { ...values, dry_run: false }]);
      const steps = await takeSteps(await stepsOf(values, context), { kind, isDry, call }, context);
      return formatChanges({ done: isDry ? `Would ${kind}` : done, steps, isDry });
    },
  });

/** Several paths in a subject: the first, and the number of the others. */
export const abbreviatePaths = ([first = '', ...others]: readonly string[]): string =>
  `${first}${others.length > 0 ? ` and ${others.length} more` : ''}`;

/**
 * A path, and the stamp of the file there, by which a plan notices that another file has come in its place.
 */
interface PathIdentity {
  readonly path: string;
  readonly ino?: number;
  readonly size?: number;
  readonly mtimeMs?: number;
}

/** Identifies the file at a path; one that cannot be changed is left to the change to refuse. */
async function identifyPath(
  path: string,
  follow: boolean,
  { workspace }: PlanContext,
): Promise<PathIdentity> {
  try {
    const target = await rooted(workspace).openPlace(path, { follow });
    await target.folder.handle.close();
    const stat = await lstat(target.path).catch(() => undefined);
    return { path: target.path, ...(stat && { ino: stat.ino, size: stat.size, mtimeMs: stat.mtimeMs }) };
  } catch (error) {
    // Folders that are missing are made by the change.
    if (!(error instanceof ToolcribError) || error.code !== 'PATH_NOT_FOUND') throw error;
    return { path: await workspace.resolve(path) };
  }
}
