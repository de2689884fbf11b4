import { basename } from 'node:path';
import type { Dirent } from 'node:fs';
import * as z from 'zod';
import { ToolcribError } from '../core/errors.ts';
import { flag, path } from '../core/params.ts';
import { defineTool, type CallContext, type Tool } from '../core/tool.ts';
import { unreadable, type Opened } from '../machine/opened.ts';
import { inlineLimit } from '../machine/presentable.ts';
import { codeOf } from '../machine/real-path.ts';
import { rooted } from '../machine/workspace.ts';
import { cursorAt, positionOf } from './cursor.ts';
import { firstItems } from './first-items.ts';
import { heldElsewhere, isLarge, openBelow, partsOf, type HeldFolder } from './held-folder.ts';
import { ruleNamesAmong, ruleNamesIn, scopeAbove, scopeIn, type IgnoreScope } from './ignore-scope.ts';
import { lineOf, listPage, type ListPage } from './list-page.ts';
import { createPace, type Pace } from './pace.ts';
import { answersAtOnce } from './quick-disk.ts';
import { pathFor } from './search-scope.ts';
import type { Services } from './services.ts';

const usualLimit = 500;
const usualCharacters = inlineLimit - 500;
/** For who asks for more entries than usual. */
const mostCharacters = 4 * inlineLimit - 500;
const mostMs = 30_000;
/** Folders of one folder that are gone into; their names have to be kept meanwhile. */
const mostFolders = 100_000;
/** A name costs a microsecond, asking for a size or a target several. */
const lineUnits = 5;

const params = z.strictObject({
  path: path('Folder to list', 'folder').default('.'),
  depth: z.int().min(1).max(10).default(1).describe('Levels of folders'),
  hidden: flag('Also names that begin with a dot'),
  ignored: flag('Also go into [ignored] folders'),
  sizes: flag('Bytes of files'),
  limit: z.int().min(1).max(2000).default(usualLimit).describe('Entries in a page'),
  cursor: z.string().max(10_000).optional().describe('For the next page'),
});
type Params = z.output<typeof params>;

/** What a folder holds, by name. Links are named and never followed. */
export const listDirectory = (services: Pick<Services, 'env'> = { env: () => ({}) }): Tool =>
  defineTool({
    name: 'list_directory',
    program: 'files',
    title: 'List folder',
    description:
      'List a folder by name: `folder/`, `link -> target`, `other  [kind]`. With depth, folders that .gitignore leaves out are named but not entered.',
    effects: ['read'],
    params,
    async call(given, context) {
      const opened = await rooted(context.workspace).openFolder(given.path);
      try {
        return { content: [{ type: 'text', text: await listing(given, opened, context, services) }] };
      } finally {
        await opened.handle.close();
      }
    },
  });

/** One answer in the making. */
interface Listing {
  readonly given: Params;
  readonly page: ListPage;
  readonly pace: Pace;
  /** The listed folder, as the next call can take it. */
  readonly start: string;
  readonly seen: { total: number; before: number; hidden: number; notes: Set<string> };
}

interface Folder {
  readonly held: HeldFolder;
  /** From the listed folder on. */
  readonly names: readonly string[];
  readonly rules: IgnoreScope | undefined;
}

async function listing(given: Params, opened: Opened, context: CallContext, services: Pick<Services, 'env'>) {
  const after = positionOf(given.cursor)?.split('/');
  const characters = given.limit > usualLimit ? mostCharacters : usualCharacters;
  const task: Listing = {
    given,
    page: listPage({ limit: given.limit, characters }),
    pace: createPace({ signal: context.signal, mostMs }),
    start: pathFor('', opened.path, context.workspace.roots),
    seen: { total: 0, before: 0, hidden: 0, notes: new Set() },
  };
  const complain = (where: string, why: string) => task.seen.notes.add(`${where}: ${why}`);
  const deep = given.depth > 1;
  const [quick, rules] = await Promise.all([
    deep && answersAtOnce(opened.path),
    deep && !given.ignored ? scopeAbove(opened.path, services.env(), complain) : undefined,
  ]);
  const folder = { held: heldElsewhere(opened, quick), names: [], rules };
  const work = list(folder, basename(opened.path), after, task).catch((error: unknown) => {
    throw error instanceof ToolcribError ? error : unreadable(given.path, codeOf(error));
  });
  await task.pace.within(work);
  const text = task.page.text();
  return `${text}${text === '' ? '' : '\n'}[${footer(task)}]`;
}

function footer({ given, page, pace, seen }: Listing): string {
  const shown =
    given.depth > 1 || seen.total === page.count
      ? `${counted(page.count)} entries`
      : `entries ${seen.before + 1}-${seen.before + page.count} of ${counted(seen.total)}`;
  const notes = [shown];
  if (seen.hidden > 0) notes.push(`${counted(seen.hidden)} hidden`);
  notes.push(...seen.notes);
  if (pace.over) notes.push('stopped at the time limit');
  if (page.full && page.last) notes.push(`next: cursor ${cursorAt(page.last.join('/'))}`);
  return notes.join('; ');
}

const counted = (number: number): string => number.toLocaleString('en');

/**
 * The entries of a folder, then its folders one after the other. `after` leads to the last entry of the page before:
 * what came up to there is left out.
 */
async function list(
  folder: Folder,
  name: string,
  after: readonly string[] | undefined,
  task: Listing,
): Promise<void> {
  const { page, pace, given } = task;
  const read = await readOne(folder, name, after, task);
  const path = folder.names.length === 0 ? '' : pathBelowStart(task.start, folder.names);
  for (const { entry, bytes } of read.entries) {
    const goesInto = given.depth > folder.names.length + 1;
    const tag = goesInto && entry.isDirectory() ? read.tagOf(entry.name) : '';
    const line = lineOf(entry, folder.held, { bytes, sizes: given.sizes, tag });
    if (!page.add(line, [...folder.names, entry.name], path)) return;
    if (pace.spend(given.sizes || entry.isSymbolicLink() ? lineUnits : 1)) await pace.rest();
    if (pace.over) return;
  }
  for (const below of read.folders) {
    if (page.full || pace.over) return;
    const further = below.name === after?.[0] && after.length > 1 ? after.slice(1) : undefined;
    await listBelow(folder, read.rules, below, further, task);
  }
}
