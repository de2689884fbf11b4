import type { Client, FieldDef } from 'pg';
import { hexOf, jsonOf, shortened } from './cell.ts';
import type { Table } from './session.ts';

/** The first rows of a cursor. `cell`: characters of a value that are kept. */
export async function fetchRows(client: Client, cursor: string, most: number, cell: number): Promise<Table> {
  const text = `FETCH FORWARD ${most} FROM ${cursor}`;
  const { fields, rows } = await client.query<(string | null)[]>({ text, rowMode: 'array' });
  const types = await typesOf(client, fields);
  const shown = (value: string | null, at: number) => value && valueOf(value, types[at] ?? '', cell);
  return {
    columns: fields.map(({ name }, at) => ({ name, type: types[at] ?? '' })),
    rows: rows.map((row) => row.map(shown)),
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

const numbers: ReadonlySet<string> = new Set(['smallint', 'integer', 'oid', 'real', 'double precision']);

/**
 * A value of what the server wrote, by the type's name as format_type() gives it. Numbers that a double holds exactly
 * come as numbers, JSON as JSON, bytes in hexadecimal, and all the rest (bigint, numeric, dates, arrays) as that text.
 * `most` says which values are too long to be kept whole.
 */
function valueOf(text: string, type: string, most: number): unknown {
  if (type === 'boolean') return text === 't';
  if (numbers.has(type)) return Number.isFinite(Number(text)) ? Number(text) : text;
  if (type === 'bytea') return hexOf(text.slice(2), most);
  return type === 'json' || type === 'jsonb' ? jsonOf(text, most) : shortened(text, most);
}
