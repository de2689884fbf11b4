import { hash } from 'node:crypto';
import { ToolcribError } from '../../../core/errors.ts';
import type { Content } from '../../../core/tool.ts';
import { shownText } from '../../../machine/decode.ts';
import { unreadable, type OpenedFile } from '../../../machine/paths/opened.ts';
import { codeOf } from '../../../machine/paths/real-path.ts';
import { refusal, displayPath } from '../../../machine/paths/display-path.ts';
import { versionOf, type KnownFile, type KnownFiles, type LineMark } from '../../../machine/known-files.ts';
import { bracketed, bytesOf } from '../wording.ts';
import { encodingOf, type Encoding } from '../text/encoding.ts';
import { excerptOf, type ExcerptRequest, type TextFile } from './excerpt.ts';
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
/** Up to this size a text in another encoding is decoded. */
const decodedBytes = 32 * 1024 * 1024;

/**
 * What a file that has been opened has to show; a text is remembered as read. Throws ENCODING for what can
 * not be shown, TOO_LARGE for an image or document of more bytes than may be shown, and what excerptOf()
 * throws.
 */
export async function contentOf(
  opened: OpenedFile,
  request: ReadRequest,
  known: KnownFiles,
): Promise<Content[]> {
  const { handle, stat, path } = opened;
  const isNotebook = request.encoding === undefined && path.toLowerCase().endsWith('.ipynb');
  try {
    const most = isNotebook ? notebookBytes : wholeBytes;
    // A size of 0 is also said of files that are made while they are read.
    const head = await handle.read(0, stat.size > 0 && stat.size <= most ? stat.size : headBytes);
    const media = request.encoding === undefined ? mediaOf(head) : undefined;
    if (media) return await mediaContent(opened, media, request.path, request.media ?? mediaBytes);
    const name = displayPath(request.path);
    const encoding = encodingOf(head, name, request.encoding, stat.size);
    const { label, mark } = encoding;
    const cells = isNotebook ? notebookIn(opened, head.toString('utf8', mark), name) : undefined;
    const file =
      cells === undefined
        ? await textFile(opened, head, { name, encoding, marks: marksIn(opened, known) })
        : inMemory(name, Buffer.from(cells));
    const excerpt = await excerptOf(file, request);
    const shown = label === 'utf-8' ? undefined : label;
    await remember(opened, head, { encoding: shown, ...(!file.isWhole && { marks: file.marks }) }, known);
    const how =
      cells === undefined
        ? 'no notebook that is understood, shown as it is'
        : 'a notebook shown as text; edits work on its JSON, which encoding utf-8 shows';
    const marked = mark > 0 && !isNotebook ? `${label} with byte order mark` : '';
    const notes = [...excerpt.notes, isNotebook ? how : '', marked].filter(Boolean);
    const isOpen = notes.length > 0 && excerpt.text !== '' && !excerpt.text.endsWith('\n');
    return [{ type: 'text', text: excerpt.text + (isOpen ? '\n' : '') + bracketed(notes).join('') }];
  } catch (error) {
    // A failing disk, or a mounted folder whose server is gone.
    throw error instanceof ToolcribError ? error : unreadable(request.path, codeOf(error));
  }
}

/** Those of the same content. */
function marksIn({ path, stat }: OpenedFile, known: KnownFiles): LineMark[] {
  const file = known.get(path);
  return (file?.version === versionOf(stat) && file.marks) || [];
}

const inMemory = (name: string, bytes: Buffer): TextFile => ({
  name,
  size: bytes.length,
  start: 0,
  marks: [],
  isWhole: true,
  read: async (position, count) => bytes.subarray(position, position + count),
});

/** What is not in UTF-8 is decoded whole. */
async function textFile(
  { handle, stat: { size } }: OpenedFile,
  head: Buffer,
  { name, encoding, marks }: Pick<TextFile, 'name' | 'marks'> & { readonly encoding: Encoding },
): Promise<TextFile> {
  const { label, mark } = encoding;
  const isWhole = head.length >= size;
  if (label !== 'utf-8') {
    if (size > decodedBytes)
      throw refusal('TOO_LARGE', name, `has ${bytesOf(size)} in ${label}.`, 'grep shows what matches in it.');
    const bytes = isWhole ? head : await handle.read(0, size);
    return inMemory(name, Buffer.from(shownText(bytes.subarray(mark), label)));
  }
  if (isWhole) return inMemory(name, head.subarray(mark));
  const read = (position: number, count: number, buffer?: Buffer) =>
    handle.read(position, Math.max(0, Math.min(count, size - position)), buffer);
  return { name, size, start: mark, marks, isWhole, read };
}

/** A notebook in the form that people see; undefined where it is none, and shown as the text that it is. */
function notebookIn({ stat }: OpenedFile, json: string, name: string): string | undefined {
  const wayOut = 'encoding utf-8 shows its JSON.';
  if (stat.size > notebookBytes)
    throw refusal('TOO_LARGE', name, `is a notebook of more than ${bytesOf(notebookBytes)}.`, wayOut);
  return notebookText(json);
}

/** Registers a text as read: with its hash, when all of it was and nobody wrote to it meanwhile. */
async function remember(
  { handle, path, stat }: OpenedFile,
  head: Buffer,
  facts: Pick<KnownFile, 'encoding' | 'marks'>,
  known: KnownFiles,
): Promise<void> {
  const version = versionOf(stat);
  const isWhole = head.length === stat.size && version === versionOf(await handle.stat());
  const content = isWhole ? { hash: hash('sha256', head, 'hex'), bytes: head } : {};
  known.remember(path, { version, ...facts, ...content });
}
