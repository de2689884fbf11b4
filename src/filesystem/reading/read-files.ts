import * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import { path } from '../../core/params.ts';
import { defineSimpleTool, type Content, type Tool } from '../../core/tool.ts';
import { limited } from '../../machine/limited.ts';
import type { Opened } from '../../machine/paths/opened.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { rooted, type RootedWorkspace } from '../../machine/paths/workspace.ts';
import { inlineLimit } from '../../machine/presentable.ts';
import type { Services } from '../services.ts';
import { withNotes } from './excerpt.ts';
import { contentOf, mediaBytes, mediaContent, type FileContent } from './file-content.ts';

const mostFiles = 50;
const mostLines = 2000;
const openAtOnce = 8;
/** Some room is kept for blanks between files and for what is said of the images. */
const mostCharacters = inlineLimit - 600;
/** What the notes on one file take that is not shown whole. */
const notesCharacters = 100;
/** What is said of an image or document, or why it is not shown. */
const mediaCharacters = 200;
const headerCharacters = 120;

const params = z.strictObject({
  paths: z
    .array(path('Text, image, PDF or notebook', 'file'))
    .min(1)
    .max(mostFiles)
    .describe('In the order they are to be shown'),
  limit: z.int().min(1).max(mostLines).default(mostLines).describe('Number of lines of each'),
});

/** What could not be read, and why. */
type Failure = { readonly kind: 'failed'; readonly why: string };

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
      const workspace = rooted(context.workspace);
      const { signal } = context;
      const reading = { signal, known: services.known, lines: services.lines };
      const inTurn = limited(openAtOnce);
      const contents = await Promise.all(
        paths.map((path) =>
          inTurn(() => {
            if (signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
            const request = { path, limit, line_numbers: false, most: mostCharacters };
            return withFile(workspace, path, (opened) => contentOf(opened, request, reading));
          }),
        ),
      );
      const isError = contents.every(({ kind }) => kind === 'failed');
      const content = joined(await partsOf(paths, contents, workspace));
      return { content, ...(isError ? { isError } : {}) };
    },
  });

/** What is made of a file that has been opened, or why that could not be done. */
async function withFile<T>(
  workspace: RootedWorkspace,
  path: string,
  use: (opened: Opened) => Promise<T>,
): Promise<T | Failure> {
  try {
    const opened = await workspace.openFile(path);
    try {
      return await use(opened);
    } finally {
      await opened.handle.close();
    }
  } catch (error) {
    if (!(error instanceof ToolcribError) || error.code === 'CANCELLED') throw error;
    return { kind: 'failed', why: `[${error.code}: ${error.message}]` };
  }
}

/** The files in order. Images and documents are loaded one after the other, so that few are in memory. */
async function partsOf(
  paths: readonly string[],
  contents: readonly (FileContent | Failure)[],
  workspace: RootedWorkspace,
): Promise<Content[]> {
  const headers = paths.map((path) => `==> ${ending(shownPath(path))} <==\n`);
  const room = mostCharacters - headers.reduce((sum, { length }) => sum + length + 1, 0);
  const shares = sharesOf(contents.map(lengthOf), room);
  const parts: Content[] = [];
  let left = mediaBytes;
  for (const [index, content] of contents.entries()) {
    const [path = '', share = 0] = [paths[index], shares[index]];
    parts.push(text((index > 0 ? '\n' : '') + (headers[index] ?? '')));
    if (content.kind === 'text') {
      const { text: body, notes } = content.excerpt.fit(share - notesCharacters);
      parts.push(text(endedLine(withNotes(body, [...notes, ...content.notes]))));
      continue;
    }
    const media =
      content.kind === 'failed'
        ? content
        : await withFile(workspace, path, async (opened) => {
            const loaded = await mediaContent(opened, content, path, left);
            left -= opened.stat.size;
            return loaded;
          });
    parts.push(...('why' in media ? [text(endedLine(media.why.slice(0, share)))] : media));
  }
  return parts;
}

/** Characters that a file takes when nothing of it is left out. */
function lengthOf(content: FileContent | Failure): number {
  if (content.kind === 'text') return content.excerpt.length + notesCharacters;
  return content.kind === 'failed' ? content.why.length : mediaCharacters;
}

/** Divides room so that nobody gets more than is wanted, and whoever wants more gets as much as any other. */
export function sharesOf(wanted: readonly number[], room: number): number[] {
  const shares = wanted.map(() => 0);
  let left = Math.max(0, room);
  const smallestFirst = [...wanted.entries()].sort(([, a], [, b]) => a - b);
  for (const [rank, [index, length]] of smallestFirst.entries()) {
    const share = Math.min(length, Math.floor(left / (wanted.length - rank)));
    shares[index] = share;
    left -= share;
  }
  return shares;
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
