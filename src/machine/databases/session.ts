import { ToolcribError } from '../../core/errors.ts';
import type { Target } from './target.ts';

export interface Column {
  readonly name: string;
  /** As the server calls it: `numeric(10,2)`, `int unsigned`. */
  readonly type: string;
}

/** What a query brought. */
export interface Table {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly unknown[])[];
  /** There are more rows than were asked for, or than fit into the limits. */
  readonly truncated: boolean;
}

/** What a call may take of a server. */
export interface Limits {
  /** Milliseconds a statement may take; the server ends it then. */
  readonly statementMs: number;
  /** Bytes of an answer that are read from the connection. */
  readonly bytes: number;
  /** Characters of a value that are kept. */
  readonly cell: number;
}

/**
 * Time: well below the 45 s in which a call answers. Bytes: the most rows of a call, at 8 KB each. A value: twice what
 * is shown of one, the rest being for who reads the rows where they are kept.
 */
export const usualLimits: Limits = { statementMs: 30_000, bytes: 8 * 1024 * 1024, cell: 8000 };

/** Milliseconds until a server has to have answered: to connect, and to be told to stop. */
export const connectMs = 10_000;
export const graceMs = 2000;

/** A connection in a transaction that may only read, never committed. Every method throws what the server says. */
export interface Session {
  /** What the login may do that such a transaction does not bind; undefined where that is nothing. */
  readonly beyond: string | undefined;
  /** At most `most` rows of one query, whose placeholders stand for `values`. */
  query(sql: string, most: number, values?: readonly unknown[]): Promise<Table>;
  /** How one query would be answered; it is not run. */
  explain(sql: string): Promise<unknown>;
  end(): void;
}

/** Connects. When the signal aborts, what runs is cancelled on the server, and the pending method rejects. */
export type OpenSession = (target: Target, limits: Limits, signal: AbortSignal) => Promise<Session>;

/** What `work` brings, unless more bytes than that come over its connection, which is cut then. Throws TOO_LARGE. */
export async function within<T>(
  bytes: number,
  stream: NodeJS.ReadableStream & { destroy(): void },
  work: Promise<T>,
): Promise<T> {
  let left = bytes;
  const count = (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) stream.destroy();
  };
  stream.on('data', count);
  try {
    return await work;
  } catch (error) {
    if (left >= 0) throw error;
    throw new ToolcribError(
      'TOO_LARGE',
      `The answer is larger than the ${bytes} bytes that are read.`,
      'Ask for fewer rows or columns, or for parts of them: left(text, 1000).',
    );
  } finally {
    stream.off('data', count);
  }
}
