import { ToolcribError } from '../../core/errors.ts';
import { cursorFor } from './postgres-session.ts';
import { DatabaseProblem, type Limits } from './session.ts';
import type { Target } from './target.ts';

interface Where {
  readonly target: Target;
  /** The database, for people. */
  readonly where: string;
  readonly signal: AbortSignal;
  readonly limits: Limits;
}

/** The parts of the drivers' errors. */
interface DriverError {
  readonly message?: string;
  readonly code?: string;
  readonly errno?: number;
  readonly detail?: string;
  readonly hint?: string;
  readonly position?: string;
  /** Of the error of several attempts to connect, whose own message is empty. */
  readonly errors?: readonly Error[];
}

/** PostgreSQL: statement_timeout and a cancel; MySQL: KILL, its limit of time and MariaDB's. */
const stoppedCodes: readonly unknown[] = ['57014', 1317, 3024, 1969];
const cannotConnect =
  /^(?:ECONNREFUSED|ENOENT|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EACCES)$/;

/** What a caller is told about a failure: without passwords, and what was stopped by whom. */
export function failureOfDatabase(error: unknown, { target, where, signal, limits }: Where): unknown {
  if (error instanceof ToolcribError) return error;
  if (signal.aborted) return new ToolcribError('CANCELLED', 'The query was cancelled on the server.');
  const { code, errno, detail, hint, position } = error as DriverError;
  const said = withoutSecrets(messageOf(error as DriverError), target.secrets);
  if (error instanceof DatabaseProblem) {
    return error.kind === 'too-large'
      ? new ToolcribError(
          'TOO_LARGE',
          `${said}.`,
          'Select fewer columns, or parts of them: left(text, 1000).',
        )
      : new ToolcribError('ARG_INVALID', `sql: ${said}.`);
  }
  if (stoppedCodes.includes(code) || stoppedCodes.includes(errno)) {
    return new ToolcribError(
      'TIMEOUT',
      `The server stopped after ${limits.statementMs / 1000} s: ${said}.`,
      'Ask for less, or look at how it is answered with the explain action.',
    );
  }
  const all = [
    `${where}: ${messageOf(error as DriverError)}`,
    code === undefined ? '' : `(${code}${at(position)})`,
    detail ?? '',
    hint ?? '',
  ];
  const text = all.filter((part) => part !== '').join(' ');
  return new ToolcribError('PROGRAM_FAILED', withoutSecrets(text, target.secrets), wayOut(code));
}

const messageOf = ({ message, errors }: DriverError): string =>
  message || errors?.map((each) => each.message).join('; ') || 'the connection failed';

/** Where in the caller's own text the server found something. */
function at(position: string | undefined): string {
  const own = Number(position) - cursorFor.length;
  return own > 0 ? `, at character ${own} of sql` : '';
}

function wayOut(code: string | undefined): string {
  if (code !== undefined && cannotConnect.test(code))
    return 'Is the server running? Where it is comes from a profile of the settings, DATABASE_URL, or what its own programs use.';
  return /^(?:42601|25006|ER_PARSE_ERROR|ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION)$/.test(code ?? '')
    ? 'One SELECT, VALUES, TABLE or WITH is run, in a transaction that changes nothing.'
    : '';
}

/** A text without what must not be shown; the longest first, since one may be a part of another. */
export const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  [...secrets]
    .sort((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
