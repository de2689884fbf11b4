import mysql from 'mysql2';
import type { Connection, ConnectionOptions, QueryError } from 'mysql2';
import { ToolcribError } from '../../core/errors.ts';
import { connectProtected, type Encryption } from './encryption.ts';
import { typeOf, valueOf, type Field } from './mysql-values.ts';
import { connectMs, graceMs, within, type Limits, type OpenSession, type Table } from './session.ts';
import type { Target } from './target.ts';

/** Seconds a query waits for a lock. */
const lockSeconds = 5;

/**
 * A connection to MySQL or MariaDB. A transaction that may only read does not stop everything there: TRUNCATE and
 * OPTIMIZE end it and go ahead. So the server itself is first asked, without running anything, whether it takes the
 * text for a query.
 */
export const openMysql: OpenSession = async (target, limits, signal) => {
  const connection = await connected(target, signal);
  const cut = () => void cancelOnServer(target, connection.threadId).then(() => connection.destroy());
  const end = () => {
    signal.removeEventListener('abort', cut);
    connection.end(() => connection.destroy());
    setTimeout(() => connection.destroy(), graceMs).unref();
  };
  signal.addEventListener('abort', cut, { once: true });
  try {
    return {
      beyond: await begin(connection, limits),
      end,
      query: (sql, most, values = []) => queried(connection, limits, { sql, most, values }),
      async explain(sql) {
        await checked(connection, sql);
        const { rows } = await sent(connection, `EXPLAIN FORMAT=JSON ${sql}`);
        return JSON.parse(String(rows[0]?.[0])) as unknown;
      },
    };
  } catch (error) {
    end();
    throw error;
  }
};

/** Connects as the target says, as long as nobody gives up. */
const connected = (target: Target, signal: AbortSignal): Promise<Connection> =>
  connectProtected(
    target,
    async (encryption) => {
      signal.throwIfAborted();
      const connection = mysql.createConnection(optionsFor(target, encryption));
      // Without a listener a connection that is lost would end the process; what is pending is rejected as well.
      connection.on('error', () => {});
      const giveUp = () => streamOf(connection).destroy();
      signal.addEventListener('abort', giveUp, { once: true });
      try {
        await answer<void>(connection, (done) => connection.connect(done));
        return connection;
      } catch (error) {
        connection.destroy();
        throw error;
      } finally {
        signal.removeEventListener('abort', giveUp);
      }
    },
    ({ code }) => code === 'HANDSHAKE_NO_SSL_SUPPORT',
  );

function optionsFor(target: Target, encryption: Encryption | undefined): ConnectionOptions {
  const { host, port, user, password, database } = target;
  return {
    ...(host.startsWith('/') ? { socketPath: host } : { host, port }),
    user,
    ...(password !== undefined && { password }),
    ...(database !== undefined && { database }),
    ...(encryption && { ssl: { ...encryption, verifyIdentity: !encryption.checkServerIdentity } }),
    connectTimeout: connectMs,
    // The server must not be able to ask for files of this machine.
    flags: ['-LOCAL_FILES'],
    multipleStatements: false,
    rowsAsArray: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    dateStrings: true,
    jsonStrings: true,
    // No code is made from what the server calls its columns.
    disableEval: true,
    charset: 'utf8mb4',
  } as ConnectionOptions;
}

/** Ends what a connection does, over another one. Never rejects: where it cannot, the server's own limit does. */
async function cancelOnServer(target: Target, thread: number): Promise<void> {
  const kill = async () => {
    const connection = await connected(target, AbortSignal.timeout(graceMs));
    await sent(connection, `KILL ${Number(thread)}`).finally(() => connection.destroy());
  };
  await kill().catch(() => {});
}

/** Begins the transaction; what the login may do that it does not bind. */
async function begin(connection: Connection, { statementMs }: Limits): Promise<string | undefined> {
  const { rows } = await sent(connection, 'SELECT VERSION()');
  const timed = String(rows[0]?.[0]).includes('MariaDB')
    ? `max_statement_time = ${statementMs / 1000}`
    : `max_execution_time = ${statementMs}`;
  const locks = `lock_wait_timeout = ${lockSeconds}, innodb_lock_wait_timeout = ${lockSeconds}`;
  await sent(connection, `SET SESSION ${timed}, ${locks}, wait_timeout = 60`);
  await sent(connection, 'START TRANSACTION READ ONLY');
  // What only the privilege allows is prepared, and so refused without it, but not run: roles have it, too.
  const refused = await prepared(connection, "SELECT 1 INTO DUMPFILE 'toolcrib'").catch(
    (error: unknown) => error,
  );
  const hasNone = (refused as QueryError | undefined)?.code?.endsWith('ACCESS_DENIED_ERROR');
  return hasNone ? undefined : 'may use files of the server (FILE)';
}

interface Query {
  readonly sql: string;
  readonly most: number;
  readonly values: readonly unknown[];
}

async function queried(connection: Connection, limits: Limits, { sql, most, values }: Query): Promise<Table> {
  // A query with a limit of its own has that one.
  await sent(connection, `SET SESSION sql_select_limit = ${most + 1}`);
  await checked(connection, sql);
  const startedAt = performance.now();
  const { rows, fields } = await within(limits.bytes, streamOf(connection), sent(connection, sql, values));
  // Some functions of MariaDB (benchmark, sleep) end at the limit of time with a result where others end with an error.
  if (performance.now() - startedAt >= limits.statementMs)
    throw Object.assign(new Error('the time of a query is over'), { errno: 1969 });
  const types = fields.map(typeOf);
  return {
    columns: fields.map(({ name }, at) => ({ name, type: types[at] ?? '' })),
    rows: rows
      .slice(0, most)
      .map((row) => row.map((value, at) => valueOf(value, types[at] ?? '', limits.cell))),
    truncated: rows.length > most,
  };
}

/** The server says of a text that it can stand as a query inside another one. Throws ARG_INVALID when it cannot. */
async function checked(connection: Connection, sql: string): Promise<void> {
  // What is wrong with it by itself is said of it by itself.
  await prepared(connection, sql);
  await prepared(connection, `EXPLAIN SELECT 1 FROM DUAL WHERE EXISTS (\n${sql}\n)`).catch(
    ({ message }: Error) => {
      throw new ToolcribError(
        'ARG_INVALID',
        `sql: it is no query: one SELECT, VALUES, TABLE or WITH is expected (${message}).`,
      );
    },
  );
}

/** Prepared, and left so: the driver takes it when the same text is run, and the connection ends soon. */
const prepared = (connection: Connection, sql: string): Promise<unknown> =>
  answer(connection, (done) => connection.prepare(sql, done));

interface Sent {
  readonly rows: readonly unknown[][];
  readonly fields: readonly Field[];
}

/** Runs one statement, as a prepared one when it has what the server takes for one. */
const sent = (connection: Connection, sql: string, values?: readonly unknown[]): Promise<Sent> =>
  answer<Sent>(connection, (done) => {
    const received = (error: QueryError | null, rows: unknown, fields: unknown) =>
      done(error, { rows: (rows ?? []) as unknown[][], fields: (fields ?? []) as Field[] });
    if (values) connection.execute(sql, [...values] as string[], received);
    else connection.query(sql, received);
  });

/** What the driver calls back with; also when the connection is lost, of which it does not always tell. */
function answer<T>(
  connection: Connection,
  ask: (done: (error: Error | null, value?: T) => void) => void,
): Promise<T> {
  const stream = streamOf(connection);
  let lost = () => {};
  return new Promise<T>((resolve, reject) => {
    lost = () => reject(new Error('the connection was closed'));
    stream.once('close', lost);
    ask((error, value) => (error ? reject(error) : resolve(value as T)));
  }).finally(() => stream.off('close', lost));
}

const streamOf = (connection: Connection): NodeJS.ReadableStream & { destroy(): void } =>
  (connection as unknown as { stream: NodeJS.ReadableStream & { destroy(): void } }).stream;
