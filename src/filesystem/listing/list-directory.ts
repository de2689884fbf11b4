import { join } from 'node:path';
import * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import { flag, path } from '../../core/params.ts';
import { defineSimpleTool, type CallContext, type Tool } from '../../core/tool.ts';
import { unreadable, type Opened } from '../../machine/paths/opened.ts';
import { inlineLimit } from '../../machine/presentable.ts';
import { codeOf } from '../../machine/paths/real-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { cursorAt, positionOf } from '../cursor.ts';
import { heldElsewhere } from './held-folder.ts';
import { scopeAbove } from './ignore-scope.ts';
import { listFolder, noteOn, type Listing } from './list-folder.ts';
import { listPage } from './list-page.ts';
import { createPace } from './pace.ts';
import { answersAtOnce, isOnDisk } from './quick-disk.ts';
import { pathFor } from '../searching/search-scope.ts';
import type { Services } from '../services.ts';
import { withCommas } from '../with-commas.ts';

const usualLimit = 500;
const usualCharacters = inlineLimit - 500;
/** For who asks for more entries than usual. */
const mostCharacters = 4 * inlineLimit - 500;
const mostMs = 30_000;

const params = z.strictObject({
  path: path('Folder to list', 'folder').default('.'),
  depth: z.int().min(1).max(10).default(1).describe('Levels of folders'),
  hidden: flag('Also dot names'),
  ignored: flag('Also go into [ignored] folders'),
  sizes: flag('Bytes of files'),
  limit: z.int().min(1).max(2000).default(usualLimit).describe('Entries in a page'),
  cursor: z.string().max(10_000).optional(),
});
type Params = z.output<typeof params>;

/** What a folder holds, by name. Links are named and never followed. */
export const listDirectory = (services: Pick<Services, 'env'>): Tool =>
  defineSimpleTool({
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

async function listing(given: Params, opened: Opened, context: CallContext, services: Pick<Services, 'env'>) {
  const after = positionOf(given.cursor)?.split('/');
  const characters = given.limit > usualLimit ? mostCharacters : usualCharacters;
  const start = join(pathFor('', opened.path, context.workspace.roots));
  const task: Listing = {
    ...given,
    page: listPage(given.limit, characters),
    pace: createPace({ signal: context.signal, mostMs }),
    start,
    seen: { total: 0, before: 0, hidden: 0, notes: new Set<string>() },
  };
  const reading = { pace: task.pace, complain: (where: string, why: string) => noteOn(task, where, why) };
  const deep = given.depth > 1;
  const [quick, rules] = await Promise.all([
    // At one level there is one folder to ask, and finding out would take as long.
    deep ? answersAtOnce(opened.path) : isOnDisk(opened.stat),
    deep && !given.ignored ? scopeAbove(opened.path, services.env(), reading) : undefined,
  ]);
  const folder = { held: heldElsewhere(opened, quick), names: [], rules };
  const work = listFolder(folder, after, task).catch((error: unknown) => {
    throw error instanceof ToolcribError ? error : unreadable(given.path, codeOf(error));
  });
  await task.pace.within(work);
  const text = task.page.text();
  return `${text}${text === '' ? '' : '\n'}[${footer(task)}]`;
}

function footer({ depth, page, pace, seen }: Listing): string {
  const isAll = depth > 1 || page.entries === seen.total;
  const range =
    page.entries === 0
      ? `none left of ${withCommas(seen.total)} entries`
      : `entries ${seen.before + 1}-${seen.before + page.entries} of ${withCommas(seen.total)}`;
  const shown = isAll ? (page.entries === 1 ? '1 entry' : `${withCommas(page.entries)} entries`) : range;
  const notes = [shown];
  if (seen.hidden > 0) notes.push(`${withCommas(seen.hidden)} hidden`);
  notes.push(...seen.notes);
  if (pace.over) notes.push('stopped at the time limit');
  const last = page.last();
  if (page.full && last) notes.push(`next: cursor ${cursorAt(last.join('/'))}`);
  return notes.join('; ');
}
