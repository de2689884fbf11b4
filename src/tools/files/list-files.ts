import { sep } from 'node:path';
import * as z from 'zod';
import { also, unlisted } from '../../core/accepted.ts';
import { flag, path } from '../../core/params.ts';
import type { CallContext } from '../../core/tool.ts';
import { defineTool } from '../define-tool.ts';
import type { OpenedFile } from '../../machine/paths/opened.ts';
import { displayPath } from '../../machine/paths/display-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { inlineLimit } from '../../machine/sanitize.ts';
import { bracketed, rootRelative, withCommas } from './wording.ts';
import type { Listing } from '../../machine/known-files.ts';
import type { Session } from '../../machine/session.ts';
import { entryOf, findFiles, listFolder, statOf, targetOf, type ListedEntry } from './listing/entries.ts';
import { openPatternFolder, parseGlob, type GlobPattern } from './listing/glob-pattern.ts';

const usualLimit = 500;
const mostEntries = 2000;
const mostKept = 4;
const deepest = 100;
const usualCharacters = inlineLimit - 500;
/** For who asks for more entries than usual. */
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
  /** How many entries the pages before have had. */
  cursor: unlisted(
    z
      .string()
      .regex(/^\d{1,9}$/, 'expected the cursor at the end of the page before')
      .optional(),
  ),
});

/** What a call lists, and from where. */
interface ListTask {
  readonly given: z.output<typeof params> & { readonly depth: number };
  readonly pattern: GlobPattern | undefined;
  readonly folder: OpenedFile;
}

/** What a folder holds, or the files that a glob chooses. Links are named and never followed. */
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
  async run({ work: request }, context) {
    const depth = request.depth ?? (request.recursive ? deepest : 1);
    const given = { ...request, depth, limit: Math.min(request.limit, mostEntries) };
    const workspace = rooted(context.workspace);
    const pattern = given.glob === undefined ? undefined : parseGlob(given.glob);
    const folder = pattern
      ? await openPatternFolder(workspace, given.path, pattern)
      : await workspace.open('folder', given.path);
    try {
      const text = await pageOf({ given, pattern, folder }, context, context.session);
      return { content: [{ type: 'text', text }] };
    } finally {
      await folder.handle.close();
    }
  },
});

async function pageOf(task: ListTask, { signal, workspace }: CallContext, session: Session) {
  const { given, pattern, folder } = task;
  const { cursor, limit, sizes, sort = 'path', ...asked } = given;
  const isOneFolder = !pattern && given.depth === 1;
  const start = isOneFolder ? '' : `${rootRelative(folder.path, workspace.roots)}/`.replace(/^\.\//, '');
  const question = JSON.stringify(['list', folder.path, sort, asked]);
  const { depth, hidden, ignored } = asked;
  const request = { where: folder, pattern, depth, hidden, ignored, sort, signal };
  const kept = cursor === undefined ? undefined : session.listings.get(question);
  const list = kept ?? (await (isOneFolder ? listFolder(folder, sort) : findFiles(session, request)));
  keep(session.listings, question, list);
  const from = Math.min(Number(cursor ?? 0), list.items.length);
  const lines: string[] = [];
  let room = limit > usualLimit ? mostCharacters : usualCharacters;
  for (const item of list.items.slice(from, from + limit)) {
    const entry = entryOf(item);
    const line =
      lineOf(entry, start, folder, sizes) +
      (list.isIgnored?.(entry.path, entry.kind === 'folder') ? '  [ignored]' : '');
    room -= line.length + 1;
    if (room < 0 && lines.length > 0) break;
    lines.push(line);
  }
  if (pattern && list.items.length === 0) return ['No files match.', ...bracketed(list.notes)].join('\n');
  return [...lines, ...bracketed(footer(list, from, from + lines.length))].join('\n');
}

/** Keeps a list for its next pages: some megabytes each at worst. */
function keep(lists: Session['listings'], question: string, list: Listing): void {
  lists.delete(question);
  lists.set(question, list);
  const [oldest] = lists.keys();
  if (lists.size > mostKept && oldest !== undefined) lists.delete(oldest);
}

/** One entry as a line. */
function lineOf({ path: at, kind }: ListedEntry, start: string, folder: OpenedFile, sizes: boolean): string {
  const shown = shownName((start + at).replaceAll('/', sep));
  if (kind === 'folder') return `${shown}/`;
  if (kind === 'file') {
    const size = sizes ? statOf(folder, at)?.size : undefined;
    return size === undefined ? shown : `${shown}  ${withCommas(size)}`;
  }
  const target = kind === 'link' ? targetOf(folder, at) : undefined;
  return target === undefined ? `${shown}  [${kind}]` : `${shown} -> ${shownName(target)}`;
}

/**
 * Quoted when it could be read as a name with something behind it, as the end of the listing, or as two
 * lines.
 */
function shownName(name: string): string {
  if (/^[\w.][\w./+@~-]*$/.test(name)) return name;
  const shown = displayPath(name);
  return shown === name && /^[\s[]|\s$|\s\s| -> |[/:]$/.test(name) ? JSON.stringify(name) : shown;
}

function footer({ items, notes }: Listing, from: number, to: number): string[] {
  const total = items.length;
  const count = total === 1 ? '1 entry' : `${withCommas(total)} entries`;
  const some = to === from ? `none left of ${count}` : `entries ${from + 1}-${to} of ${withCommas(total)}`;
  return [to - from === total ? count : some, ...notes, ...(to < total ? [`next: cursor ${to}`] : [])];
}
