import { ToolcribError } from '../../core/errors.ts';

/** What is meant by the name of an encoding. */
export interface NamedEncoding {
  /** As TextDecoder calls it. */
  readonly label: string;
  /** Whether the name asks for a byte order mark. */
  readonly marked: boolean;
}

/** Encodings in which a character can have several bytes, beside those of Unicode; iconv-lite knows them by the same names. */
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
  'x-mac-cyrillic',
  'windows-874',
  ...[2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15].map((part) => `iso-8859-${part}`),
  ...[0, 1, 2, 3, 4, 5, 6, 7, 8].map((page) => `windows-125${page}`),
];

/** Names that people and programs use (`file`, Python, Windows, Vim), without marks between their parts. */
const otherNames: Readonly<Record<string, string>> = {
  // What `file` says of a file without other characters: UTF-8 is the same there.
  ascii: 'utf-8',
  usascii: 'utf-8',
  utf8sig: 'utf-8',
  utf8bom: 'utf-8',
  utf16: 'utf-16le',
  ucs2: 'utf-16le',
  // As in the WHATWG standard, and so for TextDecoder.
  latin1: 'windows-1252',
  iso88591: 'windows-1252',
  iso88599: 'windows-1254',
  iso885911: 'windows-874',
  latin2: 'iso-8859-2',
  latin5: 'windows-1254',
  latin9: 'iso-8859-15',
  ansi: 'windows-1252',
  gb2312: 'gbk',
  cp936: 'gbk',
  sjis: 'shift_jis',
  cp932: 'shift_jis',
  ms932: 'shift_jis',
  windows31j: 'shift_jis',
  cp949: 'euc-kr',
  uhc: 'euc-kr',
  cp950: 'big5',
  big5hkscs: 'big5',
  koi8: 'koi8-r',
  cp866: 'ibm866',
  macroman: 'macintosh',
  tis620: 'windows-874',
};

const squeezed = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** The encoding a person means. Throws ARG_INVALID with the nearest name it knows. */
export function namedEncoding(name: string): NamedEncoding {
  const short = squeezed(name);
  const label =
    otherNames[short] ??
    labels.find((label) => squeezed(label) === short) ??
    labels.find((label) => squeezed(label) === short.replace(/^(cp|win)(?=125\d$|874$)/, 'windows')) ??
    knownElsewhere(name);
  if (label !== undefined) return { label, marked: /^(utf8(sig|bom)|utf16)$/.test(short) };
  const nearest = nearestName(short);
  throw new ToolcribError(
    'ARG_INVALID',
    `encoding: “${name.slice(0, 40)}” is not known.`,
    nearest === undefined
      ? 'Known are utf-8, utf-16le, windows-1252, gbk, shift_jis and others by their usual names.'
      : `Did you mean ${nearest}?`,
  );
}

function knownElsewhere(name: string): string | undefined {
  try {
    const { encoding } = new TextDecoder(name);
    return labels.includes(encoding) ? encoding : undefined;
  } catch {
    return undefined;
  }
}

function nearestName(short: string): string | undefined {
  const names = [...labels, ...Object.keys(otherNames)];
  const [best] = names
    .map((name) => ({ name, distance: distance(squeezed(name), short.slice(0, 40)) }))
    .sort((one, other) => one.distance - other.distance);
  return best && best.distance <= 3 && best.distance < short.length ? best.name : undefined;
}

/** How many characters have to be put in, left out or replaced (Levenshtein). */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [line, character] of [...one].entries()) {
    const next = [line + 1];
    for (let at = 0; at < other.length; at++) {
      const replaced = (row[at] ?? 0) + (other[at] === character ? 0 : 1);
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
