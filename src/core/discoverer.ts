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

/** A kind of database server, by the protocol it speaks; MariaDB speaks that of MySQL. */
export type DatabaseEngine = 'postgresql' | 'mysql';

/** What a database is asked: in a transaction that may only read, unless it is a statement that writes. */
export type DatabaseQuestion<Name extends string = string> =
  /** The caller's own query, and how many of its rows are returned at most. */
  | { readonly query: Name; readonly limit: Name }
  /** The caller's statement, which may write; somebody is asked before, whatever the login may do. */
  | { readonly statement: Name }
  /**
   * Statements of ours, by the name their rows have in the result, and what their placeholders stand for. `missing` is
   * said when the first of them finds nothing.
   */
  | {
      readonly lists: Readonly<Record<string, string>>;
      readonly binds: readonly Name[];
      readonly missing?: string;
    };

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

/** What a program's own code may use to look at a project. Nothing is opened through a link, and nothing is run. */
export interface ProjectFiles {
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
export interface InspectionRequest {
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
  /** What the caller is told beside the answer. */
  readonly notes?: readonly string[];
  /** Why the folder has to be trusted first, as the rest of a sentence that begins with "it". */
  readonly trust?: string;
}

/** Tool names are `<program>_<action>`: `git_status`. */
export const toolName = ({ id }: { readonly id: string }, action: string): string => `${id}_${action}`;
