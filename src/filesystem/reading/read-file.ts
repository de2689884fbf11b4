import * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import { path } from '../../core/params.ts';
import {
  defineSimpleTool,
  type CallContext,
  type Content,
  type Tool,
  type ToolResult,
} from '../../core/tool.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { inlineLimit } from '../../machine/presentable.ts';
import { versionFor } from '../editing/overwrite.ts';
import type { Services } from '../services.ts';
import { contentOf, mediaBytes, mediaContent } from './file-content.ts';

const mostFiles = 50;
const mostLines = 2000;
/** Room for the notes, and for blanks between files, is kept free: the answer is never shortened a second time. */
const mostCharacters = inlineLimit - 600;
/** What the notes on one of several files take. */
const notesCharacters = 100;
const headerCharacters = 120;

const params = z.strictObject({
  path: path('Text, image, PDF or notebook', 'file').optional(),
  paths: z
    .array(path('Several instead', 'file'))
    .min(1)
    .max(mostFiles)
    .optional()
    .describe('Several files instead, in the order they are to be shown'),
  offset: z.int().min(1).optional().describe('First line, from 1'),
  limit: z.int().min(1).max(mostLines).default(mostLines).describe('Number of lines of each'),
  tail: z.int().min(1).max(mostLines).optional().describe('Only the last lines'),
  line_numbers: z.boolean().default(false).describe('Put its number before each line'),
  encoding: z.string().min(1).max(50).optional().describe('When it is not recognised'),
});
type Params = z.output<typeof params>;

/** Text exactly as it is in the file, a window at a time; images and PDF documents as they are; notebooks as text. */
export const readFile = (services: Services): Tool =>
  defineSimpleTool({
    name: 'read_file',
    program: 'files',
    title: 'Read file',
    description:
      'Read a text file, image, PDF or notebook, or several, each under a line ==> path <==. Text is exact; at ' +
      'most 2000 lines or 16,000 characters at once, with a note in brackets on how to get the next.',
    effects: ['read'],
    params,
    async call(given, context) {
      const { path, paths, offset, tail } = given;
      if (offset !== undefined && tail !== undefined)
        throw new ToolcribError('ARG_INVALID', 'offset and tail exclude each other.', 'Give one of them.');
      if (path !== undefined && paths === undefined) return oneFile(path, given, context, services);
      if (paths !== undefined && path === undefined) return severalFiles(paths, given, context, services);
      throw new ToolcribError('ARG_INVALID', 'path: give either path, for one file, or paths, for several.');
    },
  });

async function oneFile(path: string, given: Params, context: CallContext, services: Services) {
  const { content, hash } = await readOne({ ...given, path, room: mostCharacters }, context, services);
  return { content, ...(hash === undefined ? {} : { meta: { 'toolcrib/version': versionFor(hash) } }) };
}

/** Small files whole, the others as far as there is room; what cannot be read says why in its place. */
async function severalFiles(
  paths: readonly string[],
  given: Params,
  context: CallContext,
  services: Services,
): Promise<ToolResult> {
  const headers = paths.map((path) => `==> ${ending(shownPath(path))} <==\n`);
  let room = mostCharacters - headers.reduce((sum, { length }) => sum + length + 1, 0);
  let media = mediaBytes;
  let failed = 0;
  const parts: Content[] = [];
  // One after the other: each knows how much room those before have left.
  for (const [index, path] of paths.entries()) {
    if (context.signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
    const share = Math.floor(room / (paths.length - index));
    const request = { ...given, path, room: share - notesCharacters, media };
    const read = await readOne(request, context, services).catch((error: unknown) => {
      if (!(error instanceof ToolcribError) || error.code === 'CANCELLED') throw error;
      failed++;
      const why = `[${error.code}: ${error.message}]`.slice(0, Math.max(share, notesCharacters));
      return { content: [text(why)], media: 0 };
    });
    parts.push(text((index > 0 ? '\n' : '') + (headers[index] ?? '')), ...read.content.map(ended));
    room -= read.content.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length + 1 : 0), 0);
    media -= read.media;
  }
  return { content: joined(parts), ...(failed === paths.length ? { isError: true } : {}) };
}

interface OneRequest extends Omit<Params, 'path' | 'paths'> {
  readonly path: string;
  /** Characters, and bytes of an image or document, that may be shown. */
  readonly room: number;
  readonly media?: number;
}

async function readOne(
  request: OneRequest,
  { workspace, signal }: CallContext,
  { known, lines }: Services,
): Promise<{ content: Content[]; media: number; hash?: string | undefined }> {
  const opened = await rooted(workspace).open('file', request.path);
  try {
    const found = await contentOf(opened, request, { signal, known, lines });
    if (found.kind === 'text')
      return { content: [text(found.text)], media: 0, hash: known.get(opened.path)?.hash };
    const content = await mediaContent(opened, found, request.path, request.media);
    return { content, media: opened.stat.size };
  } finally {
    await opened.handle.close();
  }
}

/** Neighbouring texts as one: some hosts show each part by itself. */
function joined(parts: readonly Content[]): Content[] {
  const result: Content[] = [];
  for (const part of parts) {
    const before = result.at(-1);
    if (part.type === 'text' && before?.type === 'text') result.splice(-1, 1, text(before.text + part.text));
    else result.push(part);
  }
  return result;
}

const text = (content: string) => ({ type: 'text' as const, text: content });

/** A part that ends its last line. */
const ended = (part: Content): Content =>
  part.type === 'text' && !part.text.endsWith('\n') ? text(`${part.text}\n`) : part;

/** A long path by its end, which tells files apart. */
const ending = (path: string): string =>
  path.length > headerCharacters ? `…${path.slice(-headerCharacters).replace(/^[\udc00-\udfff]/, '')}` : path;
