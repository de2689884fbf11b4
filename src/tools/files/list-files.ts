import { sep } from 'node:path';
import * as z from 'zod';
import { also, unlisted } from '../../core/accepted.ts';
import { flag, path } from '../../core/params.ts';
import { defineTool, type ToolCallContext } from '../define-tool.ts';
import type { OpenedFile } from '../../machine/paths/opened.ts';
import { displayPath } from '../../machine/paths/display-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { inlineLimit } from '../../machine/sanitize.ts';
import { inBrackets, rootRelative, formatNumber } from './wording.ts';
import type { Listing } from '../../machine/known-files.ts';
import type { Session } from '../../machine/session.ts';
import { entryOf, findFiles, listFolder, statOf, targetOf, type ListedEntry } from './listing/entries.ts';
import { openPatternFolder, parseGlob, type GlobPattern } from './listing/glob-pattern.ts';

const usualLimit = 500;
const mostEntries = 2000;
/** Listings that are kept for their next pages. */
const mostKept = 4;
const deepest = 100;
const usualCharacters = inlineLimit - 500;
/** Characters of a page when more entries than usual are asked for. */
const mostCharacters = 4 * inlineLimit - 500;

const params = z.strictObject({
  path: also(
    path('Folder: src', 'folder').default('.'),
    'dir dir_path directory folder target_directory root',
  ),
  glob: also(
    z.string().min(1).optional().describe('Files that match instead: *.ts, src/**/*.{ts,tsx}'),
    'pattern glob_pattern name query include file_pattern',
  ),
  depth: also(z.int().min(1).optional().describe('Levels of folders; 1 unless told'), 'max_depth levels'),
  sizes: also(flag('Bytes of each file'), 'size long -l'),
  sort: also(z.enum(['path', 'modified']).optional().describe('modified: newest first'), 'sort_by order', {
    values: { name: 'path', mtime: 'modified', time: 'modified', changed: 'modified', newest: 'modified' },
  }),
  limit: unlisted(z.int().min(1).default(usualLimit), 'head_limit max_results'),
  ignored: unlisted(flag('Also what .gitignore leaves out'), 'no_ignore include_ignored'),
  hidden: unlisted(flag('Also dot names'), 'all -a show_hidden include_hidden'),
  recursive: unlisted(flag('All levels'), '-r -R'),
  // The number of entries on the pages before.
  cursor: unlisted(
    z
      .string()
      .regex(/^\d{1,9}$/, 'expected the cursor at the end of the page before')
      .optional(),
  ),
});

/** A listing: its parameters, the opened folder, and the glob of files to find. */
interface ListTask {
  readonly request: z.output<typeof params> & { readonly depth: number };
  readonly pattern: GlobPattern | undefined;
  readonly folder: OpenedFile;
}

/** Lists the entries of a folder, or the files that a glob matches. Links are listed but never followed. */
export default defineTool({
  name: 'list_files',
  title: 'List and find files',
  description:
    'Shows what a folder holds, or finds files by name or glob, newest first if asked. ' +
    'One folder marks what git ignores; deeper leaves it out.',
  toolset: 'files',
  hint: 'list files, find by name or glob',
  aliases: 'Glob glob LS ls list_directory list_dir find_files',
  listed: 'first',
  effects: ['read'],
  params,
  async run({ work }, context) {
    const depth = work.depth ?? (work.recursive ? deepest : 1);
    const request = { ...work, depth, limit: Math.min(work.limit, mostEntries) };
    const workspace = rooted(context.workspace);
    const pattern = request.glob === undefined ? undefined : parseGlob(request.glob);
    const folder = pattern
      ? await openPatternFolder(workspace, request.path, pattern)
      : await workspace.open('folder', request.path);
    try {
      const text = await formatPage({ request, pattern, folder }, context);
      return { content: [{ type: 'text', text }] };
    } finally {
      await folder.handle.close();
    }
  },
});

async function formatPage(
  { request, pattern, folder }: ListTask,
  { signal, workspace, session }: ToolCallContext,
): Promise<string> {
  const { cursor, limit, sizes, sort = 'path', ...options } = request;
  const isOneFolder = !pattern && request.depth === 1;
  const start = isOneFolder ? '' : `${rootRelative(folder.path, workspace.roots)}/`.replace(/^\.\//, '');
  const key = JSON.stringify(['list', folder.path, sort, options]);
  const { depth, hidden, ignored } = options;
  const search = { folder, pattern, depth, hidden, ignored, sort, signal };
  const read = () => (isOneFolder ? listFolder(folder, sort) : findFiles(session, search));
  const listing = (cursor === undefined ? undefined : session.listings.get(key)) ?? (await read());
  keepListing(session.listings, key, listing);
  const from = Math.min(Number(cursor ?? 0), listing.items.length);
  const lines: string[] = [];
  let room = limit > usualLimit ? mostCharacters : usualCharacters;
  for (const item of listing.items.slice(from, from + limit)) {
    const entry = entryOf(item);
    const line =
      lineOf(entry, start, folder, sizes) +
      (listing.isIgnored?.(entry.path, entry.kind === 'folder') ? '  [ignored]' : '');
    room -= line.length + 1;
    if (room < 0 && lines.length > 0) break;
    lines.push(line);
  }
  if (pattern && listing.items.length === 0)
    return ['No files match.', ...inBrackets(listing.notes)].join('\n');
  return [...lines, ...inBrackets(footer(listing, from, from + lines.length))].join('\n');
}

/** Keeps a listing for its next pages; the oldest one goes, as each may take some megabytes. */
function keepListing(lists: Session['listings'], question: string, list: Listing): void {
  lists.delete(question);
  lists.set(question, list);
  const [oldest] = lists.keys();
  if (lists.size > mostKept && oldest !== undefined) lists.delete(oldest);
}

/** Formats an entry as a line. */
function lineOf({ path: at, kind }: ListedEntry, start: string, folder: OpenedFile, sizes: boolean): string {
  const shown = quoteName((start + at).replaceAll('/', sep));
  if (kind === 'folder') return `${shown}/`;
  if (kind === 'file') {
    const size = sizes ? statOf(folder, at)?.size : undefined;
    return size === undefined ? shown : `${shown}  ${formatNumber(size)}`;
  }
  const target = kind === 'link' ? targetOf(folder, at) : undefined;
  return target === undefined ? `${shown}  [${kind}]` : `${shown} -> ${quoteName(target)}`;
}

/** Quotes a name that could be read as a name with a note behind it, as the footer, or as two lines. */
function quoteName(name: string): string {
  if (/^[\w.][\w./+@~-]*$/.test(name)) return name;
  const shown = displayPath(name);
  return shown === name && /^[\s[]|\s$|\s\s| -> |[/:]$/.test(name) ? JSON.stringify(name) : shown;
}

/** The notes below a page: its entries, and the cursor of the next page. */
function footer({ items, notes }: Listing, from: number, to: number): string[] {
  const total = items.length;
  const count = total === 1 ? '1 entry' : `${formatNumber(total)} entries`;
  const some = to === from ? `none left of ${count}` : `entries ${from + 1}-${to} of ${formatNumber(total)}`;
  return [to - from === total ? count : some, ...notes, ...(to < total ? [`next: cursor ${to}`] : [])];
}
