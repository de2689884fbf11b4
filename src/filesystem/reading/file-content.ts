import { hash } from 'node:crypto';
import { ToolcribError } from '../../core/errors.ts';
import type { Content } from '../../core/tool.ts';
import { shownText } from '../../machine/decode.ts';
import { unreadable, type Opened } from '../../machine/paths/opened.ts';
import { codeOf } from '../../machine/paths/real-path.ts';
import { refusal, shownPath } from '../../machine/paths/shown-path.ts';
import { versionOf, type KnownFile, type KnownFiles } from '../known-files.ts';
import { bracketed, bytesOf } from '../shown.ts';
import { encodingOf, isWide, type Encoding } from '../text/encoding.ts';
import { excerptOf, type ExcerptRequest, type LinePlace, type TextFile } from './excerpt.ts';
import { mediaBytes, mediaContent, mediaOf } from './media.ts';
import { notebookText } from './notebook.ts';

/** What a caller wants to see of a file. */
interface ReadRequest extends ExcerptRequest {
  readonly path: string;
  readonly encoding?: string | undefined;
  /** Bytes that an image or document may have. */
  readonly media?: number | undefined;
}

/** Up to this size a file is read whole, and its hash is known. */
const wholeBytes = 1024 * 1024;
const headBytes = 64 * 1024;
const notebookBytes = 5 * 1024 * 1024;
/** Up to this size a text is decoded whole where its lines cannot be told by a byte. */
const wideBytes = 32 * 1024 * 1024;

/**
 * What a file that has been opened has to show; a text is remembered as read. Throws ENCODING for what can not be
 * shown, TOO_LARGE for an image or document of more bytes than may be shown, and what excerptOf() throws.
 */
export async function contentOf(opened: Opened, request: ReadRequest, known: KnownFiles): Promise<Content[]> {
  const { handle, stat, path } = opened;
  const isNotebook = request.encoding === undefined && path.toLowerCase().endsWith('.ipynb');
  try {
    const most = isNotebook ? notebookBytes : wholeBytes;
    // A size of 0 is also said of files that are made while they are read.
    const head = await handle.read(0, stat.size > 0 && stat.size <= most ? stat.size : headBytes);
    const media = request.encoding === undefined ? mediaOf(head) : undefined;
    if (media) return await mediaContent(opened, media, request.path, request.media ?? mediaBytes);
    const name = shownPath(request.path);
    const encoding = encodingOf(head, name, request.encoding, stat.size);
    const { file, notes } = isNotebook
      ? notebookFile(opened, head, name, encoding)
      : { file: await textFile(opened, head, name, encoding, seenIn(opened, known)), notes: [] };
    const excerpt = await excerptOf(file, request);
    const label = encoding.label === 'utf-8' ? request.encoding : encoding.label;
    await remember(opened, head, { encoding: label, ...(file.isWhole ? {} : { seen: file.seen }) }, known);
    const mark = encoding.mark > 0 && !isNotebook ? [`${encoding.label} with byte order mark`] : [];
    const all = [...excerpt.notes, ...notes, ...mark];
    const isOpen = all.length > 0 && excerpt.text !== '' && !excerpt.text.endsWith('\n');
    return [{ type: 'text', text: excerpt.text + (isOpen ? '\n' : '') + bracketed(all).join('') }];
  } catch (error) {
    // A failing disk, or a mounted folder whose server is gone.
    throw error instanceof ToolcribError ? error : unreadable(request.path, codeOf(error));
  }
}

/** Where a line begins that was shown of the same content. */
function seenIn({ path, stat }: Opened, known: KnownFiles): LinePlace | undefined {
  const file = known.get(path);
  return file?.version === versionOf(stat) ? file.seen : undefined;
}

const inMemory = (name: string, label: string, bytes: Buffer, start = 0): TextFile => ({
  name,
  label,
  size: bytes.length,
  start,
  seen: { line: 1, start },
  isWhole: true,
  read: async (position, count) => bytes.subarray(position, position + count),
});

async function textFile(
  { handle, stat: { size } }: Opened,
  head: Buffer,
  name: string,
  { label, mark }: Encoding,
  seen: LinePlace = { line: 1, start: mark },
): Promise<TextFile> {
  const isWhole = head.length >= size;
  if (isWide(label)) {
    if (size > wideBytes)
      throw refusal('TOO_LARGE', name, `has ${bytesOf(size)} in ${label}.`, 'grep shows what matches in it.');
    const bytes = isWhole ? head : await handle.read(0, size);
    return inMemory(name, 'utf-8', Buffer.from(shownText(bytes.subarray(mark), label)));
  }
  if (isWhole) return inMemory(name, label, head, mark);
  const read = (position: number, count: number, buffer?: Buffer) =>
    handle.read(position, Math.max(0, Math.min(count, size - position)), buffer);
  return { name, label, size, start: mark, seen, isWhole, read };
}

/** A notebook in the form that people see, where it can be made. */
function notebookFile({ stat }: Opened, head: Buffer, name: string, { label, mark }: Encoding) {
  const json = inMemory(name, label, head, mark);
  if (head.length < stat.size)
    throw refusal(
      'TOO_LARGE',
      name,
      `is a notebook of more than ${bytesOf(notebookBytes)}.`,
      'encoding utf-8 shows its JSON.',
    );
  const text = notebookText(head.toString('utf8', mark));
  if (text === undefined) return { file: json, notes: ['no notebook that is understood, shown as it is'] };
  return {
    file: inMemory(name, 'utf-8', Buffer.from(text)),
    notes: ['a notebook shown as text; edits work on its JSON, which encoding utf-8 shows'],
  };
}

/** Registers a text as read: with its hash, when all of it was and nobody wrote to it meanwhile. */
async function remember(
  { handle, path, stat }: Opened,
  head: Buffer,
  facts: Pick<KnownFile, 'encoding' | 'seen'>,
  known: KnownFiles,
): Promise<void> {
  const version = versionOf(stat);
  const isWhole = head.length === stat.size && version === versionOf(await handle.stat());
  const content = isWhole ? { hash: hash('sha256', head, 'hex'), bytes: head } : {};
  known.remember(path, { version, ...facts, ...content });
}
