import { sep } from 'node:path';
import * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import { flag, limit, path } from '../../core/params.ts';
import { defineSimpleTool, type CallContext, type Tool } from '../../core/tool.ts';
import type { Opened } from '../../machine/paths/opened.ts';
import { inlineLimit } from '../../machine/presentable.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { rooted, type RootedWorkspace } from '../../machine/paths/workspace.ts';
import { parseGlob, type GlobPattern } from './glob-pattern.ts';
import { globPage } from './glob-page.ts';
import { scopeAbove, type Complain } from './ignore-scope.ts';
import { createPace } from './pace.ts';
import { answersAtOnce } from './quick-disk.ts';
import { pathFor } from '../searching/search-scope.ts';
import type { Services } from '../services.ts';
import { noteOnEnd, walk } from './walk.ts';
import { withCommas } from '../with-commas.ts';

const mostCharacters = inlineLimit - 1_500;
const mostMs = 30_000;
const mostComplaints = 3;

const params = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .describe('Such as *.ts (by name, in any folder), src/**/*.{ts,tsx} or ./* (top folder only)'),
  path: path('Folder to search', 'folder').default('.'),
  hidden: flag('Also dot names'),
  ignored: flag('Also what .gitignore leaves out'),
  sort: z.enum(['path', 'modified']).default('path'),
  limit: limit(2000, 200),
  cursor: z.string().max(10_000).optional(),
});
type Params = z.output<typeof params>;

/** Names of files by a pattern. */
export const glob = (services: Services): Tool =>
  defineSimpleTool({
    name: 'glob',
    program: 'files',
    title: 'Find files',
    description: 'Find files by a glob on their path. Respects .gitignore.',
    effects: ['read'],
    params,
    async call(given, context) {
      const pattern = parseGlob(given.pattern);
      const folder = await folderOf(pattern, given.path, rooted(context.workspace));
      if (!folder)
        return { content: [{ type: 'text', text: `No files: there is no folder ${pattern.folder}.` }] };
      try {
        const text = await listing({ given, pattern, folder }, context, services);
        return { content: [{ type: 'text', text }] };
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
  if (pattern.folder === '') return workspace.openFolder(base);
  const from = await workspace.resolve(base, { kind: 'folder', mustExist: true });
  try {
    return await workspace.openFolder(pattern.folder, { from });
  } catch (error) {
    if (error instanceof ToolcribError && error.code === 'PATH_NOT_FOUND') return undefined;
    throw error;
  }
}

interface Task {
  readonly given: Params;
  readonly pattern: GlobPattern;
  readonly folder: Opened;
}

async function listing({ given, pattern, folder }: Task, context: CallContext, services: Services) {
  const pace = createPace({ signal: context.signal, mostMs });
  const page = globPage(given, pace);
  const complaints: string[] = [];
  let complained = 0;
  const complain: Complain = (where, why) => {
    if (complained++ < mostComplaints) complaints.push(`${shownPath(where)} (${why})`);
  };
  const [rules, quick] = await Promise.all([
    given.ignored ? undefined : scopeAbove(folder.path, services.env(), { complain, pace }),
    answersAtOnce(folder.path),
  ]);
  const ended = await walk({
    folder,
    pattern: pattern.paths,
    hidden: given.hidden || pattern.hidden,
    rules,
    quick,
    pace,
    complain,
    found: page.take,
  });

  const start = pathFor('', folder.path, context.workspace.roots);
  const lines = fitting(page.paths().map((name) => shownPath(below(start, name))));
  const shown = page.before + lines.length;
  const notes: string[] = [];
  if (page.total > lines.length) notes.push(`files ${page.before + 1}-${shown} of ${withCommas(page.total)}`);
  if (page.total > shown) notes.push(`next: cursor ${page.nextAfter(lines.length)}`);
  if (ended) notes.push(noteOnEnd(ended));
  if (complained > 0) {
    const more = complained > complaints.length ? ` and ${complained - complaints.length} more` : '';
    notes.push(`not searched: ${complaints.join(', ')}${more}`);
  }
  const text = lines.length > 0 ? lines.join('\n') : 'No files match.';
  return notes.length > 0 ? `${text}\n[${notes.join('; ')}]` : text;
}

/** A path below another, as this system writes them. */
const below = (start: string, name: string): string =>
  (start === '' ? name : `${start}/${name}`).replaceAll('/', sep);

/** As many as there is room for, but at least one. */
function fitting(lines: readonly string[]): readonly string[] {
  let length = 0;
  const over = lines.findIndex((line) => (length += line.length + 1) > mostCharacters);
  return over === -1 ? lines : lines.slice(0, Math.max(1, over));
}
