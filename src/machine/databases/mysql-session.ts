import type { Connection, ConnectionOptions, PrepareStatementInfo } from 'mysql2';
import { typeOf, valueOf, type Field } from './mysql-values.ts';
import { connectProtected, type Encryption } from './protected-connection.ts';
import { atMost, DatabaseProblem, graceMs, type Limits, type OpenSession, type Table } from './session.ts';
import type { Target } from './target.ts';

/** Milliseconds until a server has to have answered. */
const connectMs = 10_000;
/** Seconds a query waits for a lock. */
const lockSeconds = 5;

/**
 * A connection to MySQL or MariaDB. A transaction that may only read does not stop everything there: TRUNCATE and
 * OPTIMIZE end it and go ahead. So the server itself is first asked, without running anything, whether it takes the text
 * for a query: whether it can stand as one inside another statement, and whether it has columns by itself, which SELECT
 * INTO OUTFILE has not.
 */
export const openMysql: OpenSession = async (target, limits, signal) => {
  const connection = await connectProtected(
    target,
    (encryption) => connected(target, encryption, signal),
    (error) => (error as { code?: string }).code === 'HANDSHAKE_NO_SSL_SUPPORT',
  );
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= cancelled(target, connection.threadId));
  const cut = () => void stop().then(() => setTimeout(() => connection.destroy(), graceMs).unref());
  const lost = lossOf(connection);
  // MySQL takes a limit of time in a query's own text for more than ours.
  const late = setTimeout(cut, limits.statementMs + graceMs).unref();
  const end = async () => {
    clearTimeout(late);
    signal.removeEventListener('abort', cut);
    await stopped;
    await atMost(graceMs, new Promise<void>((resolve) => connection.end(() => resolve())));
    connection.destroy();
  };
  signal.addEventListener('abort', cut, { once: true });
  try {
    signal.throwIfAborted();
    await lost(begin(connection, limits));
    const reading = { connection, limits, stop };
    return {
      notes: [],
      end,
      query: (sql, most) => lost(queried(reading, sql, most)),
      explain: (sql) => lost(explained(reading, sql)),
      list: (sql, values) => lost(listed(reading, sql, values)),
    };
  } catch (error) {
    await end();
    throw error;
  }
};

/** Makes what waits for a connection fail when that is lost, which the driver does not always tell. */
function lossOf(connection: Connection): <T>(work: Promise<T>) => Promise<T> {
  const { stream } = connection as unknown as { stream: NodeJS.ReadableStream };
  const lost = new Promise<never>((_resolve, reject) => {
    stream.once('close', () => reject(new Error('the connection was closed')));
  });
  lost.catch(() => {});
  return (work) => Promise.race([work, lost]);
}

interface Reading {
  readonly connection: Connection;
  readonly limits: Limits;
  stop(): Promise<void>;
}

async function queried(reading: Reading, sql: string, most: number): Promise<Table> {
  await run(reading.connection, `SET SESSION sql_select_limit = ${most + 1}`);
  const statement = await checked(reading.connection, sql);
  const startedAt = performance.now();
  const table = await received(statement, { ...reading, most });
  const { statementMs } = reading.limits;
  if (performance.now() - startedAt < statementMs) return table;
  // Some functions of MariaDB (benchmark, sleep) end early with a result, where others end with an error.
  const note = `it took the ${statementMs / 1000} s a query may take: what the server stopped may look like a result`;
  return { ...table, notes: [note] };
}

async function explained(reading: Reading, sql: string): Promise<unknown> {
  await checked(reading.connection, sql);
  const statement = await prepared(reading.connection, `EXPLAIN FORMAT=JSON ${sql}`);
  const { rows } = await received(statement, {
    ...reading,
    limits: { ...reading.limits, cell: Infinity },
    most: 1,
  });
  return JSON.parse(String(rows[0]?.[0])) as unknown;
}

async function listed(reading: Reading, sql: string, values: readonly unknown[]) {
  const statement = await prepared(reading.connection, sql);
  const { columns, rows } = await received(statement, { ...reading, most: Infinity, values });
  return rows.map((row) => Object.fromEntries(columns.map(({ name }, at) => [name, row[at]])));
}

/** How both connections are made: the one that asks, and the one that cancels. */
function options(target: Target, encryption: Encryption | undefined): ConnectionOptions {
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

async function connected(
  target: Target,
  encryption: Encryption | undefined,
  signal?: AbortSignal,
): Promise<Connection> {
  const { default: mysql } = await import('mysql2');
  const connection = mysql.createConnection(options(target, encryption));
  // Without a listener a connection that is lost would end the process; what is pending is rejected as well.
  connection.on('error', () => {});
  const giveUp = () => connection.destroy();
  signal?.addEventListener('abort', giveUp, { once: true });
  try {
    await new Promise<void>((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(new Error('the caller gave up')), { once: true });
      connection.connect((error) => (error ? reject(error) : resolve()));
    });
    return connection;
  } catch (error) {
    connection.destroy();
    throw error;
  } finally {
    signal?.removeEventListener('abort', giveUp);
  }
}

/** Ends what a connection does, over another one. Never rejects: where it cannot, the server's own limit does. */
async function cancelled(target: Target, thread: number): Promise<void> {
  const kill = async () => {
    const connection = await connectProtected(
      target,
      (encryption) => connected(target, encryption),
      (error) => (error as { code?: string }).code === 'HANDSHAKE_NO_SSL_SUPPORT',
    );
    await run(connection, `KILL ${Number(thread)}`).finally(() => connection.destroy());
  };
  await atMost(graceMs, kill());
}

async function begin(connection: Connection, { statementMs }: Limits): Promise<void> {
  const version = await rowsOf(connection, 'SELECT VERSION()');
  const isMaria = String(version[0]?.[0]).includes('MariaDB');
  const timed = isMaria
    ? `max_statement_time = ${statementMs / 1000}`
    : `max_execution_time = ${statementMs}`;
  await run(
    connection,
    `SET SESSION ${timed}, lock_wait_timeout = ${lockSeconds}, innodb_lock_wait_timeout = ${lockSeconds}, wait_timeout = 60`,
  );
  await run(connection, 'START TRANSACTION READ ONLY');
}

/** The text as a statement of the server, which has said that it is a query and nothing else. */
async function checked(connection: Connection, sql: string): Promise<PrepareStatementInfo> {
  const statement = await prepared(connection, sql);
  const { columns } = statement as unknown as { columns: readonly unknown[] };
  const refused = 'it is no query: one SELECT, VALUES, TABLE or WITH is expected';
  if (columns.length === 0) throw new DatabaseProblem('not-a-query', refused);
  const inside = await prepared(connection, `EXPLAIN SELECT 1 FROM DUAL WHERE EXISTS (\n${sql}\n)`).catch(
    (error: unknown) => {
      throw new DatabaseProblem('not-a-query', `${refused} (${(error as Error).message})`);
    },
  );
  inside.close();
  return statement;
}

interface Wanted extends Reading {
  readonly most: number;
  readonly values?: readonly unknown[];
}

/** Rows as they come. When there are enough, or at the limit of bytes, the server is told to stop. */
async function received(statement: PrepareStatementInfo, wanted: Wanted): Promise<Table> {
  const { connection, most, limits, values = [], stop } = wanted;
  const { stream } = connection as unknown as { stream: NodeJS.ReadableStream };
  const rows: unknown[][] = [];
  let fields: readonly Field[] = [];
  let cut = false;
  await new Promise<void>((resolve, reject) => {
    let left = limits.bytes;
    const enough = () => {
      if (cut) return;
      cut = true;
      void stop().then(() => connection.destroy());
      resolve();
    };
    const count = (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) enough();
    };
    const done = () => stream.off('data', count);
    stream.on('data', count);
    const execution = (statement as unknown as Executable).execute([...values]);
    execution.on('fields', (found) => (fields = found ?? []));
    execution.on('result', (row) => {
      if (cut) return;
      rows.push(row.map((value, at) => valueOf(value, typeOf(fields[at] ?? { name: '' }), limits.cell)));
      // One more than that tells that there are more; the server stops there unless the query has a limit of its own.
      if (rows.length > most + 1) enough();
    });
    execution.on('error', (error) => (done(), reject(error)));
    execution.on('end', () => (done(), resolve()));
  });
  if (cut && rows.length === 0)
    throw new DatabaseProblem('too-large', `a row is larger than the ${limits.bytes} bytes that are read`);
  return {
    columns: fields.map((field) => ({ name: field.name, type: typeOf(field) })),
    rows: rows.slice(0, most),
    truncated: rows.length > most || cut,
  };
}

/** A prepared statement without a callback, which the types of the driver do not have: rows come one by one. */
interface Executable {
  execute(values: unknown[]): {
    on(event: 'fields', listener: (fields: Field[] | undefined) => void): void;
    on(event: 'result', listener: (row: unknown[]) => void): void;
    on(event: 'error', listener: (error: Error) => void): void;
    on(event: 'end', listener: () => void): void;
  };
}

const prepared = (connection: Connection, sql: string): Promise<PrepareStatementInfo> =>
  new Promise((resolve, reject) =>
    connection.prepare(sql, (error, statement) => (error ? reject(error) : resolve(statement))),
  );

const rowsOf = (connection: Connection, sql: string): Promise<unknown[][]> =>
  new Promise((resolve, reject) =>
    connection.query(sql, (error: Error | null, rows: unknown) =>
      error ? reject(error) : resolve(rows as unknown[][]),
    ),
  );

const run = async (connection: Connection, sql: string): Promise<void> =>
  void (await rowsOf(connection, sql));
