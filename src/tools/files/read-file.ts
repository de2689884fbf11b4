import * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import { also, orSeveral, unlisted } from '../../core/accepted.ts';
import { path } from '../../core/params.ts';
import type { Content, Result } from '../../core/tool.ts';
import { defineTool, type ToolCallContext } from '../define-tool.ts';
import { displayPath } from '../../machine/paths/display-path.ts';
import { rooted, type RootedWorkspace } from '../../machine/paths/workspace.ts';
import { inlineLimit } from '../../machine/sanitize.ts';
import { versionFor } from './editing/refusals.ts';
import type { ExcerptRequest } from './reading/excerpt.ts';
import { readContent } from './reading/file-content.ts';
import { mediaBytes } from './reading/media.ts';

const mostFiles = 50;
const mostLines = 2000;
/**
 * Characters of an answer; the rest is left for notes and blank lines, so that it is never shortened again.
 */
const mostCharacters = inlineLimit - 600;
/** Characters left for the notes on one of several files. */
const notesCharacters = 100;
const headerCharacters = 120;

const lineParam = (description: string) => z.int().min(-1).optional().describe(description);

const params = z.strictObject({
  path: orSeveral(
    path('Text, image, PDF, notebook; lines too: src/a.ts:40-80. Several: a list', 'file'),
    mostFiles,
    'file_path paths files file filename absolute_path target_file',
  ),
  start_line: also(
    lineParam('First line, from 1'),
    'offset from_line line_start start start_line_one_indexed',
  ),
  end_line: also(lineParam('Last line'), 'to_line line_end end end_line_one_indexed_inclusive'),
  tail: z.int().min(1).optional().describe('Only the last lines: 50'),
  limit: unlisted(z.int().min(1).optional(), 'max_lines num_lines head'),
  view_range: unlisted(z.array(z.int()).length(2).optional(), 'lines line_range'),
  encoding: unlisted(z.string().min(1).max(50).optional()),
});
type ReadFileParams = z.output<typeof params>;

/** The lines of a file that are asked for. */
type LineRange = Pick<ExcerptRequest, 'first' | 'limit' | 'tail'>;

/**
 * Reads texts with line numbers, some lines at a time; images and PDF documents as they are; notebooks as
 * text.
 */
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
  async run({ work }, context) {
    const [name = '', ...others] = work.path;
    const range = parseRange(work);
    if (others.length > 0) return readSeveral(work, range, context);
    const request = { name, range, encoding: work.encoding, room: mostCharacters };
    const { content, hash } = await readOne(request, context);
    return { content, ...(hash === undefined ? {} : { meta: { 'toolcrib/version': versionFor(hash) } }) };
  },
});

/** The range of lines that the parameters select. Throws ARG_INVALID when they contradict each other. */
function parseRange({ start_line, end_line, view_range, limit, tail }: ReadFileParams): LineRange {
  const first = Math.max(1, view_range?.[0] ?? start_line ?? 1);
  const last = view_range?.[1] ?? end_line ?? -1;
  if (tail !== undefined && (first > 1 || last !== -1))
    throw new ToolcribError('ARG_INVALID', 'tail and start_line exclude each other.', 'Give one of them.');
  if (last !== -1 && last < first)
    throw new ToolcribError('ARG_INVALID', `end_line: is ${last}, before line ${first}.`);
  const count = Math.min(limit ?? mostLines, last === -1 ? mostLines : last - first + 1);
  return { first, limit: Math.min(mostLines, count), tail: tail && Math.min(tail, mostLines) };
}

/** Reads several files, which share the room of an answer; the error of one takes the place of its text. */
async function readSeveral(
  { path: paths, encoding }: ReadFileParams,
  range: LineRange,
  context: ToolCallContext,
): Promise<Result> {
  const headers = paths.map((path) => `==> ${shortenStart(displayPath(path))} <==\n`);
  let room = mostCharacters - headers.reduce((sum, { length }) => sum + length + 1, 0);
  let media = mediaBytes;
  let failed = 0;
  const all: Content[] = [];
  // One after the other, as each gets the room that those before have left.
  for (const [index, name] of paths.entries()) {
    if (context.signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
    const share = Math.floor(room / (paths.length - index));
    const request = { name, range, encoding, room: share - notesCharacters, media };
    let content: readonly Content[];
    try {
      const file = await readOne(request, context);
      content = file.content;
    } catch (error) {
      if (!(error instanceof ToolcribError) || error.code === 'CANCELLED') throw error;
      failed += 1;
      const message = `[${error.code}: ${error.message}]`;
      content = [text(message.slice(0, Math.max(share, notesCharacters)))];
    }
    append(all, text((index > 0 ? '\n' : '') + (headers[index] ?? '')));
    for (const part of content) {
      append(all, part);
      if (part.type === 'text') room -= part.text.length + 1;
      else media -= decodedLength(part.type === 'image' ? part.data : part.resource.blob);
    }
  }
  return { content: all, ...(failed === paths.length ? { isError: true } : {}) };
}

const text = (content: string) => ({ type: 'text' as const, text: content });

/** The number of bytes in base64. */
const decodedLength = (base64: string): number => (base64.length * 3) / 4;

/**
 * Appends a part, with a line end behind a text. Neighbouring texts are joined, as some hosts show each part
 * by itself.
 */
function append(all: Content[], part: Content): void {
  if (part.type !== 'text') {
    all.push(part);
    return;
  }
  const line = part.text + (part.text.endsWith('\n') ? '' : '\n');
  const last = all.at(-1);
  if (last?.type === 'text') all.splice(-1, 1, text(last.text + line));
  else all.push(text(line));
}

/** Shortens a long path at its start: its end tells files apart. */
const shortenStart = (path: string): string =>
  path.length > headerCharacters ? `…${path.slice(-headerCharacters).replace(/^[\udc00-\udfff]/, '')}` : path;

/** A request for one file. */
interface FileRequest {
  /** The path, perhaps with lines behind it: `src/a.ts:40-80`. */
  readonly name: string;
  readonly range: LineRange;
  readonly encoding: string | undefined;
  /** Characters that may be shown. */
  readonly room: number;
  /** Bytes of an image or document that may be shown. */
  readonly media?: number;
}

async function readOne(
  { name, range, ...limits }: FileRequest,
  { workspace, signal, session: { knownFiles } }: ToolCallContext,
): Promise<{ readonly content: readonly Content[]; readonly hash?: string | undefined }> {
  const { opened, path, ...named } = await openRange(name, range, rooted(workspace));
  try {
    const content = await readContent(opened, { ...named.range, ...limits, path, signal }, knownFiles);
    return { content, hash: knownFiles.get(opened.path)?.hash };
  } finally {
    await opened.handle.close();
  }
}

/** Opens a file. A name such as `src/a.ts:40-80` selects lines, too, unless a file has this very name. */
async function openRange(name: string, range: LineRange, workspace: RootedWorkspace) {
  const [, path = '', first, last = first] = /^(.+?):(\d{1,9})(?:-(\d{1,9}))?$/.exec(name) ?? [];
  try {
    return { opened: await workspace.open('file', name), path: name, range };
  } catch (error) {
    // On Windows, such a name is a stream inside a file, which is refused as ARG_INVALID.
    const isMissing = error instanceof ToolcribError && /^(?:PATH_NOT_FOUND|ARG_INVALID)$/.test(error.code);
    if (!isMissing || first === undefined) throw error;
    const namedRange = parseRange({ path: [path], view_range: [Number(first), Number(last)] });
    return { opened: await workspace.open('file', path), path, range: namedRange };
  }
}
