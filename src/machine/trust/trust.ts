import { homedir } from 'node:os';
import { realpathSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import { isInside } from '../paths/inside.ts';
import { shownPath } from '../paths/shown-path.ts';
import { changesBetween, keptFiles, type Change } from './changes.ts';
import { createLooks, usualBounds, type Bounds, type Look, type RunItem } from './look-through.ts';
import { buildFolder, foldersOf, shownOf, withFolders } from './build-folders.ts';
import { createTrustStore, type Grant } from './trust-store.ts';

/** Something in a project that decides what runs there. */
export type RunFile = Pick<RunItem, 'path' | 'size' | 'what' | 'text'>;

export interface TrustState {
  /** Whether a person has trusted the project as it is now. */
  readonly trusted: boolean;
  /** Of the content of all that decides what runs, for `trust`. */
  readonly digest: string;
  /** By their paths; `text` is what counts of their content, without passwords, of those that are not long. */
  readonly files: readonly RunFile[];
  /** Since it was last trusted; empty when it never was. */
  readonly changes: readonly Change[];
  /** Names of folders that are not looked into, where an action is always asked about; the first of them. */
  readonly leftOut: readonly string[];
  /** What the digest does not cover although it might run, and why, for people. */
  readonly incomplete?: string;
  /** Why it cannot be trusted at all, for people. */
  readonly untrustable?: string;
  /** Set when all of this is also about build folders in the project, by their paths from there; trust is never about one. */
  readonly apart?: readonly string[];
  /** Why what was kept about the project is not believed, for people. */
  readonly problem?: string;
}

export interface TrustedProject {
  readonly project: string;
  /** ISO 8601; undefined when only grants are kept. */
  readonly trustedAt?: string;
  /** Whether it is still as it was trusted. */
  readonly current: boolean;
  readonly grants: readonly Grant[];
}

/** Absolute paths; what does not exist yet counts as where it will be. */
export type Places = string | readonly string[];

/** Trust of a person in projects. A project is a real absolute folder, and nothing above or below it that has its own. */
export interface Trust {
  /** For what works in folders, or on files: with what the build folders hold in which they are, if CMake has made those. */
  stateOf(project: string, places?: Places): Promise<TrustState>;
  /**
   * Whether what runs is trusted in these folders, and those of these files (the project itself when left out): also not
   * when one of them is not looked into. For a project that nobody trusts it costs one look for a file.
   */
  isTrusted(project: string, places?: Places): Promise<boolean>;
  /** Whether the digest of the state for these places is about all that runs there, so that a lasting answer can be bound to it. */
  covers(project: string, places: Places): Promise<boolean>;
  /**
   * Throws NOT_CONFIRMED when what decides what runs is no longer what was shown under that digest, ARG_INVALID for what
   * is no real path of a folder, holds the home folder or could change unnoticed, WRITE_FAILED when it cannot be kept.
   */
  trust(project: string, digest: string): Promise<void>;
  /** Forgets trust and grants; whether there were any. Throws WRITE_FAILED. */
  revoke(project: string): boolean;
  /** By their paths. `damaged` is how many files were not believed. */
  list(): Promise<{ projects: TrustedProject[]; damaged: number }>;
  /** Answers of "always". One with a digest counts only for the same digest. */
  readonly grants: {
    has(project: string, tool: string, key: string, digest?: string): boolean;
    /** Throws WRITE_FAILED when it cannot be kept. */
    add(grant: Omit<Grant, 'grantedAt'>): void;
  };
}

/** As many projects as are remembered with what they hold. */
const mostProjects = 16;

/** `folder` is the state folder; without one nothing is ever trusted. Nothing is read before it is asked for. */
export function createTrust({
  folder,
  bounds = usualBounds,
}: {
  folder: string | undefined;
  bounds?: Bounds;
}): Trust {
  const store = createTrustStore(folder);
  const looks = new Map<string, () => Promise<Look>>();

  const asked = new Map<string, Promise<Look>>();

  /** Once for all that ask before it has begun; what is asked later sees what has changed meanwhile. */
  function look(project: string): Promise<Look> {
    const soon =
      asked.get(project) ??
      Promise.resolve().then(() => {
        asked.delete(project);
        return lookNow(project);
      });
    asked.set(project, soon);
    return soon;
  }

  function lookNow(project: string): Promise<Look> {
    const known = looks.get(project) ?? createLooks(project, bounds, folder);
    // The last one used is the last to go.
    looks.delete(project);
    looks.set(project, known);
    const [oldest] = looks.keys();
    if (looks.size > mostProjects && oldest !== undefined) looks.delete(oldest);
    return known();
  }

  const looked = async (folder: string) => ({ folder, look: await look(folder) });

  return {
    async stateOf(project, places = project) {
      mustBeReal(project);
      if (isTooWide(project))
        return { ...unseen, untrustable: `${shownPath(project)} holds the home folder` };
      const now = await look(project);
      const record = store.record(project);
      const problem = store.problem(project);
      const before = record && record.digest !== now.digest ? store.files(project, record.digest) : undefined;
      const state: TrustState = {
        trusted: record?.digest === now.digest && now.doubts.length === 0,
        digest: now.digest,
        files: now.items.map(shownOf),
        changes: before ? changesBetween(before, now.items) : [],
        leftOut: now.leftOut,
        ...(now.missed.length > 0 && { incomplete: now.missed.join('; ') }),
        ...(now.doubts.length > 0 && { untrustable: doubted(now) }),
        ...(problem !== undefined && { problem }),
      };
      const apart = new Set(foldersOf(places).flatMap((folder) => buildFolder(project, folder, now) ?? []));
      return apart.size === 0
        ? state
        : withFolders(state, project, await Promise.all([...apart].sort().map(looked)));
    },

    async isTrusted(project, places = project) {
      const record = store.record(project);
      if (!record) return false;
      const now = await look(project);
      const isIn = (folder: string) => now.folders.has(folder);
      return record.digest === now.digest && now.doubts.length === 0 && foldersOf(places).every(isIn);
    },

    async covers(project, places) {
      if (!isReal(project) || isTooWide(project)) return false;
      const now = await look(project);
      if (now.doubts.length > 0) return false;
      for (const folder of foldersOf(places)) {
        if (now.folders.has(folder)) continue;
        const apart = buildFolder(project, folder, now);
        const inside = apart === undefined ? undefined : await look(apart);
        if (!inside?.folders.has(folder) || inside.doubts.length > 0) return false;
      }
      return true;
    },

    async trust(project, digest) {
      mustBeReal(project);
      if (isTooWide(project)) throw tooWide(project);
      const now = await look(project);
      if (now.digest !== digest) throw notShown(project);
      if (now.doubts.length > 0) throw uncovered(project, now);
      store.keep({ project, digest, trustedAt: new Date().toISOString() }, keptFiles(now.items));
    },

    revoke: (project) => store.forget(project),

    async list() {
      const { records, grants, damaged } = store.all();
      const names = new Set([...records, ...grants].map(({ project }) => project));
      const projects: TrustedProject[] = [];
      for (const project of [...names].sort()) {
        const record = records.find((one) => one.project === project);
        projects.push({
          project,
          ...(record && { trustedAt: record.trustedAt }),
          current: record !== undefined && isReal(project) && (await look(project)).digest === record.digest,
          grants: grants.filter((grant) => grant.project === project),
        });
      }
      return { projects, damaged };
    },

    grants: {
      has(project, tool, key, digest) {
        const grant = store.grant(project, tool, key);
        return grant !== undefined && (grant.digest === undefined || grant.digest === digest);
      },
      add: (grant) => store.keepGrant({ ...grant, grantedAt: new Date().toISOString() }),
    },
  };
}

const doubted = ({ doubts }: Look): string => `changes of it could go unnoticed: ${doubts.join('; ')}`;

function mustBeReal(project: string): void {
  if (isReal(project)) return;
  throw new ToolcribError(
    'ARG_INVALID',
    `${shownPath(project)}: is not the real path of a folder, and only those can be trusted.`,
    'Give the path without symbolic links, as `pwd -P` shows it.',
  );
}

function isReal(project: string): boolean {
  try {
    return isAbsolute(project) && resolve(project) === project && realpathSync.native(project) === project;
  } catch {
    // Nothing there.
    return false;
  }
}

const unseen: TrustState = { trusted: false, digest: '', files: [], changes: [], leftOut: [] };

/** What holds the home folder is no project: whatever is unpacked in it would be part of it. */
function isTooWide(project: string): boolean {
  try {
    return isInside(realpathSync.native(homedir()), project);
  } catch {
    // A home that does not exist is only a path.
    return isInside(homedir(), project);
  }
}

const tooWide = (project: string): ToolcribError =>
  new ToolcribError(
    'ARG_INVALID',
    `${shownPath(project)}: holds the home folder, and is no project.`,
    'Trust the projects in it, one by one.',
  );

const uncovered = (project: string, look: Look): ToolcribError =>
  new ToolcribError(
    'ARG_INVALID',
    `${shownPath(project)}: cannot be trusted, since ${shownPath(doubted(look))}.`,
    'Trust a folder in it that is a project of its own, and make that a root.',
  );

const notShown = (project: string): ToolcribError =>
  new ToolcribError(
    'NOT_CONFIRMED',
    `${shownPath(project)}: what would run there has changed since it was shown; it is not trusted.`,
    'Look at it again.',
  );
