import { isUtf8 } from 'node:buffer';
import { ToolcribError } from '../../core/errors.ts';
import { multiByte, namedEncoding } from './encoding-name.ts';
import { binaryKind, encodingOf, type Encoding } from './text-file.ts';
import { encodingIn } from './exact-encoding.ts';

/** The beginning of a file by which its encoding is told. Reading and editing have to look at the same. */
export const headBytes = 64 * 1024;
const sampleBytes = 8 * 1024;
/** Below these chardet guesses: of ten characters in an Asian encoding it says 10, of a few letters anything. */
const enoughConfidence = { multiByte: 50, singleByte: 35 };
/** Fewer bytes that are not ASCII say nothing. */
const enoughBytes = 8;

/**
 * How a file that begins with `head` is encoded, as encodingOf() says; where that has only the system's code page to
 * offer, it is told by the frequency of characters. Undefined when it is no text.
 */
export async function detectEncoding(head: Buffer): Promise<Encoding | undefined> {
  const plain = encodingOf(head);
  if (!plain || plain.mark > 0 || plain.unit === 2 || plain.label === 'utf-8') return plain;
  const sample = linesWithOthers(head);
  return { ...plain, label: (await guessed(sample)) ?? plain.label };
}

/** The lines that are not ASCII, for those that are say nothing. */
function linesWithOthers(head: Buffer): Buffer {
  const lines = head.toString('latin1').match(/^[^\n]*[\x80-\xff][^\n]*$/gm) ?? [];
  return Buffer.from(lines.join('\n').slice(0, sampleBytes), 'latin1');
}

async function guessed(sample: Buffer): Promise<string | undefined> {
  const others = sample.filter((byte) => byte >= 0x80).length;
  if (others < enoughBytes) return undefined;
  // Its one export, whether the module was bundled or not.
  const { default: chardet } = await import('chardet');
  for (const { name, confidence } of chardet.analyse(sample)) {
    const label = labelOf(name);
    if (label === undefined || label.startsWith('utf')) continue;
    const enough = multiByte.has(label) ? enoughConfidence.multiByte : enoughConfidence.singleByte;
    if (confidence >= enough) return decodes(sample, label, true) ? narrowest(sample, label) : undefined;
  }
  return undefined;
}

/** GBK where it is enough: a program that reads GBK must be able to read what is added. */
const narrowest = (sample: Buffer, label: string): string =>
  label === 'gb18030' && decodes(sample, 'gbk', true) ? 'gbk' : label;

function labelOf(name: string): string | undefined {
  try {
    return namedEncoding(name).label;
  } catch {
    return undefined;
  }
}

/** Whether bytes are text in an encoding; with `cut` they may end within a character. */
function decodes(bytes: Buffer, label: string, cut = false): boolean {
  try {
    new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(bytes, { stream: cut });
    return true;
  } catch {
    return false;
  }
}

/** How a whole text is encoded, and whether some of its bytes are not: then it is edited as bytes all the same. */
export interface WholeEncoding {
  readonly encoding: Encoding;
  readonly broken: boolean;
}

/**
 * How a whole file is encoded: as the caller says, else as is found out. Throws ENCODING when it is no text, or none in
 * that encoding, and ARG_INVALID for a name that is not known or that the byte order mark contradicts.
 */
export async function wholeEncoding(
  bytes: Buffer,
  path: string,
  name: string | undefined,
): Promise<WholeEncoding> {
  if (name !== undefined) return statedEncoding(bytes, path, namedEncoding(name).label);
  if (isUtf8(bytes) && !bytes.includes(0)) return { encoding: encodingIn(bytes, 'utf-8'), broken: false };
  const encoding = await detectEncoding(bytes.subarray(0, headBytes));
  if (!encoding) throw noText(bytes, path);
  if (encoding.label === 'utf-8') return laterEncoding(bytes, path, encoding);
  return checked(bytes, path, encoding);
}

/** Of a file that begins with UTF-8. When that was ASCII, what comes later tells more. */
async function laterEncoding(bytes: Buffer, path: string, encoding: Encoding): Promise<WholeEncoding> {
  if (isUtf8(bytes)) return { encoding, broken: false };
  const first = bytes.findIndex((byte) => byte >= 0x80);
  if (encoding.mark > 0 || first < headBytes) return { encoding, broken: true };
  const later = await detectEncoding(bytes.subarray(first, first + headBytes));
  if (!later || later.unit === 2 || later.mark > 0 || later.label === 'utf-8')
    return { encoding, broken: true };
  return checked(bytes, path, later);
}

function statedEncoding(bytes: Buffer, path: string, label: string): WholeEncoding {
  const found = ['utf-8', 'utf-16le', 'utf-16be'].find((name) => encodingIn(bytes, name).mark > 0);
  if (found !== undefined && found !== label)
    throw new ToolcribError(
      'ARG_INVALID',
      `encoding: ${path} begins with the byte order mark of ${found}, and is not ${label}.`,
      'Leave encoding out.',
    );
  const encoding = encodingIn(bytes, label);
  // A text can begin with the letters of a signature.
  const plain = isUtf8(bytes) && !bytes.includes(0);
  if (!plain && (binaryKind(bytes) !== 'binary data' || (encoding.unit === 1 && manyNuls(bytes))))
    throw noText(bytes, path);
  if (label === 'utf-8') return { encoding, broken: !isUtf8(bytes) };
  return checked(bytes, path, encoding);
}

const manyNuls = (bytes: Buffer): boolean =>
  bytes.includes(0) && bytes.filter((byte) => byte === 0).length > bytes.length / 10;

/** Throws ENCODING for characters of several bytes that are not whole: a search could hit the second half of one. */
function checked(bytes: Buffer, path: string, encoding: Encoding): WholeEncoding {
  const { label, unit } = encoding;
  const whole = unit === 2 ? bytes.length % 2 === 0 : !multiByte.has(label) || decodes(bytes, label);
  if (whole) return { encoding, broken: false };
  const why = unit === 2 ? 'it has an odd number of bytes' : 'some of its bytes are no characters there';
  throw new ToolcribError(
    'ENCODING',
    `${path}: is not text in ${label}: ${why}.`,
    'Name its real encoding, or have it repaired first.',
  );
}

const noText = (bytes: Buffer, path: string): ToolcribError =>
  new ToolcribError(
    'ENCODING',
    `${path}: is ${binaryKind(bytes)}, ${bytes.length.toLocaleString('en')} bytes, and cannot be edited as text.`,
    'If it is text, name its encoding with encoding.',
  );
