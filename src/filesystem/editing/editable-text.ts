import { isUtf8 } from 'node:buffer';
import { ToolcribError } from '../../core/errors.ts';
import { encodeExactly } from '../text/encode.ts';
import { multiByte } from '../text/encoding-name.ts';
import {
  binaryKind,
  encodingOf,
  isBinary,
  markOf,
  mostlyUtf8,
  shownText,
  unknownEncoding,
} from '../text/encoding.ts';

/**
 * The text of a file in a form that becomes exactly its bytes again. Where a character is found by its bytes (UTF-8,
 * also with some that are broken, and encodings of one byte), each character of the form stands for a byte; in other
 * encodings for itself.
 */
export interface EditableText {
  /** Without a byte order mark. */
  readonly form: string;
  /** As TextDecoder calls it. */
  readonly label: string;
  readonly notes: readonly string[];
  /** Whether characters that are not ASCII cannot be added: nobody knows in which encoding. */
  readonly asciiOnly: boolean;
  /** A text in this form; `what` names it in errors. Throws what encodeExactly() throws. */
  encode(text: string, what: string): Promise<string>;
  /** A part of the form as people see it. */
  show(part: string): string;
  /** The bytes of the whole file for a form that was changed. */
  bytesOf(form: string): Promise<Buffer>;
}

/**
 * A whole file as text that can be edited. Throws what encodingOf() throws, and ENCODING also for what is no text, and
 * for bytes that are no characters of the encoding.
 */
export async function editableText(bytes: Buffer, path: string, name?: string): Promise<EditableText> {
  const { label, mark, unit } = encodingOf(bytes, path, name);
  // A text can begin with the letters of a signature.
  const isPlain = isUtf8(bytes) && !bytes.includes(0);
  if (!isPlain && (binaryKind(bytes) !== 'binary data' || (unit === 1 && isBinary(bytes))))
    throw unknownEncoding(bytes, path);
  const body = bytes.subarray(mark);
  const isBroken = label === 'utf-8' && !isPlain && !isUtf8(bytes);
  const notes = isBroken ? ['not all of it is UTF-8; edited as bytes'] : [];
  if (label !== 'utf-8') notes.push(`encoding ${label}`);
  const facts = { label, notes, asciiOnly: isBroken && !mostlyUtf8(bytes) };
  const withMark = (content: Buffer) => (mark > 0 ? Buffer.concat([markOf(label), content]) : content);
  if (unit === 1 && !multiByte.has(label))
    return {
      ...facts,
      form: body.toString('latin1'),
      encode: async (text, what) => (await encodeExactly(text, label, what)).toString('latin1'),
      show: (part) => shownText(Buffer.from(part, 'latin1'), label),
      bytesOf: async (form) => withMark(Buffer.from(form, 'latin1')),
    };
  const { default: iconv } = await import('iconv-lite');
  // Halves of pairs and further marks have to stay, which TextDecoder takes away.
  const form = unit === 2 ? iconv.decode(body, label, { stripBOM: false }) : shownText(body, label);
  if (!iconv.encode(form, label).equals(body)) throw notIn(label, path, unit);
  return {
    ...facts,
    form,
    encode: async (text, what) => (await encodeExactly(text, label, what), text),
    show: (part) => part,
    bytesOf: async (changed) => withMark(iconv.encode(changed, label)),
  };
}

function notIn(label: string, path: string, unit: number): ToolcribError {
  const why = unit === 2 ? 'it has an odd number of bytes' : 'some of its bytes are no characters there';
  return new ToolcribError(
    'ENCODING',
    `${path}: is not text in ${label}: ${why}.`,
    'Name its real encoding, or have it repaired first.',
  );
}
