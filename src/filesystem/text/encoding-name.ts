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

const labels = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  ...multiByte,
  'ibm866',
  'koi8-r',
  'koi8-u',
  'macintosh',
  'windows-874',
  ...[2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15].map((part) => `iso-8859-${part}`),
  ...[0, 1, 2, 3, 4, 5, 6, 7, 8].map((page) => `windows-125${page}`),
];

const squeezed = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** Names that people and programs use and TextDecoder does not know, without marks between their parts. */
const known = new Map([
  ...labels.map((label) => [squeezed(label), label] as const),
  // What `file` says of a file without other characters: UTF-8 is the same there.
  ...['ascii', 'usascii', 'utf8sig', 'utf8bom'].map((name) => [name, 'utf-8'] as const),
  ...['utf16', 'ucs2'].map((name) => [name, 'utf-16le'] as const),
  ...['latin1', 'iso88591', 'ansi'].map((name) => [name, 'windows-1252'] as const),
  ...['latin5', 'iso88599'].map((name) => [name, 'windows-1254'] as const),
  ...['tis620', 'iso885911', 'cp874'].map((name) => [name, 'windows-874'] as const),
  ...['cp932', 'ms932', 'windows31j'].map((name) => [name, 'shift_jis'] as const),
  ...['cp949', 'uhc', 'eucjp'].map((name) => [name, name === 'eucjp' ? 'euc-jp' : 'euc-kr'] as const),
  ...['cp950', 'big5hkscs'].map((name) => [name, 'big5'] as const),
  ...['gb2312', 'cp936'].map((name) => [name, 'gbk'] as const),
  ['latin2', 'iso-8859-2'],
  ['latin9', 'iso-8859-15'],
  ['macroman', 'macintosh'],
]);

/** The encoding a person means. Throws ARG_INVALID with the nearest name it knows. */
export function namedEncoding(name: string): NamedEncoding {
  const short = squeezed(name);
  const label =
    known.get(short) ?? known.get(short.replace(/^(cp|win)(?=125\d$)/, 'windows')) ?? whatwg(name);
  if (label !== undefined) return { label, marked: /^(utf8(sig|bom)|utf16)$/.test(short) };
  const meant = nearest(name.slice(0, 40).toLowerCase(), labels);
  throw new ToolcribError(
    'ARG_INVALID',
    `encoding: “${name.slice(0, 40)}” is not known.`,
    meant === undefined
      ? 'Known are utf-8, utf-16le, windows-1252, gbk, shift_jis and others by their usual names.'
      : `Did you mean ${meant}?`,
  );
}

function whatwg(name: string): string | undefined {
  try {
    const { encoding } = new TextDecoder(name);
    return labels.includes(encoding) ? encoding : undefined;
  } catch {
    return undefined;
  }
}
