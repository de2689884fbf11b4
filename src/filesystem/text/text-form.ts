import { namedEncoding } from './encoding-name.ts';
import { encodeExactly } from './exact-encoding.ts';
import { endsLinesWithCrlf } from './line-endings.ts';
import { encodingIn, encodingToShow, markOf, type Encoding } from './text-file.ts';

/** The content of a whole file. */
interface EncodedText {
  readonly bytes: Buffer;
  /** As TextDecoder calls it. */
  readonly encoding: string;
  /** What was done to the text, and is not seen in it. */
  readonly notes: readonly string[];
}

interface How {
  /** The file that it replaces: its encoding, byte order mark and line endings are kept. */
  readonly like?: Buffer;
  /** What the caller calls the encoding. */
  readonly encoding?: string;
}

/**
 * A text as the content of a whole file. Throws ENCODING with the character the encoding lacks, and ARG_INVALID for
 * half a character and for a name that is not known.
 */
export async function encodeText(text: string, { like, encoding: name }: How): Promise<EncodedText> {
  const notes: string[] = [];
  const { label, mark } = encodingLike(like, name, notes);
  const marked = mark || (text.startsWith('\ufeff') && markOf(label).length > 0);
  let body = marked && text.startsWith('\ufeff') ? text.slice(1) : text;
  if (like && endsLinesWithCrlf(like, label) && body.includes('\n') && !body.includes('\r')) {
    body = body.replaceAll('\n', '\r\n');
    notes.push('lines end with CRLF, as in the file before');
  }
  const encoded = await encodeExactly(body, label, 'content');
  return { bytes: marked ? Buffer.concat([markOf(label), encoded]) : encoded, encoding: label, notes };
}

function encodingLike(like: Buffer | undefined, name: string | undefined, notes: string[]) {
  const named = name === undefined ? undefined : namedEncoding(name);
  const old = like && like.length > 0 ? encodingBefore(like, named?.label) : undefined;
  const label = named?.label ?? old?.label ?? 'utf-8';
  if (old && old.label !== label) notes.push(`was ${old.label}, now ${label}`);
  else if (label !== 'utf-8') notes.push(`encoding ${label}`);
  // Without its mark UTF-16 is recognised by hardly any program.
  const asked = named?.marked === true || (old?.label !== label && label.startsWith('utf-16'));
  const mark = old?.label === label && old.mark > 0 ? true : asked;
  if (mark) notes.push('with byte order mark');
  return { label, mark };
}

/** A name decides between encodings that cannot be told apart for certain; UTF-8 and a byte order mark can. */
function encodingBefore(like: Buffer, named: string | undefined): Encoding | undefined {
  const found = encodingToShow(like);
  if (named === undefined || !found || found.mark > 0 || found.unit === 2) return found;
  const certain = found.label === 'utf-8' || named === 'utf-8';
  return certain && like.some((byte) => byte >= 0x80) ? found : encodingIn(like, named);
}
