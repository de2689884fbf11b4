import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type * as z from 'zod';
import { ToolcribError } from '../core/errors.ts';
import { defineTool, type Plan, type PlanContext, type Tool, type ToolFacts } from '../core/tool.ts';
import { rooted } from '../machine/paths/workspace.ts';
import type { Services } from './services.ts';

/** What a change came to, or would come to. */
export interface ChangeAnswer {
  readonly text: string;
  /** Lines, as `+3 -1`. */
  readonly counts?: string;
}

interface ChangeFacts<P extends z.ZodObject, Given> extends Omit<
  ToolFacts,
  'params' | 'program' | 'effects'
> {
  readonly params: P;
  /** What is done, where that is more than what was given. */
  meant(values: z.output<P>): Given;
  /** `write src/a.ts` */
  subject(given: Given): string;
  /** The paths it names, as they were given. */
  paths(given: Given): readonly string[];
  /** It is about what lies at the path itself, also where that is a link; the dry run is made for every plan. */
  readonly itself?: boolean;
  /** Does it, or tells what would be done. */
  change(given: Given, context: PlanContext, services: Services): Promise<ChangeAnswer>;
}

interface Changeable {
  readonly dry_run: boolean;
  readonly content?: string;
}

/** A tool that changes files, all of which undo takes back. */
export const changeTool =
  <P extends z.ZodObject, Given extends Changeable>(facts: ChangeFacts<P, Given>) =>
  (services: Services): Tool => {
    const { name, title, description, params, meant, change } = facts;
    return defineTool({
      name,
      program: 'files',
      title,
      description,
      effects: ['write'],
      params,
      plan: (values, context) => planChange(facts, meant(values), context, services),
      async run({ work }: Plan<Given>, context) {
        const { text } = await change(work, context, services);
        return { content: [{ type: 'text', text }] };
      },
    });
  };

/** The gate notes what is protected while it is made. Throws what the dry run throws where one is made. */
async function planChange<P extends z.ZodObject, Given extends Changeable>(
  { subject, paths, itself = false, change }: ChangeFacts<P, Given>,
  given: Given,
  context: PlanContext,
  services: Services,
): Promise<Plan<Given>> {
  const named = [...new Set(paths(given))];
  const places = await Promise.all(named.map((path) => placeOf(path, !itself, context)));
  const would =
    context.preview || itself ? await change({ ...given, dry_run: true }, context, services) : undefined;
  const [first] = places;
  return {
    effects: given.dry_run ? ['read'] : ['write'],
    subject: `${subject(given)}${would?.counts === undefined ? '' : ` (${would.counts})`}`,
    folder: first === undefined ? context.workspace.home : dirname(first.path),
    touches: places.map(({ path }) => path),
    ...(would && context.preview && { preview: would.text }),
    takenBack: true,
    // A content may have megabytes: to write it as JSON takes longer than to write it to a disk.
    exactly: `${JSON.stringify([{ ...given, content: undefined }, places])}\n${given.content ?? ''}`,
    work: given,
  };
}

/** Several paths in a subject. */
export const namesOf = ([first = '', ...others]: readonly string[]): string =>
  `${first}${others.length > 0 ? ` and ${others.length} more` : ''}`;

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
