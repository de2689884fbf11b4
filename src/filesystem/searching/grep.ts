import { ToolcribError } from '../../core/errors.ts';
import { defineSimpleTool, type CallContext, type Tool } from '../../core/tool.ts';
import type { Opened } from '../../machine/paths/opened.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { parseGlob, type GlobPattern } from '../listing/glob-pattern.ts';
import { grepParams, type GrepParams } from './grep-params.ts';
import { searchHits, searchLines } from './grep-search.ts';
import type { Services } from '../services.ts';

/** Contents of files by a regular expression. */
export const grep = (services: Services): Tool =>
  defineSimpleTool({
    name: 'grep',
    program: 'files',
    title: 'Search in files',
    description:
      'Search the contents of files by regular expression, with ripgrep. Respects .gitignore; skips binary files.',
    effects: ['read'],
    params: grepParams,
    async call(given, context) {
      const pattern = given.glob === undefined ? undefined : parseGlob(given.glob.replace(/^!/, ''));
      const where = await placeOf(given, pattern, context);
      if (!where)
        return { content: [{ type: 'text', text: `No matches: there is no folder ${pattern?.folder}.` }] };
      try {
        const search = given.mode === 'lines' ? searchLines : searchHits;
        return {
          content: [{ type: 'text', text: await search({ given, pattern, where, context, services }) }],
        };
      } finally {
        await where.handle.close();
      }
    },
  });

/** The file or folder to search; undefined when the folder with which the glob begins does not exist. */
async function placeOf(
  given: GrepParams,
  pattern: GlobPattern | undefined,
  context: CallContext,
): Promise<Opened | undefined> {
  const workspace = rooted(context.workspace);
  const base = await workspace.openEither(given.path);
  if (!pattern?.folder || given.glob?.startsWith('!') || base.stat.isFile()) return base;
  await base.handle.close();
  try {
    return await workspace.openFolder(pattern.folder, { from: base.path });
  } catch (error) {
    if (error instanceof ToolcribError && error.code === 'PATH_NOT_FOUND') return undefined;
    throw error;
  }
}
