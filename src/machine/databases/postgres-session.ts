import type { Client, QueryArrayConfig } from 'pg';
import { cancelOnServer, type CancelKey } from './postgres-cancel.ts';
import { fetchRows } from './postgres-fetch.ts';
import { typesOf } from './postgres-types.ts';
import { readerOf } from './postgres-values.ts';
import { connectProtected, type Encryption } from './protected-connection.ts';
import { atMost, graceMs, type Limits, type OpenSession } from './session.ts';
import type { Target } from './target.ts';

/** Milliseconds until a server has to have answered. */
const connectMs = 10_000;
/** Milliseconds a query waits for a lock; readers wait only for changes of the tables themselves. */
const lockMs = 5000;

/**
 * A connection to PostgreSQL. The caller's text is only ever what follows DECLARE … CURSOR FOR, where the grammar has
 * nothing but SELECT, VALUES, TABLE and WITH; it is sent by the extended protocol, which takes one statement; and it runs
 * in a transaction that may only read. None of this depends on what the text looks like.
 */
export const openPostgres: OpenSession = async (target, limits, signal) => {
  const client = await connectProtected(
    target,
    (encryption) => connected(target, encryption, signal),
    (error) => error instanceof Error && error.message.includes('does not support SSL'),
  );
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= cancelOnServer(target, client as unknown as CancelKey, graceMs));
  const cut = () => void stop().then(() => cutLater(client));
  const end = async () => {
    signal.removeEventListener('abort', cut);
    await stopped;
    await atMost(graceMs, client.end());
    client.connection.stream.destroy();
  };
  signal.addEventListener('abort', cut, { once: true });
  try {
    signal.throwIfAborted();
    const facts = await begin(client, limits);
    const notes: string[] = [];
    return {
      notes,
      end,
      async query(sql, most) {
        notes.push(...(await giveUpRights(client, facts)));
        await client.query(extended(cursorFor + sql));
        return fetchRows(client, { cursor, most, limits, stop });
      },
      async explain(sql) {
        notes.push(...(await giveUpRights(client, facts)));
        // First as what it would be run as, so that it is refused in the same words.
        await client.query(extended(cursorFor + sql));
        const { rows } = await client.query(extended(`EXPLAIN (FORMAT JSON) ${cursorFor}${sql}`));
        const [explained] = JSON.parse(rows[0]?.[0] ?? '[]') as { Plan?: unknown }[];
        return explained?.Plan;
      },
      async list(sql, values) {
        const { rows, fields } = await client.query({ ...extended(sql), values: [...values] });
        const types = await typesOf(client, fields);
        const readers = types.map((type) => readerOf(type, limits.cell));
        return rows.map((row) =>
          Object.fromEntries(row.map((cell, at) => [fields[at]?.name, readers[at]?.(cell) ?? null])),
        );
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
};

const cursor = 'toolcrib';
/** What stands before a query of the caller. */
export const cursorFor = `DECLARE ${cursor} NO SCROLL CURSOR FOR `;

/** The extended protocol, also without values: the server takes one statement and no second. */
const extended = (text: string) =>
  ({ text, rowMode: 'array', queryMode: 'extended' }) as QueryArrayConfig & { queryMode: 'extended' };

async function connected(
  target: Target,
  encryption: Encryption | undefined,
  signal: AbortSignal,
): Promise<Client> {
  const { default: pg } = await import('pg');
  const { password } = target;
  const client = new pg.Client({
    host: target.host,
    port: target.port,
    user: target.user,
    database: target.database,
    // A function, since an empty value would make the driver look for a password by itself.
    password: () => {
      if (password !== undefined) return password;
      throw new Error('the server asks for a password, and none is known');
    },
    ssl: encryption ?? false,
    connectionTimeoutMillis: connectMs,
    application_name: 'toolcrib',
    // Values come as the server wrote them.
    types: { getTypeParser: () => (text: string) => text } as never,
  });
  // Without a listener a connection that is lost would end the process; what is pending is rejected as well.
  client.on('error', () => {});
  const giveUp = () => client.connection.stream.destroy(new Error('the caller gave up'));
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    return await client.connect();
  } catch (error) {
    client.connection.stream.destroy();
    throw error;
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

/** Gives a server that was told to stop some time to say that it has. */
function cutLater(client: Client): void {
  setTimeout(() => client.connection.stream.destroy(), graceMs).unref();
}

interface Facts {
  /** Whether the role reaches beyond the database: files and programs of the server. */
  readonly reaches: boolean;
  /** Whether it can become one that only reads tables; PostgreSQL has such a role since 14. */
  readonly canLower: boolean;
}

/** Begins the transaction, and finds out what could be done in it. */
async function begin(client: Client, { statementMs }: Limits): Promise<Facts> {
  await client.query(
    [
      'BEGIN READ ONLY',
      `SET LOCAL statement_timeout = ${statementMs}`,
      `SET LOCAL lock_timeout = ${lockMs}`,
      `SET LOCAL idle_in_transaction_session_timeout = ${2 * statementMs}`,
      "SET LOCAL client_encoding = 'UTF8'",
      "SET LOCAL datestyle = 'ISO, YMD'",
      "SET LOCAL intervalstyle = 'postgres'",
      "SET LOCAL bytea_output = 'hex'",
      'SET LOCAL extra_float_digits = 3',
    ].join('; '),
  );
  // The server itself notices when we are gone, be it killed. Not every system it runs on can tell (since 14).
  await tryInside(client, "SET LOCAL client_connection_check_interval = '1s'");
  const { rows } = await client.query<{ reaches: string; can_lower: string }>(
    `SELECT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname IN (${outreaching})
       AND pg_catalog.pg_has_role(oid, 'MEMBER')) OR rolsuper AS reaches,
       EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = '${reader}'
       AND pg_catalog.pg_has_role(oid, 'MEMBER')) AS can_lower
     FROM pg_catalog.pg_roles WHERE rolname = current_user`,
  );
  return { reaches: rows[0]?.reaches === 't', canLower: rows[0]?.can_lower === 't' };
}

const reader = 'pg_read_all_data';
const outreaching = ['pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program']
  .map((role) => `'${role}'`)
  .join();

/** Becomes a role that only reads, where the one that logged in could do more; what the caller is told about it. */
async function giveUpRights(client: Client, { reaches, canLower }: Facts): Promise<string[]> {
  if (!reaches) return [];
  if (canLower && (await tryInside(client, `SET LOCAL ROLE ${reader}`))) {
    return [
      `ran as ${reader}, as the role that connects could do more; rows behind row security are left out`,
    ];
  }
  return ['the role that connects may use files of the server; one with fewer rights is safer'];
}

/** Whether a setting of ours was taken; the transaction goes on either way. */
async function tryInside(client: Client, setting: string): Promise<boolean> {
  try {
    await client.query(`SAVEPOINT toolcrib; ${setting}; RELEASE SAVEPOINT toolcrib`);
    return true;
  } catch {
    await client.query('ROLLBACK TO SAVEPOINT toolcrib');
    return false;
  }
}
