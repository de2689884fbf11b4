import { readFile } from 'node:fs/promises';
import { headOf } from '../../core/cut-text.ts';
import { ToolcribError } from '../../core/errors.ts';
import { parseExactly } from '../../core/exact-json.ts';
import type { Protection, Target } from './target.ts';

/** The rows that a query brought. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

/** Limits of what a call takes of a server. */
export interface QueryLimits {
  /** Milliseconds a statement may take; the server ends it then. */
  readonly statementMs: number;
  /** Bytes of an answer that are read from the connection. */
  readonly bytes: number;
}

/** Time: well below the 45 s in which a call answers. Bytes: the most rows of a call, at 8 KB each. */
export const usualLimits: QueryLimits = { statementMs: 30_000, bytes: 8 * 1024 * 1024 };

/** Milliseconds until a server has to have answered: to connect, and to be told to stop. */
export const connectMs = 10_000;
export const graceMs = 2000;
/** Seconds a query waits for a lock; readers wait only for changes of the tables themselves. */
export const lockSeconds = 5;

/**
 * A connection whose transaction may only read, and is never committed, but for that of `change`. Every
 * method throws what the server says.
 */
export interface DatabaseSession {
  readonly stream: Stream;
  /**
   * Begins the transaction. Returns the rights of the login that this does not bind; undefined where there
   * are none.
   */
  begin(): Promise<string | undefined>;
  /** At most `most` rows of one query, whose placeholders stand for `values`. */
  query(sql: string, most: number, values?: readonly unknown[]): Promise<Table>;
  /**
   * Does what may write, in a transaction of its own: all of it, or on failure nothing. Rows that it returns,
   * too.
   */
  change(sql: string): Promise<Table & { readonly changed: number }>;
  /** Ends on the server what is running, over another connection. */
  cancel(): Promise<unknown>;
  end(): Promise<unknown>;
}

type Stream = NodeJS.ReadableStream & { destroy(): void };

/** Connects, and no more. */
export type OpenSession = (
  target: Target,
  limits: QueryLimits,
  encryption?: Encryption,
) => Promise<DatabaseSession>;

/**
 * Does `work` over a connection of its own. When the signal aborts, what runs is cancelled on the server, and
 * so it is when more comes than the limit of bytes. Throws TOO_LARGE.
 */
export async function inSession<T>(
  opened: { readonly openSession: OpenSession; readonly target: Target; readonly limits: QueryLimits },
  signal: AbortSignal,
  work: (session: DatabaseSession, beyond: string | undefined) => Promise<T>,
): Promise<T> {
  const { openSession, target, limits } = opened;
  signal.throwIfAborted();
  const tooMuch = new AbortController();
  const givenUp = AbortSignal.any([signal, tooMuch.signal]);
  const aborted = new Promise<never>((_, reject) =>
    givenUp.addEventListener('abort', () => reject(givenUp.reason as Error), { once: true }),
  );
  const opening = connectProtected(target, (encryption) => openSession(target, limits, encryption));
  const done = opening.then(async (session) => {
    let left = limits.bytes;
    session.stream.on('data', ({ length }: Buffer) => {
      left -= length;
      if (left >= 0) return;
      tooMuch.abort(tooLarge(limits));
      session.stream.destroy();
    });
    return work(session, await session.begin());
  });
  try {
    return await Promise.race([done, aborted]);
  } finally {
    // Also of a connection that comes when nobody waits for it any more; no failure to leave it changes what
    // came.
    opening.then((session) => leave(session, givenUp.aborted)).catch(() => {});
  }
}

async function leave(session: DatabaseSession, isCancelled: boolean): Promise<void> {
  setTimeout(() => session.stream.destroy(), graceMs).unref();
  await (isCancelled ? session.cancel() : session.end());
  session.stream.destroy();
}

const tooLarge = ({ bytes }: QueryLimits): ToolcribError =>
  new ToolcribError(
    'TOO_LARGE',
    `The answer is larger than the ${bytes} bytes that are read.`,
    'Ask for fewer rows or columns, or for parts of them: left(text, 1000).',
  );

/** Options of node:tls. Without the last one the certificate has to be made out to the host. */
export type Encryption = { rejectUnauthorized: boolean; ca?: string; checkServerIdentity?: () => undefined };

/**
 * Connects as PostgreSQL defines the kinds of protection: with `require` the certificate is looked at only
 * where authorities are named; with `prefer`, a server that cannot encrypt is asked a second time without.
 */
export async function connectProtected<C>(
  { sslmode, sslrootcert }: { readonly sslmode: Protection; readonly sslrootcert?: string },
  connect: (encryption?: Encryption) => Promise<C>,
): Promise<C> {
  if (sslmode === 'disable') return connect();
  // `system` stands for the authorities that Node trusts by itself.
  const named = sslrootcert !== undefined && sslrootcert !== 'system';
  try {
    return await connect({
      rejectUnauthorized: sslmode.startsWith('verify') || (sslmode === 'require' && named),
      ...(named && { ca: await readFile(sslrootcert, 'utf8') }),
      ...(sslmode !== 'verify-full' && { checkServerIdentity: () => undefined }),
    });
  } catch (error) {
    // As the drivers for PostgreSQL and MySQL say it.
    const cannot = /does not support (?:SSL|secure)/.test((error as Error).message);
    if (sslmode !== 'prefer' || !cannot) throw error;
    return connect();
  }
}

/**
 * Bytes of a value that are shown: enough to tell what it is, which is all that hexadecimal tells a reader.
 */
const shownBytes = 256;

/**
 * Characters of a value that are kept: twice what is shown of one, the rest being for who reads the rows
 * kept.
 */
const keptCharacters = 8000;

/** A text, cut where it has more characters than are kept, which is said at its end. */
export function shortened(text: string, most = keptCharacters): string {
  if (text.length <= most) return text;
  const head = headOf(text, most);
  return `${head}… [${text.length - head.length} more characters]`;
}

/** Bytes that come in hexadecimal, as `\x0102`. */
export const hexOf = (hex: string): string => shortened(`\\x${hex}`, shownBytes * 2 + 2);

/**
 * The value of a column of JSON; a text where that is none to us: MariaDB's can be any, PostgreSQL's can be
 * too deep.
 */
export function jsonOf(text: string): unknown {
  if (text.length > keptCharacters) return shortened(text);
  try {
    return parseExactly(text);
  } catch {
    // Shown as it came.
    return text;
  }
}
