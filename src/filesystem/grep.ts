import { dirname } from 'node:path';
import * as z from 'zod';
import { flag, limit, path } from '../core/params.ts';
import { ToolcribError } from '../core/errors.ts';
import { defineTool, type CallContext, type Tool } from '../core/tool.ts';
import type { Opened } from '../machine/opened.ts';
import { rooted } from '../machine/workspace.ts';
import { parseGlob, type GlobPattern } from './glob-pattern.ts';
import { inFiles, inLines } from './grep-result.ts';
import { notesOn, search, type Found } from './ripgrep.ts';
import { pathFor, scopeOf } from './search-scope.ts';
import type { Services } from './services.ts';

const lineBytes = 500;
/** Enough for what is shown when ripgrep itself chooses the files. */
const usualBytes = 1024 * 1024;
/** For when we drop some of the files it found. */
const filteredBytes = 8 * 1024 * 1024;

const params = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .max(10_000)
    .describe('Regular expression (Rust syntax: no look-around, no backreferences)'),
  path: path('File or folder to search').default('.'),
  glob: z
    .string()
    .min(1)
    .optional()
    .describe('Only these files: *.ts, src/**/*.{ts,tsx}; !*.min.js leaves files out'),
  type: z
    .string()
    .regex(/^\w[\w+-]*$/)
    .optional()
    .describe('Only files of a type ripgrep knows: ts, py, rust'),
  mode: z
    .enum(['lines', 'files', 'count'])
    .default('lines')
    .describe('Matching lines, names of files, or lines per file'),
  context: z.int().min(0).max(20).default(0).describe('Lines around each match'),
  before: z.int().min(0).max(20).optional(),
  after: z.int().min(0).max(20).optional(),
  ignore_case: flag('Upper and lower case alike'),
  fixed: flag('The pattern is plain text'),
  multiline: flag('Matches may span lines'),
  hidden: flag('Also names that begin with a dot'),
  ignored: flag('Also what .gitignore leaves out'),
  limit: limit(1000, 200),
});
type Params = z.output<typeof params>;

/** A search of one call: what is looked for, and where. */
interface Task {
  readonly given: Params;
  readonly pattern: GlobPattern | undefined;
  readonly where: Opened;
}

/** Contents of files by a regular expression. */
export const grep = (services: Services): Tool =>
  defineTool({
    name: 'grep',
    program: 'files',
    title: 'Search in files',
    description:
      'Search the contents of files by regular expression, with ripgrep. Respects .gitignore; skips binary files.',
    effects: ['read'],
    params,
    async call(given, context) {
      if (given.pattern.includes('\0'))
        throw new ToolcribError('ARG_INVALID', 'pattern: has a NUL character.');
      const pattern = given.glob === undefined ? undefined : parseGlob(given.glob.replace(/^!/, ''));
      const where = await placeOf(given, pattern, context);
      if (!where)
        return { content: [{ type: 'text', text: `No matches: there is no folder ${pattern?.folder}.` }] };
      try {
        return {
          content: [{ type: 'text', text: await textOf({ given, pattern, where }, context, services) }],
        };
      } finally {
        await where.handle.close();
      }
    },
  });

/** The file or folder to search; undefined when the folder with which the glob begins does not exist. */
async function placeOf(
  given: Params,
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

async function textOf(task: Task, context: CallContext, services: Services): Promise<string> {
  const { given, where } = task;
  const chosen = chooser(task);
  const enough = new AbortController();
  // A line that is printed is a match or lies around one, so that many lines are sure to hold enough matches.
  const around = (given.before ?? given.context) + (given.after ?? given.context);
  const linesEnough = (given.limit + 1) * (1 + around);
  let lines = 0;
  const counts = given.mode === 'lines' && !chosen;
  const found = await search(services, {
    argv: [...argumentsFor(task), where.stat.isFile() ? where.stablePath : './'],
    folder: where.stat.isFile() ? dirname(where.path) : where.stablePath,
    signal: context.signal,
    keepBytes: chosen ? filteredBytes : usualBytes,
    ...(counts ? { onLine: () => ++lines > linesEnough && enough.abort(), enough: enough.signal } : {}),
  });
  const cleaned: Found = { ...found, stdout: found.stdout.replaceAll(binaryNotice, '') };
  const nameOf = (printed: string) =>
    pathFor(where.stat.isFile() ? '' : printed, where.path, context.workspace.roots);
  const view = { limit: given.limit, gaps: around > 0, chosen, nameOf };
  const { text, notes } =
    given.mode === 'lines' ? inLines(cleaned, view) : inFiles(cleaned, given.mode, view);
  const all = [...notes, ...notesOn(found)];
  return all.length > 0 ? `${text}\n[${all.join('; ')}]` : text;
}

/** What ripgrep prints, between records, about a file that turned out to be binary after a match. */
const binaryNotice =
  /(?<=^|\n)[^\n\0]*: (?:WARNING: stopped searching binary file after match|binary file matches) \(found [^\n\0]*\)(?:\n|$)/g;

/** Which of the files that were found are wanted; undefined when ripgrep has chosen them all by itself. */
function chooser({ given, pattern, where }: Task): ((name: string) => boolean) | undefined {
  if (!pattern || where.stat.isFile() || given.glob?.startsWith('!')) return undefined;
  return pattern.namesDecide && given.type === undefined ? undefined : pattern.matches;
}

function argumentsFor({ given, pattern }: Task): string[] {
  const excluded = given.glob?.startsWith('!') === true;
  const shape = {
    lines: [
      '--line-number',
      '--no-heading',
      '--no-context-separator',
      `--max-columns=${lineBytes}`,
      '--max-columns-preview',
      `--before-context=${given.before ?? given.context}`,
      `--after-context=${given.after ?? given.context}`,
    ],
    files: ['--files-with-matches'],
    count: ['--count'],
  }[given.mode];
  return [
    ...shape,
    '--with-filename',
    '--null',
    // Otherwise `;$` would match nothing in a file with Windows line ends.
    '--crlf',
    ...(given.ignore_case ? ['--ignore-case'] : []),
    ...(given.fixed ? ['--fixed-strings'] : []),
    ...(given.multiline ? ['--multiline'] : []),
    ...scopeOf({ ...given, pattern: excluded ? undefined : pattern }),
    ...(excluded ? [`--glob=${given.glob}`] : []),
    `--regexp=${given.pattern}`,
    '--',
  ];
}
