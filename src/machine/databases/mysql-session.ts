import mysql from 'mysql2';
import type { FieldPacket, QueryError, ResultSetHeader, RowDataPacket } from 'mysql2';
import { ToolcribError } from '../../core/errors.ts';
import { connectMs, hexOf, jsonOf, lockSeconds, shortened } from './database-session.ts';
import type { Encryption, QueryLimits, OpenSession, DatabaseSession, Table } from './database-session.ts';
import type { Target } from './target.ts';

const measures = new RegExp(
  String.raw`^(?:explain\s+(?:analyze\s+)?|analyze\s+)(?:format\s*=\s*\w+\s+` +
    String.raw`|extended\s+)?(?=(?:select|with|values)\b|\()`,
  'i',
);

type Connection = ReturnType<ReturnType<typeof mysql.createConnection>['promise']>;

/**
 * A connection to MySQL or MariaDB. A transaction that may only read does not stop everything there: TRUNCATE
 * and OPTIMIZE end it and go ahead. So the server itself is first asked, without running anything, whether it
 * takes the text for a query.
 */
export const openSession: OpenSession = async (target, limits, encryption) => {
  const connect = () => {
    const connection = mysql.createConnection(optionsFor(target, encryption));
    // Without a listener a connection that is lost would end the process; what is pending is rejected as
    // well.
    connection.on('error', () => {});
    return connection.promise();
  };
  const db = connect();
  await db.connect();
  return {
    stream: (db as unknown as { connection: Pick<DatabaseSession, 'stream'> }).connection.stream,
    begin: () => begin(db, limits),
    async query(sql, most, values = []) {
      // A query with a limit of its own has that one. A plan is that of the query without ours.
      const ours = /^(?:explain|analyze|desc(?:ribe)?)\b/i.test(sql) ? 'DEFAULT' : most;
      await db.query(`SET SESSION sql_select_limit = ${ours}`);
      // What describes is no query; of one that is explained or measured, the query itself is asked about.
      if (!/^(?:show|desc|describe)\b/i.test(sql)) await check(db, sql.replace(measures, ''));
      const { columns, rows } = await queried(db, limits.statementMs, sql, values);
      return { columns, rows: rows.slice(0, most) };
    },
    async change(sql) {
      await db.query('ROLLBACK');
      await db.query('START TRANSACTION READ WRITE');
      const [result, fields] = await db.query<RowDataPacket[][] | ResultSetHeader>(sql);
      await db.query('COMMIT');
      if (Array.isArray(result)) return { ...tableOf(result, fields), changed: 0 };
      return { columns: [], rows: [], changed: result.affectedRows };
    },
    async cancel() {
      const other = connect();
      await other.query(`KILL ${db.threadId}`).finally(() => other.destroy());
    },
    end: () => db.end(),
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
    rowsAsArray: true,
    supportBigNumbers: true,
    // Those that no double holds come as text.
    bigNumberStrings: false,
    dateStrings: true,
    jsonStrings: true,
    // No code is made from what the server calls its columns.
    disableEval: true,
  };
}

/** Begins the transaction; what the login may do that it does not bind. */
async function begin(db: Connection, { statementMs }: QueryLimits): Promise<string | undefined> {
  const [rows] = await db.query<RowDataPacket[][]>('SELECT VERSION()');
  const timed = String(rows[0]?.[0]).includes('MariaDB')
    ? `max_statement_time = ${statementMs / 1000}`
    : `max_execution_time = ${statementMs}`;
  const locks = `lock_wait_timeout = ${lockSeconds}, innodb_lock_wait_timeout = ${lockSeconds}`;
  await db.query(`SET SESSION ${timed}, ${locks}, wait_timeout = 60`);
  await db.query('START TRANSACTION READ ONLY');
  // What only the privilege allows is prepared, and so refused without it, but not run: roles have it, too.
  const refused = await db.prepare("SELECT 1 INTO DUMPFILE 'toolcrib'").catch((error: QueryError) => error);
  const hasNone = 'code' in refused && refused.code.endsWith('ACCESS_DENIED_ERROR');
  return hasNone ? undefined : 'may use files of the server (FILE)';
}

async function queried(db: Connection, statementMs: number, sql: string, values: readonly unknown[]) {
  const startedAt = performance.now();
  const [rows, fields] = await db.execute<RowDataPacket[][]>(sql, [...values] as string[]);
  // Some functions of MariaDB (benchmark, sleep) end at the limit of time with a result where others end with
  // an error.
  if (performance.now() - startedAt >= statementMs)
    throw Object.assign(new Error('the time of a query is over'), { errno: 1969 });
  return tableOf(rows, fields);
}

function tableOf(rows: readonly (readonly unknown[])[], fields: readonly FieldPacket[]): Table {
  const shown = (value: unknown, at: number) => valueOf(value, fields[at]);
  return { columns: fields.map(({ name }) => name), rows: rows.map((row) => row.map(shown)) };
}

/**
 * Throws ARG_INVALID for a text of which the server says that it cannot stand as a query inside another one.
 */
async function check(db: Connection, sql: string): Promise<void> {
  // What is wrong with it by itself is said of it by itself. The driver takes what it prepared when that is
  // run.
  await db.prepare(sql);
  const inside = db.prepare(`EXPLAIN SELECT 1 FROM DUAL WHERE EXISTS (\n${sql}\n)`);
  await inside.catch(({ message }: Error) => {
    const expected = 'one SELECT, VALUES, TABLE or WITH is expected';
    throw new ToolcribError('ARG_INVALID', `sql: it is no query: ${expected} (${message}).`);
  });
}

/** MariaDB says of what is a text to the protocol that it is `json`. */
type MysqlColumn = FieldPacket & { readonly extendedFormat?: string };

/** A value as it is shown: bytes in hexadecimal, JSON as JSON, a 32-bit float with the digits that it has. */
function valueOf(value: unknown, field: MysqlColumn | undefined): unknown {
  const isJson = field?.extendedFormat === 'json' || field?.columnType === mysql.Types.JSON;
  if (Buffer.isBuffer(value)) return hexOf(value.toString('hex'));
  if (typeof value === 'string') return isJson ? jsonOf(value) : shortened(value);
  const isFloat = typeof value === 'number' && field?.columnType === mysql.Types.FLOAT;
  return isFloat ? Number(value.toPrecision(7)) : value;
}
