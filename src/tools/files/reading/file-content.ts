import { hash } from 'node:crypto';
import { ToolcribError } from '../../../core/errors.ts';
import type { Content } from '../../../core/tool.ts';
import { shownText } from '../../../machine/decode.ts';
import { unreadable, type OpenedFile } from '../../../machine/paths/opened.ts';
import { codeOf } from '../../../machine/paths/real-path.ts';
import { refusal, displayPath } from '../../../machine/paths/display-path.ts';
import { versionOf, type KnownFile, type KnownFiles, type LineMark } from '../../../machine/known-files.ts';
import { inBrackets, formatBytes } from '../wording.ts';
import { encodingOf, type Encoding } from '../text/encoding.ts';
import { readExcerpt, type ExcerptRequest, type TextFile } from './excerpt.ts';
import { mediaBytes, mediaContent, detectMedia } from './media.ts';
import { notebookText } from './notebook.ts';

/** The part of a file that a caller wants to see. */
interface ReadRequest extends ExcerptRequest {
  readonly path: string;
  readonly encoding?: string | undefined;
  /** Bytes that an image or document may have at most. */
  readonly media?: number | undefined;
}

/** Bytes of a file that is read whole, so that its hash is known. */
const wholeBytes = 1024 * 1024;
const headBytes = 64 * 1024;
const notebookBytes = 5 * 1024 * 1024;
/** Bytes of a text in another encoding than UTF-8, which is decoded whole. */
const decodedBytes = 32 * 1024 * 1024;

/**
 * Reads the content of an opened file, and remembers a text as read. Throws ENCODING for a file that cannot
 * be shown, TOO_LARGE for an image or document of too many bytes, and what readExcerpt() throws.
 */
export async function readContent(
  opened: OpenedFile,
  request: ReadRequest,
  knownFiles: KnownFiles,
): Promise<Content[]> {
  const { handle, stat, path } = opened;
  const isNotebook = request.encoding === undefined && path.toLowerCase().endsWith('.ipynb');
  try {
    const most = isNotebook ? notebookBytes : wholeBytes;
    // Files that the system makes while they are read have a size of 0, too.
    const head = await handle.read(0, stat.size > 0 && stat.size <= most ? stat.size : headBytes);
    const media = request.encoding === undefined ? detectMedia(head) : undefined;
    if (media) return await mediaContent(opened, media, request.path, request.media ?? mediaBytes);
    const name = displayPath(request.path);
    const encoding = encodingOf(head, name, request.encoding, stat.size);
    const { label, mark } = encoding;
    const cells = isNotebook ? renderNotebook(opened, head.toString('utf8', mark), name) : undefined;
    const file =
      cells === undefined
        ? await textFile(opened, head, { name, encoding, marks: knownMarks(opened, knownFiles) })
        : inMemory(name, Buffer.from(cells));
    const excerpt = await readExcerpt(file, request);
    const otherEncoding = label === 'utf-8' ? undefined : label;
    const facts = { encoding: otherEncoding, ...(!file.isWhole && { marks: file.marks }) };
    await remember(opened, head, facts, knownFiles);
    const notebookNote =
      cells === undefined
        ? 'no notebook that is understood, shown as it is'
        : 'a notebook shown as text; edits work on its JSON, which encoding utf-8 shows';
    const markNote = mark > 0 && !isNotebook ? `${label} with byte order mark` : '';
    const notes = [...excerpt.notes, isNotebook ? notebookNote : '', markNote].filter(Boolean);
    const needsLineEnd = notes.length > 0 && excerpt.text !== '' && !excerpt.text.endsWith('\n');
    return [{ type: 'text', text: excerpt.text + (needsLineEnd ? '\n' : '') + inBrackets(notes).join('') }];
  } catch (error) {
    // Such an error comes from a failing disk, or from a network drive whose server is gone.
    throw error instanceof ToolcribError ? error : unreadable(request.path, codeOf(error));
  }
}

/** The line marks of a file that has not changed since they were found; none otherwise. */
function knownMarks({ path, stat }: OpenedFile, knownFiles: KnownFiles): LineMark[] {
  const file = knownFiles.get(path);
  return (file?.version === versionOf(stat) && file.marks) || [];
}

/** A text that is in memory as a whole. */
const inMemory = (name: string, bytes: Buffer): TextFile => ({
  name,
  size: bytes.length,
  start: 0,
  marks: [],
  isWhole: true,
  read: async (position, count) => bytes.subarray(position, position + count),
});

/** The text of an opened file; in another encoding than UTF-8, it is decoded whole. */
async function textFile(
  { handle, stat: { size } }: OpenedFile,
  head: Buffer,
  { name, encoding, marks }: Pick<TextFile, 'name' | 'marks'> & { readonly encoding: Encoding },
): Promise<TextFile> {
  const { label, mark } = encoding;
  const isWhole = head.length >= size;
  if (label !== 'utf-8') {
    if (size > decodedBytes)
      throw refusal(
        'TOO_LARGE',
        name,
        `has ${formatBytes(size)} in ${label}.`,
        'grep shows what matches in it.',
      );
    const bytes = isWhole ? head : await handle.read(0, size);
    return inMemory(name, Buffer.from(shownText(bytes.subarray(mark), label)));
  }
  if (isWhole) return inMemory(name, head.subarray(mark));
  const read = (position: number, count: number, buffer?: Buffer) =>
    handle.read(position, Math.max(0, Math.min(count, size - position)), buffer);
  return { name, size, start: mark, marks, isWhole, read };
}

/**
 * The cells of a notebook as text; undefined when it is not a notebook, and shown as plain text. Throws
 * TOO_LARGE.
 */
function renderNotebook({ stat }: OpenedFile, json: string, name: string): string | undefined {
  const wayOut = 'encoding utf-8 shows its JSON.';
  if (stat.size > notebookBytes)
    throw refusal('TOO_LARGE', name, `is a notebook of more than ${formatBytes(notebookBytes)}.`, wayOut);
  return notebookText(json);
}

/** Remembers a text as read; with its hash, if all of it was read and nobody has written to it meanwhile. */
async function remember(
  { handle, path, stat }: OpenedFile,
  head: Buffer,
  facts: Pick<KnownFile, 'encoding' | 'marks'>,
  knownFiles: KnownFiles,
): Promise<void> {
  const version = versionOf(stat);
  const isWhole = head.length === stat.size && version === versionOf(await handle.stat());
  const content = isWhole ? { hash: hash('sha256', head, 'hex'), bytes: head } : {};
  knownFiles.remember(path, { version, ...facts, ...content });
}
