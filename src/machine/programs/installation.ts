import type { Program } from '../../core/program.ts';
import type { Platform } from '../../core/discoverer.ts';

/**
 * The facts about a program that are known without loading its actions, in a form that JSON can hold: regular
 * expressions are given by their sources.
 */
export interface ProgramFacts extends Pick<
  Program,
  'id' | 'title' | 'category' | 'site' | 'on' | 'elsewhere' | 'own' | 'environment'
> {
  readonly called: readonly string[];
  /** Instructions to install it, by platform. */
  readonly install: Readonly<Partial<Record<Platform, string>>>;
  readonly version?: {
    readonly args: readonly string[];
    readonly pattern: string;
    readonly caches?: readonly string[];
  };
  readonly project?: readonly (string | { readonly file: string; readonly has: string })[];
  readonly everyday?: Readonly<Record<string, string>>;
}

export interface SearchFolder {
  readonly folder: string;
  /** The origin of the folder, for people: `PATH`, `login shell (/bin/zsh)`, `known folder`. */
  readonly source: string;
}

/** The folders that are searched for programs, in order, and those that are left out. */
export interface SearchPath {
  readonly folders: readonly SearchFolder[];
  readonly skipped: readonly (SearchFolder & { readonly why: string })[];
  /** A text that changes when a folder has come, gone, or got or lost a file. */
  readonly stamp: string;
}

/** A program that was found on this machine. */
export interface Installation {
  readonly id: string;
  /** The absolute path of the file that is started. */
  readonly program: string;
  /**
   * The arguments before all others: the script, where a Windows batch shim was resolved to `node.exe
   * script.js`.
   */
  readonly leading: readonly string[];
  /** The first words after the program, by the name under which it was found: `-m pip`. */
  readonly words: readonly string[];
  /** The place where it was found, for people: the source of its search folder, or `known place`. */
  readonly source: string;
  /** The other candidates, and the reasons why they lost. */
  readonly others: readonly { readonly path: string; readonly why: string }[];
  /**
   * The version manager whose shim it is; such a shim may download a toolchain, so its version is not probed.
   */
  readonly shim?: string;
  /**
   * True for a copy in a project, which is used for that project only and not started to tell its version.
   */
  readonly own?: true;
}

export interface Version {
  /** The version; undefined when it could not be determined. */
  readonly version?: string;
  /** The reason why there is no version. */
  readonly note?: string;
  /** True where it could not be started, or is a plugin that its program does not have. */
  readonly broken?: boolean;
}

/**
 * The reasons why candidates cannot be used, found out by starting them. The keys are id and path with a
 * blank between them.
 */
export type BrokenPrograms = Readonly<Record<string, string>>;

export interface Discovery {
  readonly path: SearchPath;
  readonly installed: ReadonlyMap<string, Installation>;
  /** The reasons why programs were not found: what was searched for, and candidates that were refused. */
  readonly missing: ReadonlyMap<string, { readonly why: string }>;
}
