import { sep } from 'node:path';
import * as z from 'zod';
import { flag, limit, path } from '../../core/params.ts';
import { defineSimpleTool, type CallContext, type Tool } from '../../core/tool.ts';
import type { Opened } from '../../machine/paths/opened.ts';
import { inlineLimit } from '../../machine/presentable.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { findFiles } from './find-files.ts';
import { parseGlob, type GlobPattern } from './glob-pattern.ts';
import { openPatternFolder } from './pattern-folder.ts';
import { nameInRoots } from '../name-in-roots.ts';
import type { Services } from '../services.ts';
import { withCommas } from '../with-commas.ts';

const mostCharacters = inlineLimit - 1_500;

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
      const folder = await openPatternFolder(rooted(context.workspace), given.path, pattern);
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

interface Task {
  readonly given: Params;
  readonly pattern: GlobPattern;
  readonly folder: Opened;
}

async function listing(
  { given, pattern, folder }: Task,
  { signal, workspace }: CallContext,
  services: Services,
) {
  const { hidden, ignored, sort, cursor, limit } = given;
  const question = JSON.stringify(['glob', folder.path, given.pattern, hidden, ignored, sort]);
  const start = nameInRoots(folder.path, workspace.roots);
  const { list, from, to, lines, next } = await services.lists.page({
    question,
    cursor,
    make: () => findFiles(services, { folder, pattern, hidden, ignored, sort, signal }),
    limit,
    room: mostCharacters,
    linesAt: ({ paths }, index) => [shownPath(below(start, paths[index] ?? ''))],
  });
  const total = list.paths.length;
  const notes = [
    ...(total > lines.length ? [`files ${from + 1}-${to} of ${withCommas(total)}`] : []),
    ...(next === undefined ? [] : [`next: cursor ${next}`]),
    ...list.notes,
  ];
  const text = lines.length > 0 ? lines.join('\n') : 'No files match.';
  return notes.length > 0 ? `${text}\n[${notes.join('; ')}]` : text;
}

/** A path below another, as this system writes them. */
const below = (start: string, name: string): string =>
  (start === '.' ? name : `${start}/${name}`).replaceAll('/', sep);
