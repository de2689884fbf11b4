import type { Client, FieldDef } from 'pg';
import { typesOf } from './postgres-types.ts';
import { readerOf } from './postgres-values.ts';
import { DatabaseProblem, type Limits, type Table } from './session.ts';

interface Wanted {
  readonly cursor: string;
  readonly most: number;
  readonly limits: Limits;
  /** Cancels what the server does. */
  stop(): Promise<void>;
}

/** The first rows of a cursor, and whether there are more; fewer when they are larger than the limit together. */
export async function fetchRows(client: Client, { cursor, most, limits, stop }: Wanted): Promise<Table> {
  // Before the first row there is none to fetch again: the columns alone.
  const { fields } = await client.query(`FETCH 0 FROM ${cursor}`);
  const types = await typesOf(client, fields);
  const rows = await received(client, {
    text: `FETCH FORWARD ${most + 1} FROM ${cursor}`,
    readers: types.map((type) => readerOf(type, limits.cell)),
    bytes: limits.bytes,
    stop,
  });
  return {
    columns: fields.map(({ name }: FieldDef, at) => ({ name, type: types[at] ?? '' })),
    rows: rows.all.slice(0, most),
    truncated: rows.all.length > most || rows.cut,
  };
}

interface Received {
  readonly text: string;
  readonly readers: readonly ((text: string | null) => unknown)[];
  readonly bytes: number;
  stop(): Promise<void>;
}

/** Rows as they come. At the limit the server is told to stop, and the connection is cut. */
async function received(client: Client, { text, readers, bytes, stop }: Received) {
  const { default: pg } = await import('pg');
  const { stream } = client.connection;
  const all: unknown[][] = [];
  let cut = false;
  await new Promise<void>((resolve, reject) => {
    let left = bytes;
    const count = (chunk: Buffer) => {
      left -= chunk.length;
      if (left >= 0 || cut) return;
      cut = true;
      void stop().then(() => stream.destroy());
      stream.pause();
      resolve();
    };
    stream.on('data', count);
    const query = new pg.Query<(string | null)[]>({ text, rowMode: 'array' } as { text: string });
    query.on('row', (row) => all.push(row.map((cell, at) => readers[at]?.(cell) ?? null)));
    query.on('error', (error) => (stream.off('data', count), reject(error)));
    query.on('end', () => (stream.off('data', count), resolve()));
    client.query(query);
  });
  if (cut && all.length === 0)
    throw new DatabaseProblem('too-large', `a row is larger than the ${bytes} bytes that are read`);
  return { all, cut };
}
