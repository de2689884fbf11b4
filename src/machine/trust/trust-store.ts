import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { ToolcribError } from '../../core/errors.ts';
import { isPrivate, makePrivate, readPrivate, writePrivate } from '../folders.ts';

/** That a person has trusted a project, with what it was then. */
export interface TrustRecord {
  readonly project: string;
  readonly digest: string;
  /** ISO 8601. */
  readonly trustedAt: string;
}

/** What a project had that decides what runs, to tell later what has changed. */
export interface KeptFile {
  readonly path: string;
  readonly hash: string;
  readonly text?: string;
}

/** An answer of "always", for one tool in one project. */
export interface Grant {
  readonly project: string;
  readonly tool: string;
  /** What it was given for; the tool's own affair. */
  readonly key: string;
  /** The same, for people. */
  readonly says: string;
  /** Set when it only counts for a project, or whatever else this was made of, with that content. */
  readonly digest?: string | undefined;
  /** ISO 8601. */
  readonly grantedAt: string;
}

/** What is kept. Every fact has a file of its own, replaced in one step: processes never lose each other's. */
export interface TrustStore {
  record(project: string): TrustRecord | undefined;
  /** As they were when the project had that digest; undefined when that is not known any more. */
  files(project: string, digest: string): readonly KeptFile[] | undefined;
  /** Throws WRITE_FAILED. */
  keep(record: TrustRecord, files: readonly KeptFile[]): void;
  grant(project: string, tool: string, key: string): Grant | undefined;
  /** Throws WRITE_FAILED. */
  keepGrant(grant: Grant): void;
  /** All that is kept; what cannot be understood is left out. */
  all(): { records: TrustRecord[]; grants: Grant[]; damaged: number };
  /** Whether something was kept. Throws WRITE_FAILED when it is still there. */
  forget(project: string): boolean;
  /** Why what is kept of a project is not believed; undefined when all is well. */
  problem(project: string): string | undefined;
}

/** `folder` is the state folder; without one nothing can be kept. Nothing is touched before it is used. */
export function createTrustStore(state: string | undefined): TrustStore {
  const folder = state === undefined ? undefined : `${state}/trust`;
  // Whoever could replace the folder above could replace this one.
  const isSafe = () => state !== undefined && isPrivate(state);
  const read = (name: string): unknown => (isSafe() ? parsed(readPrivate(folder, name)) : undefined);

  function write(name: string, value: unknown): void {
    if (state === undefined || folder === undefined) throw noFolder();
    const text = JSON.stringify(value);
    if (isPrivateNow(state) && isPrivateNow(folder)) writePrivate(folder, name, text);
    if (readPrivate(folder, name)?.toString('utf8') !== text) throw notKept(folder);
  }

  const record = (project: string) => asRecord(read(recordName(project)), project);

  return {
    record,

    files(project, digest) {
      const kept = read(filesName(project));
      if (!isObject(kept) || kept['digest'] !== digest || !Array.isArray(kept['files'])) return undefined;
      return kept['files'].every(isKeptFile) ? kept['files'] : undefined;
    },

    keep(trusted, files) {
      // The record last: it is what counts, and the files are only shown.
      write(filesName(trusted.project), { digest: trusted.digest, files });
      write(recordName(trusted.project), trusted);
    },

    grant: (project, tool, key) => {
      const grant = asGrant(read(grantName(project, tool, key)));
      return grant?.project === project && grant.tool === tool && grant.key === key ? grant : undefined;
    },

    keepGrant: (grant) => write(grantName(grant.project, grant.tool, grant.key), grant),

    all() {
      const names = isSafe() && folder !== undefined && isPrivate(folder) ? readdirSync(folder).sort() : [];
      const found = { records: [] as TrustRecord[], grants: [] as Grant[], damaged: 0 };
      for (const name of names) {
        const [kind] = /(?<=\.)(?:trust|grant)(?=\.json$)/.exec(name) ?? [];
        if (kind === undefined) continue;
        const value = read(name);
        const trusted = kind === 'trust' ? asRecord(value) : undefined;
        const grant = kind === 'grant' ? asGrant(value) : undefined;
        // Under another name it would not be found: somebody has put it there.
        if (trusted && recordName(trusted.project) === name) found.records.push(trusted);
        else if (grant && grantName(grant.project, grant.tool, grant.key) === name) found.grants.push(grant);
        else found.damaged++;
      }
      return found;
    },

    forget(project) {
      if (folder === undefined || !isSafe() || !isPrivate(folder)) return false;
      // The record first: when this ends early, nothing is trusted any more.
      const names = readdirSync(folder).filter((name) => name.startsWith(`${hashOf(project)}.`));
      const ordered = names.toSorted(
        (a, b) => Number(b.endsWith('.trust.json')) - Number(a.endsWith('.trust.json')),
      );
      for (const name of ordered) remove(`${folder}/${name}`);
      return names.length > 0;
    },

    problem(project) {
      if (folder === undefined) return 'there is no folder in which trust could be kept';
      const there = isThere(folder);
      if (there && (!isSafe() || !isPrivate(folder)))
        return `${folder} is not this user's alone, so that nothing in it is believed`;
      const path = `${folder}/${recordName(project)}`;
      if (!there || record(project) || !isThere(path)) return undefined;
      return `${path} is damaged, or not this user's alone, and is not believed`;
    },
  };
}

/** Makes it when it is missing; what cannot be made is none. */
function isPrivateNow(folder: string): boolean {
  try {
    return makePrivate(folder);
  } catch {
    // A file in its place, a read-only home; the caller says that nothing was kept.
    return false;
  }
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // A file where a folder should be, or a folder that is closed to us: nothing was kept there.
    return false;
  }
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    throw new ToolcribError('WRITE_FAILED', `${path}: could not be removed.`, 'Delete it yourself.');
  }
}

const hashOf = (...names: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(names)).digest('hex').slice(0, 32);

const recordName = (project: string): string => `${hashOf(project)}.trust.json`;
const filesName = (project: string): string => `${hashOf(project)}.files.json`;
const grantName = (project: string, tool: string, key: string): string =>
  `${hashOf(project)}.${hashOf(tool, key)}.grant.json`;

function parsed(content: Buffer | undefined): unknown {
  try {
    return content && JSON.parse(content.toString('utf8'));
  } catch {
    // Damaged: the same as never kept, which `problem` tells.
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const hasTexts = (value: unknown, ...names: readonly string[]): value is Record<string, unknown> =>
  isObject(value) && names.every((name) => typeof value[name] === 'string');

const isKeptFile = (value: unknown): value is KeptFile =>
  hasTexts(value, 'path', 'hash') && ['string', 'undefined'].includes(typeof value['text']);

function asRecord(value: unknown, project?: string): TrustRecord | undefined {
  if (!hasTexts(value, 'project', 'digest', 'trustedAt')) return undefined;
  const record = value as unknown as TrustRecord;
  return project === undefined || record.project === project ? record : undefined;
}

const asGrant = (value: unknown): Grant | undefined =>
  hasTexts(value, 'project', 'tool', 'key', 'says', 'grantedAt') &&
  ['string', 'undefined'].includes(typeof value['digest'])
    ? (value as unknown as Grant)
    : undefined;

const noFolder = (): ToolcribError =>
  new ToolcribError(
    'WRITE_FAILED',
    'Trust cannot be kept: there is no folder for it.',
    'Set HOME, or XDG_STATE_HOME to an absolute path.',
  );

const notKept = (folder: string): ToolcribError =>
  new ToolcribError(
    'WRITE_FAILED',
    `${folder}: trust could not be kept there.`,
    'It has to be a folder of this user that nobody else can open (chmod 700), as the one above it, with space left.',
  );
