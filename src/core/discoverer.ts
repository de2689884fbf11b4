/**
 * Effects of running an action. Everything a host is told about a tool follows from them.
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

/** The files of a project, for a program's own code. Nothing is opened through a link, and nothing is run. */
export interface ProjectFiles {
  /** The text of a plain file of at most 1 MB; undefined when there is none, or something else is there. */
  read(path: string): Promise<string | undefined>;
  /** The kind of what lies at a path itself, links not followed; undefined when nothing does. */
  kind(path: string): Promise<'file' | 'folder' | 'link' | 'other' | undefined>;
  /** The entries of a folder; empty when there is none. */
  list(
    folder: string,
  ): Promise<readonly { readonly name: string; readonly kind: 'file' | 'folder' | 'link' | 'other' }[]>;
}

/** The place where an action would work, and its values. */
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
  /** Tells whether a person trusts the folder. Where one does, nothing has to be looked at closely. */
  trusted(): Promise<boolean>;
}

/** The findings of a program in a project before it is started there. */
export interface Inspection {
  /** Arguments to put before the action's own. */
  readonly argv?: readonly string[];
  /** Arguments to put behind all others. */
  readonly trailing?: readonly string[];
  /** Variables to set. */
  readonly env?: Readonly<Record<string, string>>;
  /** Notes for the caller, beside the answer. */
  readonly notes?: readonly string[];
  /** The reason why the folder has to be trusted first, as the rest of a sentence that begins with "it". */
  readonly trust?: string;
}

/** Tool names are `<program>_<action>`: `git_status`. */
export const toolName = ({ id }: { readonly id: string }, action: string): string => `${id}_${action}`;
