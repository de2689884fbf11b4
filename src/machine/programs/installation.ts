import type { Program } from '../../core/program.ts';
import type { Platform } from '../../core/discoverer.ts';

/** What is known of a program without loading its actions, as JSON can carry it: expressions by their sources. */
export interface ProgramFacts extends Pick<
  Program,
  'id' | 'title' | 'category' | 'site' | 'on' | 'elsewhere' | 'own' | 'environment'
> {
  readonly called: readonly string[];
  /** How to get it. */
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
  /** Where the folder comes from, for people: `PATH`, `login shell (/bin/zsh)`, `known folder`. */
  readonly source: string;
}

/** Where programs are looked for, in order, and what was left out. */
export interface SearchPath {
  readonly folders: readonly SearchFolder[];
  readonly skipped: readonly (SearchFolder & { readonly why: string })[];
  /** Another one when a folder has come, gone, or got or lost a file. */
  readonly stamp: string;
}

/** A program that was found. */
export interface Installation {
  readonly id: string;
  /** Absolute path of what is started. */
  readonly program: string;
  /** Arguments before all others: the script, where a Windows batch shim was resolved to `node.exe script.js`. */
  readonly leading: readonly string[];
  /** Its first words, by the name it was found by: `-m pip`. */
  readonly words: readonly string[];
  /** Where it was found, for people: the source of its search folder, or `known place`. */
  readonly source: string;
  /** Other candidates, and why they lost. */
  readonly others: readonly { readonly path: string; readonly why: string }[];
  /** The version manager whose shim it is; such a shim may download a toolchain, so its version is not probed. */
  readonly shim?: string;
  /** A copy that a project keeps: not started to tell its version, and used for that project only. */
  readonly own?: true;
}

export interface Version {
  /** Undefined when it could not be told. */
  readonly version?: string;
  /** Why there is no version. */
  readonly note?: string;
  /** It could not be started, or is a plugin that its program does not have. */
  readonly broken?: boolean;
}

/** Why candidates cannot be used, by id and path with a blank between them: found out by starting them. */
export type Broken = Readonly<Record<string, string>>;

export interface Discovery {
  readonly path: SearchPath;
  readonly installed: ReadonlyMap<string, Installation>;
  /** Why not, for the ones that were not found: what was looked for, and candidates that were refused. */
  readonly missing: ReadonlyMap<string, { readonly why: string }>;
}
