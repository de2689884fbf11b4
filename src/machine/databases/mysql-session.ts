import mysql from 'mysql2';
import type { Connection, QueryError } from 'mysql2';
import { ToolcribError } from '../../core/errors.ts';
import type { Encryption } from './encryption.ts';
import { typeOf, valueOf, type Field } from './mysql-values.ts';
import {
  connectMs,
  lockSeconds,
  type Limits,
  type OpenSession,
  type Session,
  type Table,
} from './session.ts';
import type { Target } from './target.ts';

/**
 * A connection to MySQL or MariaDB. A transaction that may only read does not stop everything there: TRUNCATE and
 * OPTIMIZE end it and go ahead. So the server itself is first asked, without running anything, whether it takes the
 * text for a query.
 */
export const openSession: OpenSession = async (target, limits, encryption) => {
  const connection = mysql.createConnection(optionsFor(target, encryption));
  // Without a listener a connection that is lost would end the process; what is pending is rejected as well.
  connection.on('error', () => {});
  const promised = connection.promise();
  await promised.connect();
  return {
    stream: (connection as unknown as Pick<Session, 'stream'>).stream,
    begin: () => begin(connection, limits),
    query: (sql, most, values = []) => queried(connection, limits, { sql, most, values }),
    async explain(sql) {
      await checked(connection, sql);
      const { rows } = await sent(connection, `EXPLAIN FORMAT=JSON ${sql}`);
      return JSON.parse(String(rows[0]?.[0])) as unknown;
    },
    async cancel() {
      const other = mysql.createConnection(optionsFor(target, encryption));
      other.on('error', () => {});
      await sent(other, `KILL ${connection.threadId}`).finally(() => other.destroy());
    },
    end: () => promised.end(),
  };
};

function optionsFor(target: Target, encryption: Encryption | undefined) {
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
  };
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
    (error: QueryError) => error,
  );
  const hasNone = 'code' in refused && refused.code.endsWith('ACCESS_DENIED_ERROR');
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
  const { rows, fields } = await sent(connection, sql, values);
  // Some functions of MariaDB (benchmark, sleep) end at the limit of time with a result where others end with an error.
  if (performance.now() - startedAt >= limits.statementMs)
    throw Object.assign(new Error('the time of a query is over'), { errno: 1969 });
  const columns = fields.map((field) => ({ name: field.name, type: typeOf(field) }));
  const shown = (value: unknown, at: number) => valueOf(value, columns[at]?.type ?? '', limits.cell);
  return {
    columns,
    rows: rows.slice(0, most).map((row) => row.map(shown)),
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
const prepared = (connection: Connection, sql: string) => connection.promise().prepare(sql);

/** Runs one statement, as a prepared one when it has what the server takes for one. */
async function sent(connection: Connection, sql: string, values?: readonly unknown[]) {
  const promised = connection.promise();
  const [rows, fields = []] = values
    ? await promised.execute(sql, [...values] as string[])
    : await promised.query(sql);
  return { rows: rows as unknown[][], fields: fields as Field[] };
}
