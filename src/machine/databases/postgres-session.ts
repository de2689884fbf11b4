import { once } from 'node:events';
import { connect } from 'node:net';
import { Client, type FieldDef } from 'pg';
// @ts-expect-error: it comes without types.
import pgpass from 'pgpass';
import { hexOf, jsonOf, shortened } from './cell.ts';
import { connectMs, graceMs, lockSeconds, type Limits, type OpenSession, type Table } from './session.ts';
import type { Target } from './target.ts';

const cursor = 'toolcrib';
const explaining = /^explain(?:\s*\([^()]*\)|(?:\s+(?:analyze|verbose)\b)*)/i;
const declaring = `DECLARE ${cursor} NO SCROLL CURSOR FOR `;

/**
 * A connection to PostgreSQL. The caller's text is only ever what follows DECLARE … CURSOR FOR, where the grammar has
 * nothing but SELECT, VALUES, TABLE and WITH; it is sent by the extended protocol, which takes one statement; and it
 * runs in a transaction that may only read. None of this depends on what the text looks like.
 */
export const openSession: OpenSession = async (target, limits, encryption) => {
  const { host, port, user, database = user } = target;
  const client = new Client({
    host,
    port,
    user,
    database,
    password: () => target.password ?? keptPassword({ ...target, database }),
    ssl: encryption ?? false,
    connectionTimeoutMillis: connectMs,
    application_name: 'toolcrib',
    // Values come as the server wrote them.
    types: { getTypeParser: () => (text: string) => text } as never,
  });
  // Without a listener a connection that is lost would end the process; what is pending is rejected as well.
  client.on('error', () => {});
  await client.connect();
  return {
    stream: client.connection.stream,
    begin: () => begin(client, limits),
    async query(sql, most, values) {
      const [explains] = explaining.exec(sql) ?? [];
      if (explains !== undefined || /^show\b/i.test(sql)) {
        const ours = explains === undefined ? '' : ` ${declaring}`;
        const { fields, rows } = await sent(client, ours, sql, [], explains);
        return tableOf(client, fields, rows.slice(0, most));
      }
      await sent(client, declaring, sql, values);
      const table = await fetchRows(client, most);
      await client.query(`CLOSE ${cursor}`);
      return table;
    },
    async explain(sql) {
      const { rows } = await sent(client, `EXPLAIN (FORMAT JSON) ${declaring}`, sql);
      const [explained] = JSON.parse(rows[0]?.[0] ?? '[]') as { Plan?: unknown }[];
      return explained?.Plan;
    },
    async change(sql) {
      await client.query('ROLLBACK');
      await begin(client, limits, 'READ WRITE');
      // Of several statements, the results of each.
      const results = [await client.query<(string | null)[]>({ text: sql, rowMode: 'array' })].flat();
      const { fields, rows } = results.findLast((one) => one.fields.length > 0) ?? { fields: [], rows: [] };
      const table = await tableOf(client, fields, rows);
      await client.query('COMMIT');
      const changed = results.filter(({ command }) => command !== 'SELECT');
      return { ...table, changed: changed.reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0) };
    },
    cancel: () => cancelOnServer(target, client as unknown as CancelKey),
    end: () => client.end(),
  };
};

/**
 * Sends the caller's text after ours, by the extended protocol: the server takes one statement and no second. `start`:
 * what ours comes behind, of the caller's text.
 */
async function sent(client: Client, ours: string, sql: string, values: readonly unknown[] = [], start = '') {
  const how = { rowMode: 'array', queryMode: 'extended' } as const;
  try {
    return await client.query<(string | null)[]>({
      text: start + ours + sql.slice(start.length),
      values: [...values],
      ...how,
    });
  } catch (error) {
    // The server counts the characters of ours, too.
    const { position } = error as { position?: string };
    if (position) Object.assign(error as Error, { position: String(Number(position) - ours.length) });
    throw error;
  }
}

/** The first rows of the cursor. */
async function fetchRows(client: Client, most: number): Promise<Table> {
  const text = `FETCH FORWARD ${most} FROM ${cursor}`;
  const { fields, rows } = await client.query<(string | null)[]>({ text, rowMode: 'array' });
  return tableOf(client, fields, rows);
}

async function tableOf(
  client: Client,
  fields: readonly FieldDef[],
  rows: (string | null)[][],
): Promise<Table> {
  const types = await typesOf(client, fields);
  const shown = (value: string | null, at: number) => value && valueOf(value, types[at] ?? '');
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

const floats: ReadonlySet<string> = new Set(['real', 'double precision']);
const integers: ReadonlySet<string> = new Set(['smallint', 'integer', 'bigint', 'oid']);

/**
 * A value of what the server wrote, by the type's name as format_type() gives it. Numbers that a double holds exactly
 * come as numbers, JSON as JSON, bytes in hexadecimal, and all the rest (numeric, dates, arrays) as that text.
 */
function valueOf(text: string, type: string): unknown {
  if (type === 'boolean') return text === 't';
  if (floats.has(type)) return Number.isFinite(Number(text)) ? Number(text) : text;
  if (integers.has(type)) return Number.isSafeInteger(Number(text)) ? Number(text) : text;
  if (type === 'bytea') return hexOf(text.slice(2));
  return type === 'json' || type === 'jsonb' ? jsonOf(text) : shortened(text);
}

/** The password of ~/.pgpass, or of the file that PGPASSFILE names, where sockets stand under localhost. */
async function keptPassword({ host, ...login }: Target): Promise<string> {
  const place = { ...login, host: host.startsWith('/') ? 'localhost' : host };
  // The driver's own way to it is deprecated, and knows no sockets.
  const password = await new Promise<string | undefined>((resolve) => pgpass(place, resolve));
  if (password === undefined) throw new Error('the server asks for a password, and none is known');
  return password;
}

/** Begins the transaction; what the login may do that it does not bind. */
async function begin(
  client: Client,
  { statementMs }: Limits,
  mode: 'READ ONLY' | 'READ WRITE' = 'READ ONLY',
): Promise<string | undefined> {
  // The server itself notices when we are gone, be it killed. Not every system it runs on can tell (since 14).
  await client.query("SET client_connection_check_interval = '1s'").catch(() => {});
  await client.query(
    `BEGIN ${mode};
     SET LOCAL statement_timeout = ${statementMs};
     SET LOCAL lock_timeout = '${lockSeconds}s';
     SET LOCAL idle_in_transaction_session_timeout = ${2 * statementMs};
     SET LOCAL client_encoding = 'UTF8';
     SET LOCAL datestyle = 'ISO, YMD';
     SET LOCAL intervalstyle = 'postgres';
     SET LOCAL bytea_output = 'hex';
     SET LOCAL extra_float_digits = 3`,
  );
  return rightsBeyond(client);
}

/** Roles of the server's own whose rights end at tables and figures. */
const bound =
  'database_owner|read_all_data|write_all_data|monitor|read_all_settings|read_all_stats|stat_scan_tables';

/**
 * What the one who logged in may do that a transaction does not bind: files and programs of the server, other sessions,
 * replication. All roles that can be taken count, since a query can take them: `SELECT set_config('role', …)`.
 */
async function rightsBeyond(client: Client): Promise<string | undefined> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT CASE WHEN rolsuper THEN 'a superuser' ELSE rolname END AS name FROM pg_catalog.pg_roles
     WHERE pg_catalog.pg_has_role(session_user, oid, 'MEMBER')
       AND (rolsuper OR rolreplication OR (rolname ~ '^pg_' AND rolname !~ '^pg_(${bound})$'))
     ORDER BY rolsuper DESC, 1 LIMIT 1`,
  );
  return rows[0] && `may act as ${rows[0].name}`;
}

/** What a server has given a connection to cancel by. */
interface CancelKey {
  readonly processID: number;
  readonly secretKey: number;
}

/** Asks the server, over another connection, to cancel what runs; it closes that when it has. */
async function cancelOnServer({ host, port }: Target, { processID, secretKey }: CancelKey): Promise<void> {
  const request = Buffer.alloc(16);
  // PostgreSQL, message formats: CancelRequest.
  [16, 80_877_102, processID, secretKey].forEach((word, at) => request.writeInt32BE(word, at * 4));
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.setTimeout(graceMs, () => socket.destroy());
  socket.end(request).resume();
  await once(socket, 'close');
}
