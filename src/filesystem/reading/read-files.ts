import * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import { path } from '../../core/params.ts';
import { defineSimpleTool, type Content, type Tool } from '../../core/tool.ts';
import { limited } from '../../machine/limited.ts';
import type { Opened } from '../../machine/paths/opened.ts';
import { inlineLimit } from '../../machine/presentable.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { rooted, type RootedWorkspace } from '../../machine/paths/workspace.ts';
import { withNotes } from './excerpt.ts';
import { contentOf, mediaBytes, mediaContent, type FileContent } from './file-content.ts';
import type { Services } from '../services.ts';

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

type Failed = { readonly kind: 'failed'; readonly why: string };

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
      const lines = services.lines;
      const reading = { signal: context.signal, known: services.known, lines };
      const inTurn = limited(openAtOnce);
      const found = await Promise.all(
        paths.map((path) =>
          inTurn(() => {
            if (context.signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
            const wanted = { path, limit, line_numbers: false, most: mostCharacters };
            return tried(workspace, path, (opened) => contentOf(opened, wanted, reading));
          }),
        ),
      );
      const parts = await partsOf(paths, found, workspace);
      const isError = found.every(({ kind }) => kind === 'failed');
      return { content: joined(parts), ...(isError ? { isError } : {}) };
    },
  });

/** What is made of a file that has been opened, or why that could not be done. */
async function tried<T>(
  workspace: RootedWorkspace,
  path: string,
  then: (opened: Opened) => Promise<T>,
): Promise<T | Failed> {
  try {
    const opened = await workspace.openFile(path);
    try {
      return await then(opened);
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
  found: readonly (FileContent | Failed)[],
  workspace: RootedWorkspace,
): Promise<Content[]> {
  const headers = paths.map((path) => `==> ${ending(shownPath(path))} <==\n`);
  const room = mostCharacters - headers.reduce((sum, { length }) => sum + length + 1, 0);
  const shares = sharesOf(found.map(lengthOf), room);
  const parts: Content[] = [];
  let left = mediaBytes;
  for (const [index, content] of found.entries()) {
    const [path = '', share = 0] = [paths[index], shares[index]];
    parts.push(text((index > 0 ? '\n' : '') + (headers[index] ?? '')));
    if (content.kind === 'text') {
      const { text: body, notes } = content.excerpt.fit(share - notesCharacters);
      parts.push(text(endedLine(withNotes(body, [...notes, ...content.notes]))));
    } else if (content.kind === 'failed') {
      parts.push(text(endedLine(content.why.slice(0, share))));
    } else {
      const media = await tried(workspace, path, async (opened) => ({
        kind: 'loaded' as const,
        size: opened.stat.size,
        content: await mediaContent(opened, content, path, left),
      }));
      if (media.kind === 'failed') parts.push(text(endedLine(media.why.slice(0, share))));
      else {
        left -= media.size;
        parts.push(...media.content);
      }
    }
  }
  return parts;
}

/** Characters that a file takes when nothing of it is left out. */
function lengthOf(found: FileContent | Failed): number {
  if (found.kind === 'text') return found.excerpt.length + notesCharacters;
  return found.kind === 'failed' ? found.why.length : mediaCharacters;
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
