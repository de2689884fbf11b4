import type { Client } from 'pg';

/** The names of the types of columns, with what they are limited to. */
export async function typesOf(
  client: Client,
  fields: readonly { readonly dataTypeID: number; readonly dataTypeModifier: number }[],
): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT pg_catalog.format_type(o, m) AS name
     FROM ROWS FROM (pg_catalog.unnest($1::oid[]), pg_catalog.unnest($2::int4[])) WITH ORDINALITY AS t(o, m, n) ORDER BY n`,
    [
      `{${fields.map(({ dataTypeID }) => dataTypeID).join()}}`,
      `{${fields.map(({ dataTypeModifier }) => dataTypeModifier).join()}}`,
    ],
  );
  return rows.map(({ name }) => name);
}
