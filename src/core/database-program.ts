import type { Line } from './command-line.ts';
import type { DatabaseEngine, Effect } from './discoverer.ts';
import type { Params } from './parameter.ts';
import type { Action, ActionFields, Program, ProgramAction } from './program.ts';

/** A question to a database: in a transaction that may only read, unless it is a statement that writes. */
export type DatabaseQuestion =
  /** The parameters with the caller's own query, and with how many of its rows are returned at most. */
  | { readonly query: string; readonly limit: string }
  /** The parameter with a statement that may write; somebody is asked before, whatever the login may do. */
  | { readonly statement: string }
  /**
   * Statements of ours, by the name their rows have in the result, and the parameters that their placeholders
   * stand for. `missing` is said when the first of them finds nothing.
   */
  | {
      readonly lists: Readonly<Record<string, string>>;
      readonly binds: readonly string[];
      readonly missing?: string;
    };

/** An action that asks a server over its own protocol; its parameters `profile` and `database` say which. */
export interface DatabaseQuery extends Action {
  readonly databaseQuestion: DatabaseQuestion;
}

/** An action of a program beside the client, which is told in its environment where to connect. */
export interface DatabaseDump extends Action {
  /** Names of the program, best first. */
  readonly client: readonly string[];
  readonly run: Line<never>;
  /** The parameter with the path of the new file that what it prints goes to. */
  readonly writes: string;
}

/** The client of a database server, whose actions speak to the server, or start a program that does. */
export interface DatabaseProgram extends Program<DatabaseQuery | DatabaseDump> {
  readonly engine: DatabaseEngine;
}
/** A program of any sort, and an action of one. */
export type AnyProgram = Program | DatabaseProgram;
export type AnyAction = ProgramAction | DatabaseQuery | DatabaseDump;

/** Defines a program whose actions are about databases of one engine. */
export const databaseProgram = (id: string, spec: Omit<DatabaseProgram, 'id'>): DatabaseProgram => ({
  id,
  ...spec,
});

/** Defines an action that asks a database. */
export const databaseQuery = <const P extends Params>(
  title: string,
  description: string,
  effects: readonly Effect[],
  spec: ActionFields<P> & Pick<DatabaseQuery, 'databaseQuestion'>,
): DatabaseQuery => ({ params: {}, ...spec, title, description, effects }) as unknown as DatabaseQuery;

/** Defines an action that writes what a program of the engine prints to a new file. */
export const databaseDump = <const P extends Params>(
  title: string,
  description: string,
  effects: readonly Effect[],
  spec: ActionFields<P> & Pick<DatabaseDump, 'client' | 'writes'> & { readonly run: Line<P> },
): DatabaseDump => ({ params: {}, ...spec, title, description, effects }) as unknown as DatabaseDump;

/** Tells a program of a database from others. */
export const isDatabaseProgram = (of: AnyProgram): of is DatabaseProgram => 'engine' in of;
