import * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import { path } from '../../core/params.ts';
import { defineSimpleTool, type CallContext, type Content, type Tool } from '../../core/tool.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { inlineLimit } from '../../machine/presentable.ts';
import type { Services } from '../services.ts';
import { contentOf, mediaBytes, mediaContent } from './file-content.ts';

const mostFiles = 50;
const mostLines = 2000;
/** Some room is kept for blanks between files. */
const mostCharacters = inlineLimit - 600;
/** What the notes on one file take. */
const notesCharacters = 100;
const headerCharacters = 120;

const params = z.strictObject({
  paths: z
    .array(path('Text, image, PDF or notebook', 'file'))
    .min(1)
    .max(mostFiles)
    .describe('In the order they are to be shown'),
  limit: z.int().min(1).max(mostLines).default(mostLines).describe('Number of lines of each'),
});

/** Several files in one answer: small ones whole, the others as far as there is room. */
export const readFiles = (services: Services): Tool =>
  defineSimpleTool({
    name: 'read_files',
    program: 'files',
    title: 'Read files',
    description:
      'Read several files at once, each under a line ==> path <==. They share 16,000 characters; notes say ' +
      'how to get the rest. What cannot be read says why in its place.',
    effects: ['read'],
    params,
    async call({ paths, limit }, context) {
      const headers = paths.map((path) => `==> ${ending(shownPath(path))} <==\n`);
      let room = mostCharacters - headers.reduce((sum, { length }) => sum + length + 1, 0);
      let media = mediaBytes;
      let failed = 0;
      const parts: Content[] = [];
      // One after the other: each knows how much room those before have left.
      for (const [index, path] of paths.entries()) {
        const share = Math.floor(room / (paths.length - index));
        const read = await partOf({ path, limit, share, media }, context, services);
        parts.push(text((index > 0 ? '\n' : '') + (headers[index] ?? '')), ...read.content);
        room -= read.content.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0);
        media -= read.media;
        if (read.isFailure) failed++;
      }
      return { content: joined(parts), ...(failed === paths.length ? { isError: true } : {}) };
    },
  });

interface PartRequest {
  readonly path: string;
  readonly limit: number;
  /** Characters, and bytes of images and documents, that it may have. */
  readonly share: number;
  readonly media: number;
}

/** One of the files, or why it could not be read. */
async function partOf(
  { path, limit, share, media }: PartRequest,
  { workspace, signal }: CallContext,
  services: Services,
): Promise<{ content: Content[]; media: number; isFailure: boolean }> {
  if (signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
  try {
    const opened = await rooted(workspace).openFile(path);
    try {
      const request = { path, limit, line_numbers: false, room: share - notesCharacters };
      const content = await contentOf(opened, request, {
        signal,
        known: services.known,
        lines: services.lines,
      });
      if (content.kind === 'text')
        return { content: [text(endedLine(content.text))], media: 0, isFailure: false };
      const loaded = await mediaContent(opened, content, path, media);
      return { content: loaded, media: opened.stat.size, isFailure: false };
    } finally {
      await opened.handle.close();
    }
  } catch (error) {
    if (!(error instanceof ToolcribError) || error.code === 'CANCELLED') throw error;
    const why = `[${error.code}: ${error.message}]`.slice(0, Math.max(share, notesCharacters));
    return { content: [text(endedLine(why))], media: 0, isFailure: true };
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

const endedLine = (content: string): string => (content.endsWith('\n') ? content : `${content}\n`);

/** A long path by its end, which tells files apart. */
const ending = (path: string): string =>
  path.length > headerCharacters ? `…${path.slice(-headerCharacters).replace(/^[\udc00-\udfff]/, '')}` : path;
