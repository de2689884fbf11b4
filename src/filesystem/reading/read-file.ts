import * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import { path } from '../../core/params.ts';
import { defineSimpleTool, type Tool } from '../../core/tool.ts';
import { inlineLimit } from '../../machine/presentable.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { versionFor } from '../editing/overwrite.ts';
import type { Services } from '../services.ts';
import { contentOf, mediaContent } from './file-content.ts';

const mostLines = 2000;
/** Room for the notes is kept free, so that the answer is never shortened a second time. */
const mostCharacters = inlineLimit - 600;

const params = z.strictObject({
  path: path('Text, image, PDF or notebook', 'file'),
  offset: z.int().min(1).optional().describe('First line, from 1'),
  limit: z.int().min(1).max(mostLines).default(mostLines).describe('Number of lines'),
  tail: z.int().min(1).max(mostLines).optional().describe('Only the last lines'),
  bytes: z
    .strictObject({ from: z.int().min(0), count: z.int().min(1).max(mostCharacters).default(mostCharacters) })
    .optional()
    .describe('A range of bytes instead of lines'),
  line_numbers: z.boolean().default(false).describe('Put its number before each line'),
  encoding: z.string().min(1).max(50).optional().describe('When it is not recognised'),
});

/** Text exactly as it is in the file, a window at a time; images and PDF documents as they are; notebooks as text. */
export const readFile = (services: Services): Tool =>
  defineSimpleTool({
    name: 'read_file',
    program: 'files',
    title: 'Read file',
    description:
      'Read a text file, image, PDF or notebook. Text is exact; at most 2000 lines or 16,000 characters at ' +
      'once, with a note in brackets on how to get the next.',
    effects: ['read'],
    params,
    async call(given, { workspace, signal }) {
      refuseTwoWays(given);
      const opened = await rooted(workspace).openFile(given.path);
      try {
        const reading = { signal, known: services.known, lines: services.lines };
        const content = await contentOf(opened, { ...given, room: mostCharacters }, reading);
        if (content.kind === 'media') return { content: await mediaContent(opened, content, given.path) };
        const hash = services.known.get(opened.path)?.hash;
        return {
          content: [{ type: 'text', text: content.text }],
          ...(hash === undefined ? {} : { meta: { 'toolcrib/version': versionFor(hash) } }),
        };
      } finally {
        await opened.handle.close();
      }
    },
  });

function refuseTwoWays(given: z.output<typeof params>): void {
  const ways = (['offset', 'tail', 'bytes'] as const).filter((way) => given[way] !== undefined);
  if (ways.length > 1)
    throw new ToolcribError('ARG_INVALID', `${ways.join(' and ')} exclude each other.`, 'Give one of them.');
  if (given.bytes && given.line_numbers)
    throw new ToolcribError('ARG_INVALID', 'line_numbers: a range of bytes has none.');
}
