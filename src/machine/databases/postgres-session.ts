import { Client, type ClientConfig, type QueryArrayConfig, type QueryArrayResult } from 'pg';
// @ts-expect-error: it comes without types.
import pgpass from 'pgpass';
import { connectMs, hexOf, jsonOf, lockSeconds, shortened } from './database-session.ts';
import type { QueryLimits, OpenSession, Table } from './database-session.ts';
import type { Target } from './target.ts';

const cursor = 'toolcrib';
const explaining = /^explain(?:\s*\([^()]*\)|(?:\s+(?:analyze|verbose)\b)*)/i;
const declaring = `DECLARE ${cursor} NO SCROLL CURSOR FOR `;

/**
 * A connection to PostgreSQL. The caller's text is only ever what follows DECLARE … CURSOR FOR, where the
 * grammar has nothing but SELECT, VALUES, TABLE and WITH; it is sent by the extended protocol, which takes
 * one statement; and it runs in a transaction that may only read. None of this depends on what the text looks
 * like.
 */
export const openSession: OpenSession = async (target, limits, encryption) => {
  const { host, port, user, database = user } = target;
  const options: ClientConfig = {
    host,
    port,
    user,
    database,
    password: () => target.password ?? keptPassword({ ...target, database }),
    ssl: encryption ?? false,
    connectionTimeoutMillis: connectMs,
    application_name: 'toolcrib',
    types: { getTypeParser: (type: number) => parsers[type] ?? shortened } as never,
  };
  const client = await connected(options);
  return {
    stream: client.connection.stream,
    begin: () => begin(client, limits),
    async query(sql, most, values = []) {
      const [explains] = explaining.exec(sql) ?? [];
      if (explains !== undefined || /^show\b/i.test(sql)) {
        // That it is a query is asked about a cursor. A cursor's plan is another one: it wants the first rows
        // soon, and runs in one process.
        if (explains !== undefined)
          await client.query(alone(`EXPLAIN ${declaring}${sql.slice(explains.length)}`, values));
        const { columns, rows } = tableOf(await client.query(alone(sql, values)));
        return { columns, rows: rows.slice(0, most) };
      }
      await client.query(alone(declaring + sql, values));
      const text = `FETCH FORWARD ${most} FROM ${cursor}`;
      const table = tableOf(await client.query({ text, rowMode: 'array' }));
      await client.query(`CLOSE ${cursor}`);
      return table;
    },
    async change(sql) {
      await client.query('ROLLBACK');
      await begin(client, limits, 'READ WRITE');
      // Of several statements, the results of each.
      const results = [await client.query<unknown[]>({ text: sql, rowMode: 'array' })].flat();
      const table = tableOf(results.findLast(({ fields }) => fields.length > 0));
      await client.query('COMMIT');
      const changed = results.filter(({ command }) => command !== 'SELECT');
      return { ...table, changed: changed.reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0) };
    },
    async cancel() {
      const { processID } = client as unknown as { readonly processID: number };
      const other = await connected(options);
      await other.query('SELECT pg_catalog.pg_cancel_backend($1)', [processID]).finally(() => other.end());
    },
    end: () => client.end(),
  };
};

async function connected(options: ClientConfig): Promise<Client> {
  const client = new Client(options);
  // Without a listener a connection that is lost would end the process; what is pending is rejected as well.
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** A statement of the extended protocol, of which the server takes one statement and no second. */
const alone = (text: string, values: readonly unknown[]) =>
  ({ text, values, rowMode: 'array', queryMode: 'extended' }) as unknown as QueryArrayConfig<unknown[]>;

const tableOf = (result?: QueryArrayResult<unknown[]>): Table => ({
  columns: result?.fields.map(({ name }) => name) ?? [],
  rows: result?.rows ?? [],
});

const double = (text: string) => (Number.isFinite(Number(text)) ? Number(text) : text);
const integer = (text: string) => (Number.isSafeInteger(Number(text)) ? Number(text) : text);

/**
 * Readers by the numbers of types in pg_type.dat: numbers that a double holds exactly come as numbers, JSON
 * as JSON, bytes in hexadecimal, and all the rest (numeric, dates, arrays) as the text that the server wrote.
 */
const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => text === 't',
  17: (text) => hexOf(text.slice(2)),
  20: integer,
  21: integer,
  23: integer,
  26: integer,
  114: jsonOf,
  700: double,
  701: double,
  3802: jsonOf,
};

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
  { statementMs }: QueryLimits,
  mode: 'READ ONLY' | 'READ WRITE' = 'READ ONLY',
): Promise<string | undefined> {
  // The server itself notices when we are gone, be it killed. Not every system it runs on can tell (since
  // 14).
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
 * The rights of the login that a transaction does not bind: files and programs of the server, other sessions,
 * replication. All roles that can be taken count, since a query can take them: `SELECT set_config('role',
 * …)`.
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
