import { ToolcribError } from '../../core/errors.ts';

/** What is meant by the name of an encoding. */
interface NamedEncoding {
  /** As TextDecoder, ripgrep and iconv-lite call it. */
  readonly label: string;
  /** Whether the name asks for a byte order mark. */
  readonly marked: boolean;
}

/** Encodings in which a character can have several bytes, beside those of Unicode. */
export const multiByte: ReadonlySet<string> = new Set([
  'gbk',
  'gb18030',
  'shift_jis',
  'euc-jp',
  'euc-kr',
  'big5',
]);

/** What iconv-lite has as well. */
const supported = /^(?:utf-(?:8|16[lb]e)|ibm866|koi8-[ru]|macintosh|windows-\d+|iso-8859-\d+)$/;

/** Names that people and programs use and TextDecoder does not know, or understands in another way. */
const aliases: ReadonlyMap<string, string> = new Map([
  // What `file` says of a file without other characters: UTF-8 is the same there.
  ...['ascii', 'us-ascii', 'utf-8-sig', 'utf-8-bom'].map((name) => [name, 'utf-8'] as const),
  ['latin-1', 'windows-1252'],
  ['cp932', 'shift_jis'],
  ['cp936', 'gbk'],
  ['cp949', 'euc-kr'],
  ['cp950', 'big5'],
]);

/** The encoding a person means. Throws ARG_INVALID. */
export function namedEncoding(name: string): NamedEncoding {
  const dashed = name.toLowerCase().replaceAll('_', '-');
  const label = whatwg(aliases.get(dashed) ?? name) ?? whatwg(dashed);
  if (label !== undefined) return { label, marked: /^utf-(?:8-(?:sig|bom)|16)$/.test(dashed) };
  throw new ToolcribError(
    'ARG_INVALID',
    `encoding: “${name.slice(0, 40)}” is not known.`,
    'Known are utf-8, utf-16le, windows-1252, gbk, shift_jis and others by their usual names.',
  );
}

function whatwg(name: string): string | undefined {
  try {
    const { encoding } = new TextDecoder(name);
    return supported.test(encoding) || multiByte.has(encoding) ? encoding : undefined;
  } catch {
    // RangeError: it is none.
    return undefined;
  }
}
