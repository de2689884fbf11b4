import { parseExactly } from '../../core/exact-json.ts';
import { hexOf, shortened } from './cell.ts';

/** Makes a value of what the server wrote for one. */
type Read = (text: string) => unknown;

/**
 * How values of a type are read, by its name as format_type() gives it. Numbers that a double holds exactly come as
 * numbers, JSON as JSON, arrays as lists, bytes in hexadecimal, and all the rest (bigint, numeric, dates) as the text
 * the server wrote. `most` says which values are too long to be kept whole.
 */
export function readerOf(type: string, most: number): (text: string | null) => unknown {
  const read = readers(type, most);
  return (text) => (text === null ? null : read(text));
}

function readers(type: string, most: number): Read {
  // The delimiter of boxes is another one than that of all other types.
  if (type.endsWith('[]') && type !== 'box[]') {
    const item = readerOf(type.slice(0, -2), most);
    return (text) => (text.length > most ? shortened(text, most) : (listOf(text, item) ?? text));
  }
  const read = known[type];
  if (read) return read;
  if (type === 'bytea') return (text) => hexOf(text.slice(2), most);
  if (type === 'json' || type === 'jsonb')
    return (text) => (text.length > most ? shortened(text, most) : jsonOf(text));
  return (text) => shortened(text, most);
}

const number: Read = (text) => (Number.isFinite(Number(text)) ? Number(text) : text);
const known: Readonly<Record<string, Read>> = {
  boolean: (text) => text === 't',
  smallint: number,
  integer: number,
  oid: number,
  real: number,
  'double precision': number,
};

function jsonOf(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    // A server may take what is no JSON to others: a lone surrogate, a depth without end.
    return text;
  }
}

/** The items of an array as PostgreSQL writes it: `{1,NULL,"a \"b\""}`, nested, perhaps with bounds before it. */
function listOf(text: string, item: (text: string | null) => unknown): unknown[] | undefined {
  const tokens = text.slice(text.indexOf('{')).match(/[{},]|"(?:[^"\\]|\\.)*"|[^{},"]+/gs) ?? [];
  let at = 0;
  const list = (): unknown[] | undefined => {
    if (tokens[at++] !== '{') return undefined;
    const items: unknown[] = [];
    while (at < tokens.length && tokens[at] !== '}') {
      const token = tokens[at] ?? '';
      if (token === '{') items.push(list());
      else {
        at++;
        items.push(itemOf(token, item));
      }
      if (tokens[at] === ',') at++;
    }
    return tokens[at++] === '}' ? items : undefined;
  };
  return list();
}

function itemOf(token: string, item: (text: string | null) => unknown): unknown {
  if (token.startsWith('"')) return item(token.slice(1, -1).replaceAll(/\\(.)/gs, '$1'));
  return item(token === 'NULL' ? null : token);
}
