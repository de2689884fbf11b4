import { ToolcribError } from '../../core/errors.ts';

interface Failed {
  /** The database, for people. */
  readonly where: string;
  readonly secrets: readonly string[];
  readonly statementMs: number;
  readonly cancelled: boolean;
  /** The time of the call was over. */
  readonly late: boolean;
}

/** The drivers' errors; one of several attempts to connect has these, and no message of its own. */
type DriverError = Partial<Record<'message' | 'code' | 'detail' | 'hint' | 'position', string>> & {
  readonly errno?: number;
  readonly errors?: readonly Error[];
};

/** PostgreSQL: statement_timeout and a cancel; MySQL: KILL, its limit of time and MariaDB's. */
const stoppedCodes: readonly unknown[] = ['57014', 1317, 3024, 1969];

const sources = 'a profile of the settings, DATABASE_URL, or the variables PG* and MYSQL_*';
/** What a caller can do, by the codes of the drivers and of the servers. */
const waysOut: readonly (readonly [RegExp, string])[] = [
  [/^E(?:[A-Z]+|AI_AGAIN)$/, `Is the server running? Where it is comes from ${sources}.`],
  [/^28|ACCESS_DENIED/, `Who logs in comes from ${sources}; ~/.my.cnf is not read.`],
  [/^(?:42601|25006)$|PARSE|READ_ONLY/, 'One SELECT, VALUES, TABLE or WITH is run, which changes nothing.'],
];

/** What a caller is told about a failure: without passwords, and what was stopped by whom. */
export function failureOfDatabase(error: unknown, failed: Failed): unknown {
  const { where, secrets, statementMs } = failed;
  if (failed.cancelled) return new ToolcribError('CANCELLED', 'The query was cancelled on the server.');
  if (error instanceof ToolcribError) return error;
  const { message, errors, code = '', errno, detail = '', hint = '', position } = error as DriverError;
  const said = message || errors?.map((each) => each.message).join('; ') || 'the connection failed';
  if (failed.late || stoppedCodes.includes(code) || stoppedCodes.includes(errno))
    return new ToolcribError(
      'TIMEOUT',
      `The server stopped after ${statementMs / 1000} s: ${withoutSecrets(said, secrets)}.`,
      'Ask for less, or see how it is answered: EXPLAIN and the query.',
    );
  const at = Number(position) > 0 ? `, at character ${position} of sql` : '';
  const text = [`${where}: ${said}`, code && `(${code}${at})`, detail, hint].filter(Boolean).join(' ');
  const wayOut = waysOut.find(([codes]) => codes.test(code))?.[1];
  return new ToolcribError('PROGRAM_FAILED', withoutSecrets(text, secrets), wayOut);
}

/** A text without what must not be shown; the longest first, since one may be a part of another. */
export const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  [...secrets]
    .sort((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
