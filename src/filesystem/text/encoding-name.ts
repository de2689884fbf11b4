import { nearest } from '../../core/check-params.ts';
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
const usual = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'windows-1251', 'iso-8859-15', ...multiByte];

/** Names that people and programs use and TextDecoder does not know, or understands in another way. */
const aliases: ReadonlyMap<string, string> = new Map([
  // What `file` says of a file without other characters: UTF-8 is the same there.
  ...['ascii', 'usascii', 'utf8sig', 'utf8bom'].map((name) => [name, 'utf-8'] as const),
  ['cp932', 'shift_jis'],
  ['cp936', 'gbk'],
  ['cp949', 'euc-kr'],
  ['cp950', 'big5'],
  ...[...usual, 'iso-8859-1', 'utf-16'].map((label) => [squeezed(label), label] as const),
]);

/** The encoding a person means. Throws ARG_INVALID with the nearest name it knows. */
export function namedEncoding(name: string): NamedEncoding {
  const short = squeezed(name).replace(/^win(?=125\d$)/, 'windows');
  const label = whatwg(aliases.get(short) ?? name) ?? whatwg(short.replace(/^windows/, 'cp'));
  if (label !== undefined) return { label, marked: /^(utf8(sig|bom)|utf16)$/.test(short) };
  const meant = nearest(name.slice(0, 40).toLowerCase(), usual);
  throw new ToolcribError(
    'ARG_INVALID',
    `encoding: “${name.slice(0, 40)}” is not known.`,
    meant === undefined
      ? 'Known are utf-8, utf-16le, windows-1252, gbk, shift_jis and others by their usual names.'
      : `Did you mean ${meant}?`,
  );
}

function squeezed(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
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
