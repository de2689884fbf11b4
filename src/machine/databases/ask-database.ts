import type { Values } from '../../core/command-line.ts';
import type { DatabaseQuestion } from '../../core/database-program.ts';
import type { DatabaseEngine, Effect } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import { looksOnly } from '../../core/policy.ts';
import type { Grant, Plan, PlanContext } from '../../core/tool.ts';
import { graceMs, inSession, usualLimits as limits, type DatabaseSession } from './database-session.ts';
import { displayPath } from '../paths/display-path.ts';
import { isLoopback, projectAddress, schemesOf, targetName, targetOf, withoutSecrets } from './target.ts';
import type { TargetChoice, KnownDatabases, Target } from './target.ts';

/** One call of an action that asks a database. */
export interface DatabaseCall {
  /** The name of its tool. */
  readonly tool: string;
  readonly engine: DatabaseEngine;
  readonly databaseQuestion: DatabaseQuestion;
  readonly effects: readonly Effect[];
  readonly values: Values;
  readonly known: KnownDatabases;
}

/** A call with the server that it goes to. */
export interface PreparedQuery extends DatabaseCall {
  readonly target: Target;
  /** The SQL that is asked, or the name and values of the tool: for people, and for rules about it. */
  readonly question: string;
  /** The server and login, for people. */
  readonly where: string;
  /**
   * The rights of the login beyond reading; undefined for statements of ours, for which they do not matter.
   */
  readonly beyond?: string | undefined;
  /**
   * A project names it, and it is not of this machine: its login was not looked at before it was asked about.
   */
  readonly isForeign?: boolean;
}

/** More rows than any catalogue of a database has that people describe. */
const listedRows = 100_000;

/** Logins that only read: nobody is asked about them. */
const readers: Readonly<Record<DatabaseEngine, string>> = {
  postgresql: "CREATE ROLE reader LOGIN PASSWORD '…'; GRANT pg_read_all_data TO reader",
  mysql: "CREATE USER reader IDENTIFIED BY '…'; GRANT SELECT, SHOW VIEW ON *.* TO reader",
};

/**
 * Plans a question to a database. Connects to see what the login may do: where a transaction does not bind
 * that, a query counts as one that writes. Throws what targetOf() and connecting throw.
 */
export async function planQuery(
  call: DatabaseCall,
  { workspace, signal, trusts }: PlanContext,
): Promise<Plan<PreparedQuery>> {
  const { engine, databaseQuestion, effects, values, known } = call;
  const folder = workspace.roots[0] ?? '';
  const named = projectAddress(schemesOf[engine], workspace.roots);
  const target = targetOf(engine, values as TargetChoice, known, named);
  // Whom a project names is not talked to before somebody has said yes to that.
  const isForeign = target.isOfProject && !isLoopback(target.host);
  const waits = target.isOfProject && (isForeign || !(await trusts(folder)));
  const question = questionText(call);
  const from = `${target.database ?? 'no database'} at ${target.host}, as ${target.user} (${target.from})`;
  const where = withoutSecrets(from, target.secrets);
  const asked: PreparedQuery = { ...call, target, question, where };
  const writes = 'statement' in databaseQuestion;
  const beyond =
    'lists' in databaseQuestion || writes || waits
      ? undefined
      : await connecting(asked, signal, async (_, more) => more);
  const wayOut = `let the server log in as one that only reads (${readers[engine]})`;
  const why = beyond && `\nThis login ${beyond}, which no transaction keeps it from.\nInstead: ${wayOut}`;
  const database = withoutSecrets(targetName(target), target.secrets);
  return {
    effects,
    subject: question,
    folder,
    paths: [],
    ...(target.isOfProject && { trust: `connects to ${database}, as ${displayPath(target.from)} says` }),
    ...((writes || isForeign || beyond !== undefined) && {
      approval: 'database',
      grant: grantIn(database, effects),
    }),
    ...(beyond !== undefined && { wayOut }),
    preview: where + (why ?? ''),
    isUndoable: false,
    fingerprint: JSON.stringify([question, where, beyond]),
    work: { ...asked, beyond, isForeign },
  };
}

/** The effects that are kept with it tell reading from writing. */
const grantIn = (database: string, effects: readonly Effect[]): Grant => ({
  act: JSON.stringify(['database', database]),
  words: `${looksOnly(effects) ? 'reading' : 'writing'} in ${database}`,
});

/** The answer of a database, by the names that its report knows the parts by. */
export type DatabaseAnswer = Readonly<Record<string, unknown>>;

/**
 * Asks a database what an action asks, over a connection made for it; only a statement that writes is given a
 * transaction that can. Throws PROGRAM_FAILED with what the server says, TIMEOUT, CANCELLED, TOO_LARGE,
 * NOT_FOUND, and NOT_CONFIRMED when the login may more than was agreed to.
 */
export const askDatabase = (call: PreparedQuery, signal: AbortSignal): Promise<DatabaseAnswer> =>
  connecting(call, signal, (session, beyond) => {
    if ('query' in call.databaseQuestion && !call.isForeign && beyond !== call.beyond)
      throw new ToolcribError('NOT_CONFIRMED', 'what the login may do has changed.', 'Call again.');
    return answerOf(session, call);
  });

/** Does work over a connection of its own, in the time of a call. */
async function connecting<T>(
  { engine, target, where }: PreparedQuery,
  signal: AbortSignal,
  work: Parameters<typeof inSession<T>>[2],
): Promise<T> {
  // The servers have a limit of their own; MySQL takes one in a query's text for more than ours.
  const late = AbortSignal.timeout(limits.statementMs + graceMs);
  const { openSession } = await (engine === 'mysql'
    ? import('./mysql-session.ts')
    : import('./postgres-session.ts'));
  try {
    return await inSession({ openSession, target, limits }, AbortSignal.any([signal, late]), work);
  } catch (error) {
    if (signal.aborted) throw new ToolcribError('CANCELLED', 'The query was cancelled on the server.');
    throw error instanceof ToolcribError ? error : failureOf(error, `${where}: `, target, late.aborted);
  }
}

/** The drivers' errors; one of several attempts to connect has these, and no message of its own. */
type DriverError = Partial<Record<'message' | 'code' | 'detail' | 'hint', string>> & {
  readonly errno?: number;
  readonly errors?: readonly Error[];
};

/** PostgreSQL: statement_timeout and a cancel; MySQL: KILL, its limit of time and MariaDB's. */
const stoppedCodes: readonly unknown[] = ['57014', 1317, 3024, 1969];

const sources = 'a profile of the settings, DATABASE_URL, or the variables PG* and MYSQL_*';
/** Ways out for a caller, by the codes of the drivers and of the servers. */
const waysOut: readonly (readonly [RegExp, string])[] = [
  [/^E(?:[A-Z]+|AI_AGAIN)$/, `Is the server running? Where it is comes from ${sources}.`],
  [/^28|ACCESS_DENIED/, `Who logs in comes from ${sources}; ~/.my.cnf is not read.`],
  [/^(?:42601|25006)$|PARSE|READ_ONLY/, 'One SELECT, VALUES, TABLE or WITH is run, which changes nothing.'],
];

/** The error about a failure, without passwords. `isLate`: the time of the call was over. */
function failureOf(error: unknown, where: string, { secrets }: Target, isLate: boolean): ToolcribError {
  const { message, errors, code = '', errno, detail = '', hint = '' } = error as DriverError;
  const said = message || errors?.map((each) => each.message).join('; ') || 'the connection failed';
  const stopped = `The server stopped after ${limits.statementMs / 1000} s: `;
  const isStopped = isLate || stoppedCodes.includes(code) || stoppedCodes.includes(errno);
  const parts = isStopped ? [`${stopped}${said}.`] : [where + said, code && `(${code})`, detail, hint];
  return new ToolcribError(
    isStopped ? 'TIMEOUT' : 'PROGRAM_FAILED',
    withoutSecrets(parts.filter(Boolean).join(' '), secrets),
    isStopped
      ? 'Ask for less, or see how it is answered: EXPLAIN and the query.'
      : waysOut.find(([codes]) => codes.test(code))?.[1],
  );
}

/** The question in words, for people and for rules about it. */
function questionText({ databaseQuestion, values, tool }: DatabaseCall): string {
  if ('query' in databaseQuestion) return String(values[databaseQuestion.query]);
  if ('statement' in databaseQuestion) return String(values[databaseQuestion.statement]);
  return [tool, ...databaseQuestion.binds.map((name) => String(values[name] ?? ''))].join(' ').trim();
}

async function answerOf(
  session: DatabaseSession,
  { databaseQuestion, values }: DatabaseCall,
): Promise<DatabaseAnswer> {
  if ('query' in databaseQuestion) {
    const most = Number(values[databaseQuestion.limit]);
    // One more tells that there are more.
    const { columns, rows } = await session.query(String(values[databaseQuestion.query]), most + 1);
    return { columns, rows: rows.slice(0, most), more: rows.length > most };
  }
  if ('statement' in databaseQuestion) {
    const { columns, ...done } = await session.change(String(values[databaseQuestion.statement]));
    return { columns, more: false, ...done };
  }
  const binds = databaseQuestion.binds.map((name) => values[name] ?? null);
  const answer: Record<string, unknown> = {};
  for (const [index, [name, sql]] of Object.entries(databaseQuestion.lists).entries()) {
    const { columns, rows } = await session.query(sql, listedRows, bindsIn(sql, binds));
    if (index === 0 && rows.length === 0 && databaseQuestion.missing !== undefined)
      throw new ToolcribError('NOT_FOUND', `${String(binds[0])}: ${databaseQuestion.missing}`);
    answer[name] = rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at]])));
  }
  return answer;
}

/** Values for the placeholders of a statement: `$1`, or a `?` for each time a value is needed. */
function bindsIn(sql: string, binds: readonly unknown[]): readonly unknown[] {
  const marks = sql.match(/\?/g)?.length;
  if (marks !== undefined) return Array.from({ length: marks }, (_, at) => binds[at % binds.length]);
  return sql.includes('$1') ? binds : [];
}
