import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ToolcribError } from '../core/errors.ts';
import { textOf, type Plan, type PlanContext, type ToolResult } from '../core/tool.ts';
import { rooted } from '../machine/paths/workspace.ts';

/** What a change would come to. */
export interface DryRun {
  readonly result: ToolResult;
  /** Lines, as `+3 -1`. */
  readonly counts?: string;
}

interface Change<Given> {
  /** What is done, as a verb: `write`. */
  readonly verb: string;
  readonly given: Given;
  /** The paths it names, as they were given. */
  readonly paths: readonly string[];
  /** For what has no path among its parameters: how it is called in the subject. */
  readonly names?: string;
  /** Tells what would be done, and changes nothing. */
  dryRun(): Promise<DryRun>;
  /** It is about what lies at the path itself, also where that is a link. The dry run is made for every plan. */
  readonly itself?: boolean;
}

/**
 * The plan of a change of files, all of which undo takes back. The gate notes what is protected while it is made.
 * Throws what the dry run throws where one is made: for who will read the plan, and where nothing else tells what is
 * concerned.
 */
export async function planChange<Given extends { readonly dry_run: boolean; readonly content?: string }>(
  { verb, given, paths, names = '', dryRun, itself = false }: Change<Given>,
  context: PlanContext,
): Promise<Plan<Given>> {
  const places = await Promise.all(paths.map((path) => placeOf(path, !itself, context)));
  const would = context.preview || itself ? await dryRun() : undefined;
  const shown = names || paths.join(' to ');
  const [first] = places;
  return {
    effects: given.dry_run ? ['read'] : ['write'],
    subject: `${verb} ${shown}${would?.counts === undefined ? '' : ` (${would.counts})`}`,
    folder: first === undefined ? context.workspace.home : dirname(first.path),
    touches: places.map(({ path }) => path),
    ...(would && context.preview && { preview: textOf(would.result) }),
    takenBack: true,
    // A content may have megabytes: to write it as JSON takes longer than to write it to a disk.
    exactly: `${JSON.stringify([{ ...given, content: undefined }, places])}\n${given.content ?? ''}`,
    work: given,
  };
}

/** Where a path is, and by what it is known again; one that cannot be changed is left to the change to refuse. */
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
