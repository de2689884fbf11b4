import type * as z from 'zod';

/**
 * What running an action can do. Everything a host is told about a tool follows from its effects.
 * - read     looks; changes nothing, runs no code the project supplies
 * - write    changes files inside the roots, or local state that can be changed back
 * - execute  runs code the project supplies: tests, builds, scripts, hooks, configure steps
 * - network  talks to another machine
 * - publish  changes what others see: push, a pull request, kubectl apply
 * - destroy  can lose work for good: reset --hard, clean, drop, rm, push --force
 *
 * `read` goes with `network` only.
 */
export const effects = ['read', 'write', 'execute', 'network', 'publish', 'destroy'] as const;
export type Effect = (typeof effects)[number];

export type Params = Readonly<Record<string, z.ZodType>>;
type NameOf<P extends Params> = Extract<keyof P, string>;

/** One piece of a command line. A plain string is always itself: `{{json .}}` and `stash@{0}` need no escaping. */
export type Arg<Name extends string = string> =
  | string
  /** Its value as one argument; absent: nothing. */
  | { readonly param: Name }
  /** An option with a value: `--tail 50`, or `--max-count=50` when the option ends with `=`. Absent: nothing. */
  | { readonly option: string; readonly param: Name }
  /** Only when the value is true. */
  | { readonly flag: string; readonly param: Name }
  /** One argument (or option with a value) for each item of a list. */
  | { readonly each: Name; readonly option?: string }
  /** One argument made of several pieces; nothing when one of its values is absent. */
  | { readonly join: readonly (string | { readonly param: Name })[] }
  /** A choice decides which arguments are put here. */
  | { readonly choose: Name; readonly from: Readonly<Record<string, readonly Arg<Name>[]>> }
  /** The items as they are, also those that begin with `-`: arguments of a program which the action runs. */
  | { readonly rest: Name };

interface ActionBase<P extends Params> {
  title: string;
  description: string;
  effects: readonly Effect[];
  params: P;
  /** Proof and documentation in one: checked by test/discoverers/laws.test.ts, printed in docs/tools.md. */
  example: { given?: z.input<z.ZodObject<P>>; runs: string };
  /** Shape of what `parse` returns. Present exactly when `parse` is. */
  result?: z.ZodObject;
}

/** An action that runs the program. */
export interface RunAction<P extends Params = Params> extends ActionBase<P> {
  /**
   * Where undo brings back all that the action could lose. `changes` makes the program print the files it could change,
   * each with a NUL at its end, below the top of the work tree: the checkpoint before it has to have them all. `unless`
   * makes it print what no checkpoint has. Neither changes anything.
   */
  takenBack?: { changes: readonly Arg<NameOf<P>>[]; unless: readonly string[] };
  argv: readonly Arg<NameOf<P>>[];
  timeoutMs?: number;
  /** Exit codes that are no failure; [0] when left out. */
  succeedsWith?: readonly number[];
  /** Pure. Throws when the output is not what the program is known to print. */
  parse?(stdout: string): unknown;
}

/** An action that reads a file of the project instead, because asking the program would run the project's code. */
export interface FileAction<P extends Params = Params> extends ActionBase<P> {
  /** Names to look for in the action's folder; the first that exists is read. */
  reads: readonly string[];
  parse(text: string): unknown;
}

/** A kind of database server, by the protocol it speaks; MariaDB speaks that of MySQL. */
export const databaseEngines = ['postgresql', 'mysql'] as const;
export type DatabaseEngine = (typeof databaseEngines)[number];

/** What a database is asked, always in a transaction that may only read. */
export type Question<Name extends string = string> =
  /** The caller's own query, and how many of its rows are returned at most. */
  | { readonly query: Name; readonly limit: Name }
  /** How the caller's query would be answered, without doing it. */
  | { readonly explain: Name }
  /**
   * Statements of ours, by the name their rows have in the result, and what their placeholders stand for. `missing` is
   * said when the first of them finds nothing.
   */
  | {
      readonly lists: Readonly<Record<string, string>>;
      readonly binds: readonly Name[];
      readonly missing?: string;
    };

/**
 * An action that asks a database server over its own protocol, without its program. Its parameters `profile` and
 * `database` say which; the operator says where that is and how one logs in.
 */
export interface QueryAction<P extends Params = Params> extends ActionBase<P> {
  database: DatabaseEngine;
  asks: Question<NameOf<P>>;
  parse?: undefined;
}

/** An action of a program beside a database's client that is told in its environment where to connect: a dump. */
export interface DatabaseProgramAction<P extends Params = Params> extends ActionBase<P> {
  database: DatabaseEngine;
  /** Names of the program, best first. */
  client: readonly string[];
  template: readonly Arg<NameOf<P>>[];
  /** The parameter with the path of the new file that what it prints goes to. */
  writes?: NameOf<P>;
  parse?: undefined;
}

export type DatabaseAction<P extends Params = Params> = QueryAction<P> | DatabaseProgramAction<P>;

export type Action<P extends Params = Params> = RunAction<P> | FileAction<P> | DatabaseAction<P>;

export type Platform = 'linux' | 'darwin' | 'win32';
export const categories = [
  'vcs',
  'runtime',
  'package-manager',
  'build',
  'container',
  'database',
  'editor',
  'other',
] as const;
export type Category = (typeof categories)[number];

/** Files of a folder that say "this project uses the program". */
export interface Signals {
  files?: readonly string[];
  folders?: readonly string[];
  extensions?: readonly string[];
}

/** What a program's own code may use to look at a project. Nothing is opened through a link, and nothing is run. */
export interface Look {
  /** The text of a plain file of at most 1 MB; undefined when there is none, or something else is there. */
  read(path: string): Promise<string | undefined>;
  /** What lies at a path itself, links not followed; undefined when nothing does. */
  kind(path: string): Promise<'file' | 'folder' | 'link' | 'other' | undefined>;
  /** What a folder holds; empty when there is none. */
  list(
    folder: string,
  ): Promise<readonly { readonly name: string; readonly kind: 'file' | 'folder' | 'link' | 'other' }[]>;
}

/** Where an action would work. */
export interface Situation {
  /** Name of the action. */
  readonly action: string;
  /** Absolute. */
  readonly folder: string;
  readonly roots: readonly string[];
  readonly effects: readonly Effect[];
  /** The values of the call, its paths checked. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Globs of files that a rule keeps from being read; see matchesPath(). */
  readonly denied: readonly string[];
  /** What it finds is only asked about where nobody trusts the folder: otherwise it need not look closely. */
  trusted(): Promise<boolean>;
}

/** What a program has found in a project before it is started there. */
export interface Inspection {
  /** Arguments to put before the action's own. */
  readonly argv?: readonly string[];
  /** Arguments to put behind all others. */
  readonly trailing?: readonly string[];
  /** Variables to set. */
  readonly env?: Readonly<Record<string, string>>;
  /** Why the folder has to be trusted first, as the rest of a sentence that begins with "it". */
  readonly trust?: string;
}

/** A program is data: how it is called, where it hides, and what can be done with it. */
export interface Discoverer<A extends Record<string, Params> = Record<string, Params>> {
  id: string;
  title: string;
  category: Category;
  homepage: string;
  /** Names of one program, best first: ['python3', 'python', 'py']. */
  programs: readonly string[];
  /** Run in an empty folder with a scrubbed environment. */
  version?: { args: readonly string[]; pattern: RegExp };
  /** Absolute paths to try when it is not on the search path; `~/` and `%NAME%` are expanded. */
  elsewhere?: Partial<Record<Platform, readonly string[]>>;
  /**
   * Where a project keeps its own copy, relative to the action's folder or any above it up to the root, or below
   * `$NAME/`, a folder named by a variable. Preferred over the machine's, and shown to the caller.
   */
  local?: { posix: readonly string[]; win32: readonly string[] };
  /** What to tell someone who does not have it. */
  install: Partial<Record<Platform, string>>;
  signals?: Signals;
  /** Names of variables it may inherit, beside the ones every child gets. */
  environment?: readonly string[];
  /** Variables it is always run with. */
  settings?: Readonly<Record<string, string>>;
  /** Arguments put before those of every action: a subcommand. */
  prefix?: readonly string[];
  /** Arguments put before everything else, so that the program does only what was asked; not shown in examples. */
  hardening?: readonly string[];
  /**
   * Looks at the project before each action, and says what has to be done about it. Throws a ToolcribError where the
   * program has nothing to work on. What it returns must not depend on `trusted`, but for `trust`.
   */
  inspect?(look: Look, situation: Situation): Promise<Inspection>;
  /** What to do about failures that its users meet most, told by what it says on standard error. */
  hints?: readonly { says: RegExp; wayOut: string }[];
  actions: { [K in keyof A]: Action<A[K]> };
}

/** Checks a discoverer: names in `argv` and `example` must be parameters of the same action. */
export function defineDiscoverer<A extends Record<string, Params>>(discoverer: Discoverer<A>): Discoverer<A> {
  return discoverer;
}

/** Checks an action that is defined apart from its discoverer. */
export const defineAction = <P extends Params>(action: Action<P>): Action<P> => action;

// The parameters of actions differ from each other, so a list of discoverers cannot name them all.
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyAction = Action<any>;
export type AnyDiscoverer = Omit<Discoverer, 'actions'> & { actions: Readonly<Record<string, AnyAction>> };

/** Tool names are `<program>_<action>`: `git_status`. */
export const toolName = (discoverer: { id: string }, action: string): string => `${discoverer.id}_${action}`;
