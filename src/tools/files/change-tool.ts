import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import type { PlanContext, ToolFacts } from '../../core/tool.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { takeSteps, type Step } from './editing/take-steps.ts';
import { changedText, type ChangeAnswer } from './editing/changed-text.ts';
import type { Session } from '../../machine/session.ts';
import { defineTool, type BuiltInTool } from '../define-tool.ts';

interface ChangeToolSpec<P extends z.ZodObject, Given> extends Pick<
  ToolFacts,
  'name' | 'title' | 'description' | 'hint'
> {
  /** Separated by blanks. */
  readonly aliases?: string;
  readonly listed: NonNullable<ToolFacts['listed']>;
  readonly params: P;
  /** `write src/a.ts` */
  subject(given: Given): string;
  /** The paths it names, as they were given. */
  paths(given: Given): readonly string[];
  /** They are where it looks for files to change. */
  readonly within?: boolean;
  /**
   * It is about what lies at the path itself, also where that is a link; the dry run is made for every plan.
   */
  readonly itself?: boolean;
}

interface Acting<Given> {
  /** Does it, or tells what would be done. */
  act(given: Given, isDry: boolean, context: PlanContext, session: Session): Promise<ChangeAnswer>;
  /** Nothing is changed by it. */
  looks(given: Given): boolean;
}

/** A tool that changes files, all of which undo takes back. */
export function changeTool<P extends z.ZodObject>(
  spec: ChangeToolSpec<P, z.output<P>> & Acting<z.output<P>>,
): BuiltInTool {
  const { subject, paths, act, looks, itself = false, within = false, ...facts } = spec;
  return defineTool<P, z.output<P>>({
    ...facts,
    toolset: 'files',
    effects: ['write'],
    async plan(given, context) {
      const named = [...new Set(paths(given))];
      const places = await Promise.all(
        named.map(async (path) =>
          within
            ? { path: await context.workspace.resolve(path, { mustExist: true }) }
            : placeOf(path, !itself, context),
        ),
      );
      // The gate notes what is protected while it is made.
      const would = context.preview || itself ? await act(given, true, context, context.session) : undefined;
      const [first] = places;
      const content = 'content' in given ? given.content : '';
      return {
        effects: looks(given) ? ['read'] : ['write'],
        subject: `${subject(given)}${would?.counts === undefined ? '' : ` (${would.counts})`}`,
        folder: first === undefined ? context.workspace.home : within ? first.path : dirname(first.path),
        paths: places.map(({ path }) => path),
        ...(would && context.preview && { preview: would.text }),
        isUndoable: true,
        // A content may have megabytes: to write it as JSON takes longer than to write it to a disk.
        fingerprint: `${JSON.stringify([{ ...given, content: undefined }, places])}\n${String(content)}`,
        work: given,
      };
    },
    async run({ work }, context) {
      const { text } = await act(work, looks(work), context, context.session);
      return { content: [{ type: 'text', text }] };
    },
  });
}

interface Stepping<Given> {
  /** What it is called in the list of changes, and its answer begins with. */
  readonly kind: string;
  readonly done: string;
  /** All of them are done, or none. */
  steps(given: Given, context: PlanContext): readonly Step[] | Promise<readonly Step[]>;
}

/** A tool that changes files one after the other, all or none. */
export const stepTool = <P extends z.ZodObject>({
  kind,
  done,
  steps: stepsOf,
  ...spec
}: ChangeToolSpec<P, z.output<P>> & Stepping<z.output<P>>): BuiltInTool =>
  changeTool<P>({
    ...spec,
    looks: (given) => 'dry_run' in given && given.dry_run === true,
    async act(given, isDry, context, session) {
      const call = () => JSON.stringify([kind, { ...given, dry_run: false }]);
      const changing = { kind, isDry, call, session };
      const steps = await takeSteps(await stepsOf(given, context), changing, context);
      return changedText({ done: isDry ? `Would ${kind}` : done, steps, isDry });
    },
  });

/** Several paths in a subject. */
export const namesOf = ([first = '', ...others]: readonly string[]): string =>
  `${first}${others.length > 0 ? ` and ${others.length} more` : ''}`;

/**
 * Where a path is, and by what it is known again; one that cannot be changed is left to the change to refuse.
 */
async function placeOf(path: string, follow: boolean, { workspace }: PlanContext) {
  try {
    const place = await rooted(workspace).openPlace(path, { follow });
    await place.folder.handle.close();
    const found = await lstat(place.path).catch(() => undefined);
    return { path: place.path, ...(found && { ino: found.ino, size: found.size, mtimeMs: found.mtimeMs }) };
  } catch (error) {
    // Folders that are missing are made by the change.
    if (!(error instanceof ToolcribError) || error.code !== 'PATH_NOT_FOUND') throw error;
    return { path: await workspace.resolve(path) };
  }
}
