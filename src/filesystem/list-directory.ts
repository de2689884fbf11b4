import { lstatSync, readlinkSync, type Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import * as z from 'zod';
import { ToolcribError } from '../core/errors.ts';
import { flag, path } from '../core/params.ts';
import { defineTool, type Tool } from '../core/tool.ts';
import { inlineLimit } from '../machine/presentable.ts';
import { codeOf } from '../machine/real-path.ts';
import { rooted, type RootedWorkspace } from '../machine/workspace.ts';

/** Characters of JSON in a page: more would be cut off from the answer, and the cursor would skip it. */
const pageCharacters = inlineLimit - 1_000;
/** Entries looked at between two chances for other calls. */
const batch = 200;

const entry = z.object({
  name: z.string().describe('Relative to the folder'),
  type: z.enum(['file', 'folder', 'link', 'fifo', 'socket', 'device', 'unknown']),
  size: z.int().optional().describe('Bytes of a file'),
  target: z.string().optional().describe('Where a link points'),
});
type Entry = z.output<typeof entry>;

const params = z.strictObject({
  path: path('Folder to list', 'folder').default('.'),
  depth: z.int().min(1).max(10).default(1).describe('Levels of folders'),
  hidden: flag('Also names that begin with a dot'),
  limit: z.int().min(1).max(2000).default(500).describe('Entries in a page'),
  cursor: z.string().max(10_000).optional().describe('`next` of the page before'),
});

const result = z.object({
  path: z.string(),
  entries: z.array(entry),
  total: z.int().optional().describe('Entries in all pages, where known'),
  hidden: z.int().optional().describe('Names with a dot that were left out'),
  unreadable: z.array(z.string()).optional().describe('Folders that could not be listed'),
  next: z.string().optional().describe('Cursor of the next page'),
});

/** What a folder holds, by name, with types and sizes. Links are named and never followed. */
export const listDirectory = (): Tool =>
  defineTool({
    name: 'list_directory',
    program: 'files',
    title: 'List folder',
    description:
      'List a folder: names, types, sizes in bytes, link targets. Sorted by name; long lists come in pages.',
    effects: ['read'],
    params,
    result,
    async call({ path: folder, depth, hidden, limit, cursor }, { workspace, signal }) {
      const walk: Walk = {
        workspace: rooted(workspace),
        depth,
        hidden,
        after: cursor === undefined ? [] : namesIn(cursor),
        seen: { hidden: 0, unreadable: [] },
      };
      const entries: Entry[] = [];
      let characters = 0;
      let shownPath = '';
      let total: number | undefined;
      let more = false;
      for await (const found of entriesOf(folder, [], walk)) {
        if ('path' in found) {
          shownPath ||= found.path;
          total ??= depth === 1 ? found.count : undefined;
          continue;
        }
        characters += JSON.stringify(found).length + 1;
        more = entries.length > 0 && (entries.length >= limit || characters > pageCharacters);
        if (more) break;
        entries.push(found);
        if (entries.length % batch === 0) await setImmediate();
        if (signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
      }
      const last = entries.at(-1);
      return {
        data: {
          path: shownPath,
          entries,
          ...(total === undefined ? {} : { total }),
          ...(walk.seen.hidden > 0 ? { hidden: walk.seen.hidden } : {}),
          ...(walk.seen.unreadable.length > 0 ? { unreadable: walk.seen.unreadable.slice(0, 10) } : {}),
          ...(more && last ? { next: cursorAt(last.name) } : {}),
        },
      };
    },
  });

interface Walk {
  readonly workspace: RootedWorkspace;
  readonly depth: number;
  readonly hidden: boolean;
  /** Names on the way to the last entry of the page before: what comes up to there is passed over. */
  readonly after: readonly string[];
  readonly seen: { hidden: number; readonly unreadable: string[] };
}

/** First the folder itself, then its entries in order, each folder followed by what it holds. */
async function* entriesOf(
  folder: string,
  above: readonly string[],
  walk: Walk,
): AsyncGenerator<Entry | { path: string; count: number }> {
  const opened = await walk.workspace.openFolder(folder);
  try {
    const all = await readdir(opened.stablePath, { withFileTypes: true });
    const shown = walk.hidden ? all : all.filter(({ name }) => !name.startsWith('.'));
    walk.seen.hidden += all.length - shown.length;
    shown.sort((a, b) => (a.name < b.name ? -1 : 1));
    yield { path: opened.path, count: shown.length };
    for (const found of shown) {
      const names = [...above, found.name];
      const passed = compareNames(names, walk.after);
      if (passed > 0) yield entryOf(found, names, opened.stablePath);
      // What was passed over can still hold what comes next.
      const below =
        found.isDirectory() && names.length < walk.depth && (passed > 0 || startsWith(walk.after, names));
      if (below) yield* entriesBelow(`${opened.path}/${found.name}`, names, walk);
    }
  } finally {
    await opened.handle.close();
  }
}

async function* entriesBelow(folder: string, names: readonly string[], walk: Walk): AsyncGenerator<Entry> {
  try {
    for await (const found of entriesOf(folder, names, walk)) if (!('path' in found)) yield found;
  } catch (error) {
    // One that vanished, was replaced by a link or may not be read must not hide the others.
    if (!(error instanceof ToolcribError)) codeOf(error);
    walk.seen.unreadable.push(names.join('/'));
  }
}

/**
 * Asks the system without a thread in between, which is ten times faster for many. It could only be kept waiting by a
 * mounted file system, and what those are mounted on is a folder, which is not asked.
 */
function entryOf(found: Dirent, names: readonly string[], folder: string): Entry {
  const name = names.join('/');
  const type = typeOf(found);
  try {
    if (type === 'file') return { name, type, size: lstatSync(`${folder}/${found.name}`).size };
    if (type === 'link') return { name, type, target: readlinkSync(`${folder}/${found.name}`) };
  } catch {
    // It went away after its name was read; the name is still what the folder said.
  }
  return { name, type };
}

function typeOf(found: Dirent): Entry['type'] {
  if (found.isFile()) return 'file';
  if (found.isDirectory()) return 'folder';
  if (found.isSymbolicLink()) return 'link';
  if (found.isFIFO()) return 'fifo';
  if (found.isSocket()) return 'socket';
  return found.isCharacterDevice() || found.isBlockDevice() ? 'device' : 'unknown';
}

const startsWith = (names: readonly string[], start: readonly string[]): boolean =>
  start.every((name, index) => names[index] === name);

/** Order of the listing: a folder before what it holds, names by their characters' codes. */
function compareNames(a: readonly string[], b: readonly string[]): number {
  const index = a.findIndex((name, at) => name !== b[at]);
  if (index === -1) return a.length - b.length;
  const other = b[index];
  return other === undefined || (a[index] ?? '') > other ? 1 : -1;
}

/** A cursor is the last name of a page: entries that come or go between pages move nothing. */
const cursorAt = (name: string): string => Buffer.from(name).toString('base64url');

function namesIn(cursor: string): string[] {
  const name = Buffer.from(cursor, 'base64url').toString();
  if (name === '' || cursorAt(name) !== cursor)
    throw new ToolcribError(
      'ARG_INVALID',
      'cursor: is none that this tool gave.',
      'Give `next` of the page before, or leave it out.',
    );
  return name.split('/');
}
