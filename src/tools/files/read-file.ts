import * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import { also, orSeveral, unlisted } from '../../core/accepted.ts';
import { path } from '../../core/params.ts';
import type { CallContext, Content, Result } from '../../core/tool.ts';
import { defineTool } from '../define-tool.ts';
import { displayPath } from '../../machine/paths/display-path.ts';
import { rooted, type RootedWorkspace } from '../../machine/paths/workspace.ts';
import { inlineLimit } from '../../machine/sanitize.ts';
import { versionFor } from './editing/refusals.ts';
import type { Session } from '../../machine/session.ts';
import type { ExcerptRequest } from './reading/excerpt.ts';
import { contentOf } from './reading/file-content.ts';
import { mediaBytes } from './reading/media.ts';

const mostFiles = 50;
const mostLines = 2000;
/**
 * Room for the notes, and for blanks between files, is kept free: the answer is never shortened a second
 * time.
 */
const mostCharacters = inlineLimit - 600;
/** What the notes on one of several files take. */
const notesCharacters = 100;
const headerCharacters = 120;

const line = (description: string) => z.int().min(-1).optional().describe(description);

const params = z.strictObject({
  path: orSeveral(
    path('Text, image, PDF, notebook; lines too: src/a.ts:40-80. Several: a list', 'file'),
    mostFiles,
    'file_path paths files file filename absolute_path target_file',
  ),
  start_line: also(line('First line, from 1'), 'offset from_line line_start start start_line_one_indexed'),
  end_line: also(line('Last line'), 'to_line line_end end end_line_one_indexed_inclusive'),
  tail: z.int().min(1).optional().describe('Only the last lines: 50'),
  limit: unlisted(z.int().min(1).optional(), 'max_lines num_lines head'),
  view_range: unlisted(z.array(z.int()).length(2).optional(), 'lines line_range'),
  encoding: unlisted(z.string().min(1).max(50).optional()),
});
type ReadFileParams = z.output<typeof params>;

/** What is asked for of one file. */
type LineRange = Pick<ExcerptRequest, 'first' | 'limit' | 'tail'>;

/** Texts with line numbers, a window at a time; images and PDF documents as they are; notebooks as text. */
export default defineTool({
  name: 'read_file',
  title: 'Read file',
  description:
    'Shows a file, or several, with line numbers: text, image, PDF, notebook. ' +
    'Says which lines, of how many, and what comes next.',
  toolset: 'files',
  hint: 'read a file, image, PDF, notebook',
  aliases: 'Read read view cat read_files open_file',
  listed: 'first',
  effects: ['read'],
  params,
  async run({ work: given }, context) {
    const { session } = context;
    const [path = '', ...others] = given.path;
    const part = partOf(given);
    if (others.length > 0) return severalFiles(given, part, context, session);
    const request = { given: path, part, encoding: given.encoding, room: mostCharacters };
    const { content, hash } = await readOne(request, context, session);
    return { content, ...(hash === undefined ? {} : { meta: { 'toolcrib/version': versionFor(hash) } }) };
  },
});

function partOf({ start_line, end_line, view_range, limit, tail }: ReadFileParams): LineRange {
  const first = Math.max(1, view_range?.[0] ?? start_line ?? 1);
  const last = view_range?.[1] ?? end_line ?? -1;
  if (tail !== undefined && (first > 1 || last !== -1))
    throw new ToolcribError('ARG_INVALID', 'tail and start_line exclude each other.', 'Give one of them.');
  if (last !== -1 && last < first)
    throw new ToolcribError('ARG_INVALID', `end_line: is ${last}, before line ${first}.`);
  const wanted = Math.min(limit ?? mostLines, last === -1 ? mostLines : last - first + 1);
  return { first, limit: Math.min(mostLines, wanted), tail: tail && Math.min(tail, mostLines) };
}

/** Small files whole, the others as far as there is room; what cannot be read says why in its place. */
async function severalFiles(
  { path: paths, encoding }: ReadFileParams,
  part: LineRange,
  context: CallContext,
  session: Session,
): Promise<Result> {
  const headers = paths.map((path) => `==> ${ending(displayPath(path))} <==\n`);
  let room = mostCharacters - headers.reduce((sum, { length }) => sum + length + 1, 0);
  let media = mediaBytes;
  let failed = 0;
  const all: Content[] = [];
  // One after the other: each knows how much room those before have left.
  for (const [index, path] of paths.entries()) {
    if (context.signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
    const share = Math.floor(room / (paths.length - index));
    const request = { given: path, part, encoding, room: share - notesCharacters, media };
    const { content } = await readOne(request, context, session).catch((error: unknown) => {
      if (!(error instanceof ToolcribError) || error.code === 'CANCELLED') throw error;
      failed++;
      return {
        content: [text(`[${error.code}: ${error.message}]`.slice(0, Math.max(share, notesCharacters)))],
      };
    });
    append(all, text((index > 0 ? '\n' : '') + (headers[index] ?? '')));
    for (const each of content) {
      append(all, each);
      if (each.type === 'text') room -= each.text.length + 1;
      else media -= ((each.type === 'image' ? each.data : each.resource.blob).length * 3) / 4;
    }
  }
  return { content: all, ...(failed === paths.length ? { isError: true } : {}) };
}

const text = (content: string) => ({ type: 'text' as const, text: content });

/**
 * Adds a part whose last line ends; neighbouring texts are one, since some hosts show each part by itself.
 */
function append(all: Content[], part: Content): void {
  if (part.type !== 'text') return void all.push(part);
  const before = all.at(-1);
  const start = before?.type === 'text' ? (all.pop(), before.text) : '';
  all.push(text(start + part.text + (part.text.endsWith('\n') ? '' : '\n')));
}

/** A long path by its end, which tells files apart. */
const ending = (path: string): string =>
  path.length > headerCharacters ? `…${path.slice(-headerCharacters).replace(/^[\udc00-\udfff]/, '')}` : path;

interface OneRequest {
  /** As it was given, perhaps with lines behind it. */
  readonly given: string;
  readonly part: LineRange;
  readonly encoding: string | undefined;
  /** Characters, and bytes of an image or document, that may be shown. */
  readonly room: number;
  readonly media?: number;
}

async function readOne(
  { given, part, ...rest }: OneRequest,
  { workspace, signal }: CallContext,
  { knownFiles: known }: Session,
): Promise<{ content: Content[]; hash?: string | undefined }> {
  const { opened, path, ...own } = await openPart(given, part, rooted(workspace));
  try {
    const content = await contentOf(opened, { ...own.part, ...rest, path, signal }, known);
    return { content, hash: known.get(opened.path)?.hash };
  } finally {
    await opened.handle.close();
  }
}

/** A file, and which part of it: `src/a.ts:40-80` names both, unless a file is called so. */
async function openPart(given: string, part: LineRange, workspace: RootedWorkspace) {
  const [, path = '', first, last = first] = /^(.+?):(\d{1,9})(?:-(\d{1,9}))?$/.exec(given) ?? [];
  try {
    return { opened: await workspace.open('file', given), path: given, part };
  } catch (error) {
    // On Windows no file can be called so: there it would be a stream inside one, which is ARG_INVALID.
    const isMissing = error instanceof ToolcribError && /^(?:PATH_NOT_FOUND|ARG_INVALID)$/.test(error.code);
    if (!isMissing || first === undefined) throw error;
    const named = partOf({ path: [path], view_range: [Number(first), Number(last)] });
    return { opened: await workspace.open('file', path), path, part: named };
  }
}
