import type * as z from 'zod';
import type { AskReason } from './policy.ts';

/**
 * What running an action can do. Everything a host is told about a tool follows from its effects.
 * - read     looks; changes nothing, runs no code the project supplies
 * - write    changes files inside the roots, or local state that can be changed back
 * - execute  runs code the project supplies: tests, builds, scripts, hooks, configure steps
 * - network  talks to another machine
 * - destroy  can lose work for good: reset --hard, clean, drop, rm, push --force
 */
export const effects = ['read', 'write', 'execute', 'network', 'destroy'] as const;
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

/** A parameter by which a call is told from one that could run anything: each of its values is as usual, or a file of the project. */
export interface Unless<Name extends string = string> {
  readonly param: Name;
  readonly usual: RegExp;
  /** The files in the action's folder that a value stands for: any of these sets, all of its files. */
  readonly files?: (value: string) => readonly (readonly string[])[];
}

/** An action that runs the program. */
export interface RunAction<P extends Params = Params> extends ActionBase<P> {
  /** What it does in addition where the project is trusted: a commit then runs the hooks of the repository. */
  whenTrusted?: readonly Effect[];
  /**
   * What of the project the program would run for it, if it were let: hooks by their names, and what the guard knows
   * by others (`filter`, `diff`).
   */
  projectCode?: readonly string[];
  /**
   * What it does where the project has no copy of the program, and the variables it is run with then: the machine's own
   * runs no code of the project for it, whatever lies in the folder. `effects` stays what it can do at worst.
   */
  withoutLocal?: { effects: readonly Effect[]; settings?: Readonly<Record<string, string>> };
  /** The caller gives it a command or code of their own: a person is asked as about run_command, whoever trusts the project. */
  runsAnything?: true | Unless<NameOf<P>>;
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

/**
 * A question put to the program in the action's folder before the action itself, for programs whose
 * configuration lies in the project and can name other programs. It must not run anything itself.
 */
export interface Guard {
  /** Filled in with the values of the call, as an action's is. */
  argv: readonly Arg[];
  /** What is asked instead of a program too old to know the question: one that says this about it. */
  otherwise?: { says: RegExp; argv: readonly Arg[] };
  /** The actions before which it is asked; all when left out. */
  only?: readonly string[];
  succeedsWith: readonly number[];
  /**
   * A file of the repository that holds its configuration. One in which everything is known to be harmless answers the
   * question for actions that only read, without starting the program for it.
   */
  ordinary?: { file: string; accepts(text: string): boolean };
  /** Projects inside the project, in which the program would start itself again: the question is put there as well. */
  nested?: {
    effects: readonly Effect[];
    argv: readonly string[];
    /** Their folders, relative to where it was asked. */
    folders(stdout: string): string[];
    /** What each of them has. */
    marker: string;
  };
  /** Where the repository keeps its hooks: a folder of its data, unless the answer names another. */
  hooks?: { folder: string; elsewhere(stdout: string): string | undefined };
  /** Throws a ToolcribError when the action must not run here. */
  read(stdout: string, circumstances: Circumstances): Precautions;
}

/** What the answer to a guard's question is judged by. */
export interface Circumstances {
  effects: readonly Effect[];
  /** Whether a person trusts the project as it is now. What is nested in it never is. */
  trusted: boolean;
  /** For what is nested: the answer of the project around it, and whether that one is trusted. */
  within?: { answer: string; trusted: boolean };
  /** See RunAction. */
  projectCode: readonly string[];
  /** The hooks among `projectCode` that are there and can be run. */
  hooks: readonly string[];
  /** The folder whose Compose files are used, for programs that have such. */
  home?: string;
}

/** How a program's repositories look on disk. */
export interface Repository {
  /** The entry that makes a folder a repository: `.git`. */
  folder: string;
  /**
   * Where the program writes in it: all entries at the top but `leave`, and everything below `deep`, folders that are
   * called `leave` or `bulk` apart.
   */
  written: { deep: readonly string[]; leave: readonly string[]; bulk: readonly string[] };
}

/** What makes an action safe to run in a project. */
export interface Precautions {
  /** Arguments to put before the action's own. */
  argv: readonly string[];
  /** Variables to set. */
  env: Readonly<Record<string, string>>;
  /** What the caller is told. */
  notes: readonly string[];
  /** Why a person has to be asked in any case, and what they have to see. */
  asks?: AskReason;
  shows?: readonly { readonly title: string; readonly text: string }[];
  /** What an answer of "always" is kept for; see PermitRequest. */
  always?: { readonly key: string; readonly says: string };
  /** What it does in addition, because of what the project says. */
  adds?: readonly Effect[];
  /** What a person sees when they are asked, without being asked because of it. */
  tells?: readonly { readonly title: string; readonly text: string }[];
  /** Files and folders it would hand to somebody: a person is asked about those that are outside the roots or protected. */
  handsOut?: readonly { readonly path: string; readonly says: string }[];
  /** Files that the program would read because the project says so, from the top of the repository: none lies outside. */
  reads?: readonly { readonly path: string; readonly says: string }[];
  /** A second question, whose answer must be a path inside the roots. */
  mustBeInside?: readonly string[];
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
  /** Set for programs that work on a repository: one must be there, inside the roots. */
  repository?: Repository;
  guard?: Guard;
  /**
   * What its files of a project are called: the best of `names` of a folder, looked for upwards, and one of `overrides`.
   * Which files these have it read is found out before it reads any.
   */
  composeFiles?: { names: readonly string[]; overrides: readonly string[] };
  /** A file of the project, looked for upwards, with lines that must not be there when another machine is asked. */
  ownSettings?: { file: string; refuses: RegExp };
  /**
   * A question whose answer is the folder the program would work on, for programs that look for it upwards; asked
   * before every action but the named ones. The folder must be inside the roots.
   */
  worksOn?: { argv: readonly string[]; except: readonly string[] };
  /** What to do about failures that its users meet most, told by what it says on standard error. */
  hints?: readonly { says: RegExp; wayOut: string }[];
  /** The variable that lists folders above which the program must not look for its project. */
  ceiling?: string;
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
