import { lstatSync, readlinkSync } from 'node:fs';
import { join, sep } from 'node:path';
import * as z from 'zod';
import { flag, path } from '../../core/params.ts';
import { defineSimpleTool, type CallContext, type Tool } from '../../core/tool.ts';
import { decode } from '../../machine/decode.ts';
import type { Opened } from '../../machine/paths/opened.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { inlineLimit } from '../../machine/presentable.ts';
import { nameInRoots } from '../name-in-roots.ts';
import type { Services } from '../services.ts';
import { withCommas } from '../with-commas.ts';
import { listFolder, type ListedEntry, type ListedFolder } from './list-folder.ts';

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
      'List a folder by name: `folder/`, `link -> target`, `other  [kind]`. With depth, also the files in its ' +
      'folders that .gitignore does not leave out.',
    effects: ['read'],
    params,
    async call(given, context) {
      const opened = await rooted(context.workspace).openFolder(given.path);
      try {
        return { content: [{ type: 'text', text: await pageOf(given, opened, context, services) }] };
      } finally {
        await opened.handle.close();
      }
    },
  });

async function pageOf(given: Params, opened: Opened, context: CallContext, services: Services) {
  const { depth, hidden, ignored, sizes, limit, cursor } = given;
  const { signal, workspace } = context;
  const question = JSON.stringify(['list', opened.path, depth, hidden, ignored, sizes]);
  const start = nameInRoots(opened.path, workspace.roots);
  const { list, from, to, lines, next } = await services.lists.page({
    question,
    cursor,
    make: () => listFolder(opened, { signal, depth, hidden, ignored }, services),
    limit,
    room: limit > usualLimit ? mostCharacters : usualCharacters,
    linesAt({ entries }, index, isFirst) {
      const [entry, last] = [entries[index], isFirst ? undefined : entries[index - 1]];
      if (!entry) return [];
      const line = lineOf(entry, opened, sizes);
      if (entry.folder === (last?.folder ?? '')) return [line];
      return [...(isFirst ? [] : ['']), headingOf(start, entry.folder), line];
    },
  });
  return [...lines, `[${footer(list, from, to, next)}]`].join('\n');
}

const headingOf = (start: string, folder: string): string =>
  `${shownPath(join(start, folder.slice(0, -1).replaceAll('/', sep)))}:`;

/** One entry as a line. */
function lineOf(
  { folder, name, bytes, kind, tag }: ListedEntry,
  { stablePath }: Opened,
  sizes: boolean,
): string {
  const marked = tag === undefined ? '' : `  [${tag}]`;
  const shown = shownName(name);
  const place = bytes
    ? Buffer.concat([Buffer.from(`${stablePath}/`), bytes])
    : `${stablePath}/${folder}${name}`;
  if (kind === 'folder') return `${shown}/${marked}`;
  if (kind === 'file') {
    const size = sizes ? asked(() => lstatSync(place, { throwIfNoEntry: false })?.size) : undefined;
    return size === undefined ? shown + marked : `${shown}  ${withCommas(size)}${marked}`;
  }
  const target = kind === 'link' ? asked(() => decode(readlinkSync(place, 'buffer'))) : undefined;
  return target === undefined ? `${shown}  [${kind}]` : `${shown} -> ${shownName(target)}`;
}

/**
 * Asked without a thread in between, which is ten times faster for many. It could only be kept waiting by a mounted
 * file system that has just listed the file. Undefined when it is gone, or may not be looked at.
 */
function asked<Value>(ask: () => Value): Value | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}

/** Quoted when it could be read as a name with something behind it, as the end of the listing, or as two lines. */
function shownName(name: string): string {
  if (/^[\w.][\w.+@~-]*$/.test(name)) return name;
  const shown = shownPath(name);
  return shown === name && /^[\s[]|\s$|\s\s| -> |[/:]$/.test(name) ? JSON.stringify(name) : shown;
}

function footer({ paths, hidden, notes }: ListedFolder, from: number, to: number, next?: string): string {
  const total = paths.length;
  const count = total === 1 ? '1 entry' : `${withCommas(total)} entries`;
  const shown = to - from;
  const some = shown === 0 ? `none left of ${count}` : `entries ${from + 1}-${to} of ${withCommas(total)}`;
  return [
    shown === total ? count : some,
    ...(hidden > 0 ? [`${withCommas(hidden)} hidden`] : []),
    ...notes,
    ...(next === undefined ? [] : [`next: cursor ${next}`]),
  ].join('; ');
}
