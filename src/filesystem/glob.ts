import * as z from 'zod';
import { ToolcribError } from '../core/errors.ts';
import { flag, limit, path } from '../core/params.ts';
import { defineTool, type CallContext, type Tool } from '../core/tool.ts';
import { inlineLimit } from '../machine/presentable.ts';
import type { Opened } from '../machine/opened.ts';
import { shownPath } from '../machine/shown-path.ts';
import { rooted, type RootedWorkspace } from '../machine/workspace.ts';
import { parseGlob, type GlobPattern } from './glob-pattern.ts';
import { notesOn, search } from './ripgrep.ts';
import { pathFor, printedPath, scopeOf } from './search-scope.ts';
import type { Services } from './services.ts';

/** Some 150,000 paths; more than anyone reads. */
const listBytes = 8 * 1024 * 1024;
const mostCharacters = inlineLimit - 1_500;

const params = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .describe('Such as *.ts (by name, in any folder), src/**/*.{ts,tsx} or ./* (top folder only)'),
  path: path('Folder to search', 'folder').default('.'),
  hidden: flag('Also names that begin with a dot'),
  ignored: flag('Also what .gitignore leaves out'),
  sort: z.enum(['path', 'modified']).default('path').describe('modified: newest first'),
  limit: limit(2000, 200),
});
type Params = z.output<typeof params>;

/** Names of files by a pattern. */
export const glob = (services: Services): Tool =>
  defineTool({
    name: 'glob',
    program: 'files',
    title: 'Find files',
    description: 'Find files by a glob on their path. Respects .gitignore.',
    effects: ['read'],
    params,
    async call(given, context) {
      const pattern = parseGlob(given.pattern);
      const workspace = rooted(context.workspace);
      const base = await workspace.resolve(given.path, { kind: 'folder', mustExist: true });
      const folder = await folderOf(pattern, base, workspace);
      if (!folder)
        return { content: [{ type: 'text', text: `No files: there is no folder ${pattern.folder}.` }] };
      try {
        return {
          content: [{ type: 'text', text: await listing(given, pattern, folder, context, services) }],
        };
      } finally {
        await folder.handle.close();
      }
    },
  });

/** The folder all matches are in; undefined when there is none. */
async function folderOf(
  pattern: GlobPattern,
  base: string,
  workspace: RootedWorkspace,
): Promise<Opened | undefined> {
  try {
    return await workspace.openFolder(pattern.folder || '.', { from: base });
  } catch (error) {
    if (error instanceof ToolcribError && error.code === 'PATH_NOT_FOUND' && pattern.folder !== '')
      return undefined;
    throw error;
  }
}

async function listing(
  given: Params,
  pattern: GlobPattern,
  folder: Opened,
  context: CallContext,
  services: Services,
) {
  const found = await search(services, {
    argv: [
      '--files',
      '--null',
      ...scopeOf({ ...given, pattern }),
      ...(given.sort === 'modified' ? ['--sortr=modified'] : []),
      '--',
      './',
    ],
    folder: folder.stablePath,
    signal: context.signal,
    keepBytes: listBytes,
  });
  const names = found.stdout.split('\0');
  // What follows the last NUL is nothing, or a path that was cut off.
  names.pop();
  const chosen = names.map(printedPath).filter((name) => pattern.namesDecide || pattern.matches(name));
  if (given.sort === 'path') chosen.sort();
  const lines = chosen
    .slice(0, given.limit)
    .map((name) => shownPath(pathFor(name, folder.path, context.workspace.roots)));
  const shown = fitting(lines);
  const notes = notesOn(found);
  if (found.incomplete === 'too_much')
    notes.unshift('more files than can be listed: search a smaller folder');
  if (shown.length < chosen.length)
    notes.unshift(`${shown.length} of ${chosen.length} files: narrow the pattern or raise limit`);
  const text = shown.length > 0 ? shown.join('\n') : 'No files match.';
  return notes.length > 0 ? `${text}\n[${notes.join('; ')}]` : text;
}

function fitting(lines: readonly string[]): readonly string[] {
  let length = 0;
  const over = lines.findIndex((line) => (length += line.length + 1) > mostCharacters);
  return over === -1 ? lines : lines.slice(0, over);
}
