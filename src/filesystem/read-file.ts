import type { FileHandle } from 'node:fs/promises';
import * as z from 'zod';
import { ToolcribError } from '../core/errors.ts';
import { path } from '../core/params.ts';
import { defineTool, type Tool, type ToolResult } from '../core/tool.ts';
import { inlineLimit } from '../machine/presentable.ts';
import { shownPath } from '../machine/shown-path.ts';
import { rooted } from '../machine/workspace.ts';
import {
  chunkBytes,
  fill,
  findLine,
  lastLines,
  linesFrom,
  readAt,
  withoutPartialStart,
  type Line,
  type TextFile,
} from './file-lines.ts';
import { binaryKind, decodePieces, encodingOf, imageType } from './text-file.ts';

const mostLines = 2000;
/** Characters shown of one line. */
const lineCharacters = 2000;
/** Room for the notes is kept free, so that the answer is never shortened a second time. */
const mostCharacters = inlineLimit - 600;
const imageBytes = 5 * 1024 * 1024;
/** How long to look for a far line: the call must answer before its client gives up. */
const searchMs = 20_000;
/** Up to this size the lines before a tail are counted, so that the tail can have line numbers. */
const countedBytes = 1024 * 1024;

const params = z.strictObject({
  path: path('Text or image file', 'file'),
  offset: z.int().min(1).optional().describe('First line, from 1'),
  limit: z.int().min(1).max(mostLines).default(mostLines).describe('Number of lines'),
  tail: z.int().min(1).max(mostLines).optional().describe('Only the last lines'),
  bytes: z
    .strictObject({ from: z.int().min(0), count: z.int().min(1).max(mostCharacters).default(mostCharacters) })
    .optional()
    .describe('A range of bytes instead of lines'),
  line_numbers: z.boolean().default(false).describe('Put its number before each line'),
});
type Params = z.output<typeof params>;

/** What is shown of a file, and what to say about it. */
interface Excerpt {
  readonly text: string;
  readonly notes: readonly string[];
}

/** Text exactly as it is in the file, a window at a time; images as images. */
export const readFile = (): Tool =>
  defineTool({
    name: 'read_file',
    program: 'files',
    title: 'Read file',
    description:
      'Read a text file or image. Text is exact; at most 2000 lines or 16,000 characters at once, with a note in brackets on how to get the next.',
    effects: ['read'],
    params,
    async call(given, { workspace, signal }) {
      const ways = (['offset', 'tail', 'bytes'] as const).filter((way) => given[way] !== undefined);
      if (ways.length > 1)
        throw new ToolcribError(
          'ARG_INVALID',
          `${ways.join(' and ')} exclude each other.`,
          'Give one of them.',
        );
      const { handle, stat } = await rooted(workspace).openFile(given.path);
      try {
        return await show(handle, stat.size, given, signal);
      } finally {
        await handle.close();
      }
    },
  });

async function show(
  handle: FileHandle,
  size: number,
  given: Params,
  signal: AbortSignal,
): Promise<ToolResult> {
  // A size of 0 is also said of files that are made while they are read.
  const head = await fill(handle, Buffer.allocUnsafe(Math.min(size || chunkBytes, chunkBytes)), 0);
  const mimeType = imageType(head);
  if (mimeType) return image(handle, size, mimeType, given.path);
  const encoding = encodingOf(head);
  if (!encoding)
    throw new ToolcribError(
      'ENCODING',
      `${shownPath(given.path)}: is ${binaryKind(head)}, ${bytesOf(size)}.`,
      'This tool shows text and images.',
    );
  const file: TextFile = { handle, size: Math.max(size, head.length), encoding, head };
  if (file.size === 0) return { content: [{ type: 'text', text: '[the file is empty]' }] };
  const { text, notes } = await excerpt(file, given, signal);
  const said = encoding.mark === 0 ? notes : [...notes, `${encoding.label} with byte order mark`];
  const separator = text === '' || text.endsWith('\n') ? '' : '\n';
  return {
    content: [{ type: 'text', text: said.length > 0 ? `${text}${separator}[${said.join('; ')}]` : text }],
  };
}

function excerpt(file: TextFile, given: Params, signal: AbortSignal): Promise<Excerpt> {
  if (given.bytes) return byteRange(file, given.bytes, given);
  return given.tail === undefined
    ? lineRange(file, given, signal)
    : lastRange(file, given.tail, given, signal);
}

async function image(handle: FileHandle, size: number, mimeType: string, name: string): Promise<ToolResult> {
  if (size > imageBytes)
    throw new ToolcribError(
      'TOO_LARGE',
      `${shownPath(name)}: an image of ${bytesOf(size)}; at most 5 MB can be shown.`,
    );
  const bytes = await fill(handle, Buffer.allocUnsafe(size), 0);
  return { content: [{ type: 'image', data: bytes.toString('base64'), mimeType }] };
}

async function lineRange(file: TextFile, given: Params, signal: AbortSignal): Promise<Excerpt> {
  const first = given.offset ?? 1;
  const found = await findLine(file, first, signal, performance.now() + searchMs);
  if ('lines' in found)
    throw new ToolcribError('ARG_INVALID', `offset: ${shownPath(given.path)} has ${found.lines} lines.`);
  const lines: Line[] = [];
  let bytes = 0;
  for await (const line of linesFrom(file, found.start)) {
    lines.push(line);
    bytes += line.bytes.length;
    // A character has three bytes at most for each of its UTF-16 units, so this is always enough.
    if (lines.length === given.limit || bytes > 3 * mostCharacters || line.end === undefined) break;
  }
  const { pieces, notes } = shownLines(lines, first, given, file);
  const kept = fitting(pieces, mostCharacters);
  const last = first + kept.length - 1;
  const end = lines[kept.length - 1]?.end;
  if (first > 1 || end !== file.size)
    notes.unshift(`lines ${first}-${last} of ${bytesOf(file.size)}`, ...next(last, end, file));
  return { text: kept.join(''), notes };
}

function next(last: number, end: number | undefined, file: TextFile): string[] {
  if (end === undefined) return [`line ${last} goes on for more than 1 MB: read it with bytes`];
  return end < file.size ? [`next: offset ${last + 1}`] : ['end of file'];
}

async function lastRange(
  file: TextFile,
  count: number,
  given: Params,
  signal: AbortSignal,
): Promise<Excerpt> {
  const { lines, start } = await lastLines(file, count);
  const total = await lineCount(file, signal);
  if (total === undefined && given.line_numbers)
    throw new ToolcribError(
      'ARG_INVALID',
      `line_numbers: ${bytesOf(file.size)} are too many to count the lines before a tail.`,
    );
  const { pieces, notes } = shownLines(lines, (total ?? 0) - lines.length + 1, given, file);
  const kept = fitting(pieces.toReversed(), mostCharacters).toReversed();
  const all = start === file.encoding.mark && kept.length === lines.length;
  if (!all) {
    const which =
      total === undefined ? `last ${kept.length} lines` : `lines ${total - kept.length + 1}-${total}`;
    notes.unshift(`${which} of ${bytesOf(file.size)}`);
  }
  return { text: kept.join(''), notes };
}

/** How many lines a file has; undefined when it is too large to count them. */
async function lineCount(file: TextFile, signal: AbortSignal): Promise<number | undefined> {
  if (file.size > countedBytes) return undefined;
  const found = await findLine(file, Infinity, signal, performance.now() + searchMs);
  return 'lines' in found ? found.lines : undefined;
}

async function byteRange(
  file: TextFile,
  wanted: { from: number; count: number },
  given: Params,
): Promise<Excerpt> {
  const { encoding, size } = file;
  if (given.line_numbers) throw new ToolcribError('ARG_INVALID', 'line_numbers: a range of bytes has none.');
  const start = Math.max(encoding.mark, wanted.from - (wanted.from % encoding.unit));
  if (start >= size)
    throw new ToolcribError('ARG_INVALID', `bytes: ${shownPath(given.path)} has ${bytesOf(size)}.`);
  const raw = await readAt(file, start, Math.max(wanted.count, 4));
  const bytes = withoutPartialStart(raw, encoding);
  const { texts, label } = decodePieces(
    [{ bytes, cut: start + raw.length < size }],
    encoding,
    shownPath(given.path),
  );
  // A character cut off at the end belongs to the next range.
  const text = texts.join('');
  const end = start + raw.length - bytes.length + encodedLength(text, label, bytes);
  const rest = end < size && end > start ? `next: bytes {"from": ${end}}` : 'end of file';
  return {
    text,
    notes: [`bytes ${start}-${end - 1} of ${bytesOf(size)}`, rest, ...otherEncoding(label, file)],
  };
}

/** How many of the bytes became text: a character cut off at the end did not. */
function encodedLength(text: string, label: string, bytes: Buffer): number {
  if (label === 'utf-8') return Buffer.byteLength(text);
  return label.startsWith('utf-16') ? 2 * text.length : bytes.length;
}

/** Lines as they are shown, and what was done to them. */
function shownLines(lines: readonly Line[], first: number, given: Params, file: TextFile) {
  const { texts, label } = decodePieces(lines, file.encoding, shownPath(given.path));
  const notes = otherEncoding(label, file);
  const pieces = texts.map((text, index) => {
    const headless = lines[index]?.headless === true;
    const cut = headless || lines[index]?.cut || text.length > lineCharacters + 2;
    const shown = headless ? `…${text}` : cut ? `${withoutHalf(text.slice(0, lineCharacters))}…\n` : text;
    if (cut && !notes.includes(cutNote)) notes.push(cutNote);
    return given.line_numbers ? `${first + index}\t${shown}` : shown;
  });
  return { pieces, notes };
}

const withoutHalf = (text: string): string => text.replace(/[\ud800-\udbff]$/, '');

const cutNote = `lines longer than ${lineCharacters.toLocaleString('en')} characters are cut at …`;

const otherEncoding = (label: string, { encoding }: TextFile): string[] =>
  label === 'utf-8' || encoding.mark > 0 ? [] : [`not UTF-8: read as ${label}`];

/** As many pieces as fit. */
function fitting(pieces: readonly string[], most: number): string[] {
  let length = 0;
  const over = pieces.findIndex((piece) => (length += piece.length) > most);
  return over === -1 ? [...pieces] : pieces.slice(0, over);
}

const bytesOf = (count: number): string => `${count.toLocaleString('en')} bytes`;
