import { hash } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { ToolcribError } from '../../core/errors.ts';
import type { Content } from '../../core/tool.ts';
import { unreadable, type Opened } from '../../machine/paths/opened.ts';
import { codeOf } from '../../machine/paths/real-path.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { byteRange, bytesOf, lastLines, linesFrom, type Excerpt, type WantedLines } from './excerpt.ts';
import type { KnownFile, KnownFiles } from '../known-files.ts';
import type { Search } from './line-index.ts';
import { notebookText } from './notebook.ts';
import { fill, type TextFile } from './text-source.ts';
import { encodingOf, imageType } from '../text/text-file.ts';
import { sameVersion, settled, versionOf, type Version } from '../unchanged.ts';

/** What a caller wants to see of a file. */
export interface Wanted extends WantedLines {
  readonly path: string;
  readonly offset?: number | undefined;
  readonly tail?: number | undefined;
  readonly bytes?: { readonly from: number; readonly count: number } | undefined;
  readonly encoding?: string | undefined;
}

/** What the tools that read need of a call and of the server. */
export interface Reading extends Search {
  readonly known: KnownFiles;
}

/** What is shown whole or not at all. */
interface Media {
  readonly what: 'an image' | 'a PDF document';
  readonly mimeType: string;
}

/** What a file has to show. */
export type FileContent =
  | { readonly kind: 'text'; readonly excerpt: Excerpt; readonly notes: readonly string[] }
  | ({ readonly kind: 'media' } & Media);

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
export async function contentOf(opened: Opened, wanted: Wanted, reading: Reading): Promise<FileContent> {
  try {
    return await looked(opened, wanted, reading);
  } catch (error) {
    return refuse(wanted.path)(error);
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
      most < mediaBytes && size <= mediaBytes ? 'read_file shows it by itself.' : '',
    );
  const bytes = await fill(handle, Buffer.allocUnsafe(size), 0).catch(refuse(name));
  const base64 = bytes.toString('base64');
  if (mimeType.startsWith('image/')) return [{ type: 'image', data: base64, mimeType }];
  return [
    { type: 'text', text: `[${shownPath(name)}: ${what}, ${bytesOf(bytes.length)}]` },
    { type: 'resource', resource: { uri: pathToFileURL(path).href, mimeType, blob: base64 } },
  ];
}

async function looked(opened: Opened, wanted: Wanted, reading: Reading): Promise<FileContent> {
  const seenAt = Date.now();
  const asNotebook =
    wanted.bytes === undefined &&
    wanted.encoding === undefined &&
    opened.path.toLowerCase().endsWith('.ipynb');
  const head = await headOf(opened, asNotebook ? notebookBytes : wholeBytes);
  const media = wanted.encoding === undefined ? mediaOf(head) : undefined;
  if (media) return { kind: 'media', ...media };
  const file = textFile(opened, head, wanted);
  const shown = asNotebook ? asText(file) : { file, notes: [] };
  const excerpt = await excerptOf(shown.file, wanted, reading);
  // What a part of it was shown in for want of something better says nothing about the file.
  const { label } = file.encoding;
  await remember(
    opened,
    { head, seenAt, encoding: label === 'utf-8' ? wanted.encoding : label },
    reading.known,
  );
  const mark = shown.file.encoding.mark > 0 ? [`${file.encoding.label} with byte order mark`] : [];
  return { kind: 'text', excerpt, notes: [...shown.notes, ...mark] };
}

/** All of a small file, and the beginning of a large one. */
async function headOf({ handle, stat: { size } }: Opened, most: number): Promise<Buffer> {
  // A size of 0 is also said of files that are made while they are read.
  return fill(handle, Buffer.allocUnsafe(size > 0 && size <= most ? size : headBytes), 0);
}

function mediaOf(head: Buffer): Media | undefined {
  const mimeType = imageType(head);
  if (mimeType) return { what: 'an image', mimeType };
  return head.subarray(0, 5).equals(pdfSignature)
    ? { what: 'a PDF document', mimeType: 'application/pdf' }
    : undefined;
}

const pdfSignature = Buffer.from('%PDF-');

function textFile({ handle, stat }: Opened, head: Buffer, wanted: Wanted): TextFile {
  const name = shownPath(wanted.path);
  const { encoding } = encodingOf(head, name, wanted.encoding, stat.size);
  return { name, size: Math.max(stat.size, head.length), stat, encoding, head, handle };
}

/** A notebook in the form that people see, where it can be made. */
function asText(file: TextFile): { file: TextFile; notes: string[] } {
  if (file.head.length < file.size)
    return { file, notes: [`a notebook of more than ${bytesOf(notebookBytes)}, shown as its JSON`] };
  const text = notebookText(file.head.toString('utf8', file.encoding.mark));
  if (text === undefined) return { file, notes: ['no notebook that is understood, shown as it is'] };
  const head = Buffer.from(text);
  const encoding = { label: 'utf-8', mark: 0, unit: 1 } as const;
  return {
    file: { ...file, encoding, head, size: head.length },
    notes: ['a notebook shown as text; edits work on its JSON, which bytes shows'],
  };
}

function excerptOf(file: TextFile, wanted: Wanted, reading: Reading): Promise<Excerpt> {
  if (file.size <= file.encoding.mark) return Promise.resolve(nothing);
  if (wanted.bytes) return byteRange(file, wanted.bytes);
  return wanted.tail === undefined
    ? linesFrom(file, wanted.offset ?? 1, wanted, reading)
    : lastLines(file, wanted.tail, wanted, reading);
}

const nothing: Excerpt = {
  length: 0,
  fit: () => ({ text: '', notes: ['the file is empty'] }),
};

interface Seen {
  readonly head: Buffer;
  readonly seenAt: number;
  readonly encoding: string | undefined;
}

/** Registers a text as read: with its hash, when all of it was and nobody wrote to it meanwhile. */
async function remember(
  { handle, path, stat }: Opened,
  { head, seenAt, encoding }: Seen,
  known: KnownFiles,
): Promise<void> {
  const whole = head.length === stat.size && sameVersion(stat, await handle.stat());
  known.remember(path, {
    stat: versionOf(stat),
    seenAt,
    encoding,
    ...(unchangedContent(known.get(path), stat) ?? (whole ? contentIn(head) : {})),
  });
}

const contentIn = (bytes: Buffer) => ({ hash: hash('sha256', bytes, 'hex'), bytes });

/**
 * What is known of the content: to hash 1 MB takes longer than all else, so what has not changed is not hashed again.
 */
function unchangedContent(earlier: KnownFile | undefined, stat: Version) {
  if (!earlier?.hash || !sameVersion(earlier.stat, stat) || !settled(stat, earlier.seenAt)) return undefined;
  return { hash: earlier.hash, bytes: earlier.bytes };
}

/** A failing disk, or a mounted folder whose server is gone. */
const refuse =
  (name: string) =>
  (error: unknown): never => {
    if (error instanceof ToolcribError) throw error;
    throw unreadable(name, codeOf(error));
  };
