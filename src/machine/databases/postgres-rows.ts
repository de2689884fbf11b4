import { types as driverTypes, type Client, type FieldDef } from 'pg';
import { parseExactly } from '../../core/exact-json.ts';
import { hexOf, shortened } from './cell.ts';
import { within, type Limits, type Table } from './session.ts';

/** The first rows of a cursor, and whether there are more. */
export async function fetchRows(
  client: Client,
  cursor: string,
  most: number,
  limits: Limits,
): Promise<Table> {
  const text = `FETCH FORWARD ${most + 1} FROM ${cursor}`;
  const fetched = client.query<(string | null)[]>({ text, rowMode: 'array' });
  const { fields, rows } = await within(limits.bytes, client.connection.stream, fetched);
  const types = await typesOf(client, fields);
  const readers = types.map((type) => readerOf(type, limits.cell));
  return {
    columns: fields.map(({ name }, at) => ({ name, type: types[at] ?? '' })),
    rows: rows.slice(0, most).map((row) => row.map((cell, at) => readers[at]?.(cell))),
    truncated: rows.length > most,
  };
}

/** The names of the types of columns, with what they are limited to. */
async function typesOf(client: Client, fields: readonly FieldDef[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT pg_catalog.format_type(o, m) AS name FROM ROWS FROM
     (pg_catalog.unnest($1::oid[]), pg_catalog.unnest($2::int4[])) WITH ORDINALITY AS t(o, m, n) ORDER BY n`,
    [fields.map(({ dataTypeID }) => dataTypeID), fields.map(({ dataTypeModifier }) => dataTypeModifier)],
  );
  return rows.map(({ name }) => name);
}

/** Makes a value of what the server wrote for one. */
type Read = (text: string) => unknown;

/** The driver's own, for which its types have another shape than it has. */
const { arrayParser } = driverTypes as unknown as {
  arrayParser: { create(text: string, read: (item: string | null) => unknown): { parse(): unknown[] } };
};

const number: Read = (text) => (Number.isFinite(Number(text)) ? Number(text) : text);
const known: Readonly<Record<string, Read>> = {
  boolean: (text) => text === 't',
  smallint: number,
  integer: number,
  oid: number,
  real: number,
  'double precision': number,
};

/**
 * How values of a type are read, by its name as format_type() gives it. Numbers that a double holds exactly come as
 * numbers, JSON as JSON, arrays as lists, bytes in hexadecimal, and all the rest (bigint, numeric, dates) as the text
 * the server wrote. `most` says which values are too long to be kept whole.
 */
function readerOf(type: string, most: number): (text: string | null) => unknown {
  const read = known[type] ?? longReader(type, most);
  return (text) => (text === null ? null : read(text));
}

function longReader(type: string, most: number): Read {
  if (type === 'bytea') return (text) => hexOf(text.slice(2), most);
  const whole: Read =
    // The delimiter of boxes is another one than that of all other types.
    type.endsWith('[]') && type !== 'box[]'
      ? (text) => arrayParser.create(text, readerOf(type.slice(0, -2), most)).parse()
      : type === 'json' || type === 'jsonb'
        ? jsonOf
        : (text) => text;
  return (text) => (text.length > most ? shortened(text, most) : whole(text));
}

function jsonOf(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    // A server may take what is no JSON to others: a lone surrogate, a depth without end.
    return text;
  }
}
