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
  /** What the caller should know about this answer. */
  readonly notes?: readonly string[];
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
 * Time: well below the 45 s in which a call answers. Bytes: the most rows of a call, at 8 KB each. A value: twice what is
 * shown of one, the rest being for who reads the rows where they are kept.
 */
export const usualLimits: Limits = { statementMs: 30_000, bytes: 8 * 1024 * 1024, cell: 8000 };

/** A connection in a transaction that may only read. Every method throws what the server says, and DatabaseProblem. */
export interface Session {
  /** What the caller should know about how this connection reads. */
  readonly notes: readonly string[];
  /** At most `most` rows of one query. */
  query(sql: string, most: number): Promise<Table>;
  /** How one query would be answered; it is not run. */
  explain(sql: string): Promise<unknown>;
  /** The rows of a statement of ours, with values for its placeholders. */
  list(sql: string, values: readonly unknown[]): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Ends the connection, and on the server what still runs for it. Never rejects. */
  end(): Promise<void>;
}

/** Connects. When the signal aborts, what runs is cancelled on the server, and the pending method rejects. */
export type OpenSession = (target: Target, limits: Limits, signal: AbortSignal) => Promise<Session>;

/** What is refused before the server is asked, or what it was stopped for. */
export class DatabaseProblem extends Error {
  readonly kind: 'too-large' | 'not-a-query';
  constructor(kind: DatabaseProblem['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Milliseconds in which a server that was told to stop has to say that it did, before the connection is cut. */
export const graceMs = 2000;

/** What `work` brings, unless it takes longer. Never rejects. */
export async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  // How it ended is of no interest to those who only wait for the end.
  await Promise.race([
    work.then(
      () => undefined,
      () => undefined,
    ),
    late,
  ]);
  clearTimeout(timer);
}
