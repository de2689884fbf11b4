import { hash } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { ToolcribError } from '../../core/errors.ts';
import type { Content } from '../../core/tool.ts';
import { unreadable, type Opened } from '../../machine/paths/opened.ts';
import { codeOf } from '../../machine/paths/real-path.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { sameVersion, versionOf, type KnownFiles } from '../known-files.ts';
import { encodingOf } from '../text/encoding.ts';
import { bytesOf, excerptOf, withNotes, type ExcerptRequest, type LineSearch } from './excerpt.ts';
import { notebookText } from './notebook.ts';
import { fill, type TextFile } from './text-file.ts';

/** What a caller wants to see of a file. */
interface ReadRequest extends ExcerptRequest {
  readonly path: string;
  readonly encoding?: string | undefined;
}

/** What the tools that read need of a call and of the server. */
interface Reading extends LineSearch {
  readonly known: KnownFiles;
}

/** What is shown whole or not at all. */
interface Media {
  readonly what: 'an image' | 'a PDF document';
  readonly mimeType: string;
}

/** What a file has to show: text with what there is to say about it, or what is loaded by mediaContent(). */
type FileContent = { readonly kind: 'text'; readonly text: string } | ({ readonly kind: 'media' } & Media);

/** The most that a file shown as an image or document may have: base64 and JSON make 7 MB of it, of 10 in a message. */
export const mediaBytes = 5 * 1024 * 1024;
/** Up to this size a file is read whole, and its hash is known. */
const wholeBytes = 1024 * 1024;
const headBytes = 64 * 1024;
const notebookBytes = 5 * 1024 * 1024;

/**
 * Looks at a file that has been opened, and remembers a text as read. Throws ENCODING for what can not be shown,
 * ARG_INVALID for a range that is not there, and what LineIndexes.find throws.
 */
export async function contentOf(
  opened: Opened,
  request: ReadRequest,
  reading: Reading,
): Promise<FileContent> {
  const isNotebook = request.encoding === undefined && opened.path.toLowerCase().endsWith('.ipynb');
  const { handle, stat } = opened;
  try {
    const most = isNotebook ? notebookBytes : wholeBytes;
    // A size of 0 is also said of files that are made while they are read.
    const length = stat.size > 0 && stat.size <= most ? stat.size : headBytes;
    const head = await fill(handle, Buffer.allocUnsafe(length), 0);
    const media = request.encoding === undefined ? mediaOf(head) : undefined;
    if (media) return { kind: 'media', ...media };
    const name = shownPath(request.path);
    const encoding = encodingOf(head, name, request.encoding, stat.size);
    const file: TextFile = { name, size: Math.max(stat.size, head.length), stat, encoding, head, handle };
    const shown = isNotebook ? asNotebook(file) : { file, notes: [] };
    const excerpt = await excerptOf(shown.file, request, reading);
    // What a part of it was shown in for want of something better says nothing about the file.
    const known = encoding.label === 'utf-8' ? request.encoding : encoding.label;
    await remember(opened, head, known, reading.known);
    const mark = shown.file.encoding.mark > 0 ? [`${encoding.label} with byte order mark`] : [];
    return { kind: 'text', text: withNotes(excerpt.text, [...excerpt.notes, ...shown.notes, ...mark]) };
  } catch (error) {
    throw readFailure(request.path, error);
  }
}

/** An image or document as a part of an answer. Throws TOO_LARGE when it has more than `most` bytes. */
export async function mediaContent(
  { handle, path, stat: { size } }: Opened,
  { what, mimeType }: Media,
  name: string,
  most = mediaBytes,
): Promise<Content[]> {
  if (size > most)
    throw new ToolcribError(
      'TOO_LARGE',
      `${shownPath(name)}: is ${what} of ${bytesOf(size)}; ` +
        `at most ${bytesOf(most)} can be shown${most < mediaBytes ? ' with the others' : ''}.`,
      most < mediaBytes && size <= mediaBytes ? 'Read by itself it is shown.' : '',
    );
  const bytes = await fill(handle, Buffer.allocUnsafe(size), 0).catch((error: unknown) => {
    throw readFailure(name, error);
  });
  const base64 = bytes.toString('base64');
  if (mimeType.startsWith('image/')) return [{ type: 'image', data: base64, mimeType }];
  return [
    { type: 'text', text: `[${shownPath(name)}: ${what}, ${bytesOf(bytes.length)}]` },
    { type: 'resource', resource: { uri: pathToFileURL(path).href, mimeType, blob: base64 } },
  ];
}

/** What can be shown whole, by its first bytes; undefined for anything else. */
export function mediaOf(head: Buffer): Media | undefined {
  const start = head.subarray(0, 12).toString('latin1');
  if (start.startsWith('%PDF-')) return { what: 'a PDF document', mimeType: 'application/pdf' };
  const image = (mimeType: string): Media => ({ what: 'an image', mimeType });
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return image('image/png');
  if (start.startsWith('\xff\xd8\xff')) return image('image/jpeg');
  if (/^GIF8[79]a/.test(start)) return image('image/gif');
  return /^RIFF[^]{4}WEBP/.test(start) ? image('image/webp') : undefined;
}

/** A notebook in the form that people see, where it can be made. */
function asNotebook(file: TextFile): { file: TextFile; notes: string[] } {
  if (file.head.length < file.size)
    return { file, notes: [`a notebook of more than ${bytesOf(notebookBytes)}, shown as its JSON`] };
  const text = notebookText(file.head.toString('utf8', file.encoding.mark));
  if (text === undefined) return { file, notes: ['no notebook that is understood, shown as it is'] };
  const head = Buffer.from(text);
  const encoding = { label: 'utf-8', mark: 0, unit: 1 } as const;
  return {
    file: { ...file, encoding, head, size: head.length },
    notes: ['a notebook shown as text; edits work on its JSON, which encoding utf-8 shows'],
  };
}

/** Registers a text as read: with its hash, when all of it was and nobody wrote to it meanwhile. */
async function remember(
  { handle, path, stat }: Opened,
  head: Buffer,
  encoding: string | undefined,
  known: KnownFiles,
): Promise<void> {
  const isWhole = head.length === stat.size && sameVersion(stat, await handle.stat());
  const content = isWhole ? { hash: hash('sha256', head, 'hex'), bytes: head } : {};
  known.remember(path, { stat: versionOf(stat), encoding, ...content });
}

/** A failing disk, or a mounted folder whose server is gone. */
const readFailure = (name: string, error: unknown): unknown =>
  error instanceof ToolcribError ? error : unreadable(name, codeOf(error));
