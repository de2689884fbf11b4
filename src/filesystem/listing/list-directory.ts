import { join, sep } from 'node:path';
import * as z from 'zod';
import { flag, path } from '../../core/params.ts';
import { defineSimpleTool, type CallContext, type Tool } from '../../core/tool.ts';
import type { Opened } from '../../machine/paths/opened.ts';
import { inlineLimit } from '../../machine/presentable.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { ignoredEntries } from './ignored-entries.ts';
import { listFolder, type ListedFolder } from './list-folder.ts';
import { pathFor } from '../searching/search-scope.ts';
import type { Services } from '../services.ts';
import { withCommas } from '../with-commas.ts';

const usualLimit = 500;
const usualCharacters = inlineLimit - 500;
/** For who asks for more entries than usual. */
const mostCharacters = 4 * inlineLimit - 500;

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
export const listDirectory = (services: Services): Tool =>
  defineSimpleTool({
    name: 'list_directory',
    program: 'files',
    title: 'List folder',
    description:
      'List a folder by name: `folder/`, `link -> target`, `other  [kind]`. With depth, folders that ' +
      '.gitignore leaves out are named but not entered.',
    effects: ['read'],
    params,
    async call(given, context) {
      const opened = await rooted(context.workspace).openFolder(given.path);
      try {
        return { content: [{ type: 'text', text: await page(given, opened, context, services) }] };
      } finally {
        await opened.handle.close();
      }
    },
  });

async function page(
  given: Params,
  opened: Opened,
  context: CallContext,
  services: Services,
): Promise<string> {
  const { depth, hidden, ignored, sizes, limit, cursor } = given;
  const { signal } = context;
  const question = JSON.stringify(['list', opened.path, depth, hidden, ignored, sizes]);
  const { list, from } = await services.lists.open({
    question,
    cursor,
    async make() {
      const leftOut = ignored
        ? new Set<string>()
        : await ignoredEntries(services, { folder: opened.path, depth, signal });
      const workspace = rooted(context.workspace);
      return listFolder(opened, { workspace, signal, depth, hidden, ignored, sizes, leftOut });
    },
  });
  const start = pathFor('', opened.path, context.workspace.roots);
  const characters = limit > usualLimit ? mostCharacters : usualCharacters;
  const { text, to } = blocksOf(list, { from, limit, characters, start });
  const next = to < list.lines.length ? services.lists.cursorAfter(list, to, question) : undefined;
  return `${text}${text === '' ? '' : '\n'}[${footer(list, from, to, next)}]`;
}

interface Part {
  readonly from: number;
  readonly limit: number;
  readonly characters: number;
  /** The listed folder, as the next call can take it. */
  readonly start: string;
}

/** Lines of a listing, those of each folder below the listed one under its path; at least one line. */
function blocksOf({ folders, lines }: ListedFolder, { from, limit, characters, start }: Part) {
  const page: string[] = [];
  let length = 0;
  let heading = '';
  let to = from;
  for (; to < Math.min(lines.length, from + limit); to++) {
    const [folder = '', line = ''] = [folders[to], lines[to]];
    const block =
      folder === heading ? [line] : [...(page.length > 0 ? [''] : []), headingOf(start, folder), line];
    length += block.reduce((sum, { length }) => sum + length + 1, 0);
    if (length > characters && page.length > 0) break;
    page.push(...block);
    heading = folder;
  }
  return { text: page.join('\n'), to };
}

const headingOf = (start: string, folder: string): string =>
  `${shownPath(join(start, folder.slice(0, -1).replaceAll('/', sep)))}:`;

function footer(
  { paths, hidden, notes }: ListedFolder,
  from: number,
  to: number,
  next: string | undefined,
): string {
  const isEntry = (path: string) => !path.endsWith('/');
  const total = paths.filter(isEntry).length;
  const before = paths.slice(0, from).filter(isEntry).length;
  const shown = paths.slice(from, to).filter(isEntry).length;
  const count = total === 1 ? '1 entry' : `${withCommas(total)} entries`;
  const range =
    shown === total
      ? count
      : shown === 0
        ? `none left of ${count}`
        : `entries ${before + 1}-${before + shown} of ${withCommas(total)}`;
  return [
    range,
    ...(hidden > 0 ? [`${withCommas(hidden)} hidden`] : []),
    ...notes,
    ...(next === undefined ? [] : [`next: cursor ${next}`]),
  ].join('; ');
}
