import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, parse, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { ToolcribError, type ErrorCode } from '../../core/errors.ts';
import { effects } from '../../core/discoverer.ts';
import type { GrantWithEffects, TrustScope } from '../../core/policy.ts';
import { upwards } from '../../core/upwards.ts';
import { discard, isPrivate, readCache, readPlain, writePrivate } from '../../store/own-files.ts';
import { isInside } from '../paths/inside.ts';
import { realPath } from '../paths/real-path.ts';
import { displayPath } from '../paths/display-path.ts';

const granted = z.strictObject({
  act: z.string(),
  words: z.string(),
  effects: z.array(z.enum(effects)).readonly(),
});
/** The granted acts. Those in an older format covered more than the question showed, and are dropped. */
const grants = z
  .array(z.unknown())
  .transform((list) => list.flatMap((item) => granted.safeParse(item).data ?? []));

const trustRecord = z.strictObject({
  folder: z.string(),
  /**
   * The inode of the folder, without its device, which on some systems has another number after each start.
   */
  inode: z.string(),
  origin: z.string().exactOptional(),
  /** The time of the trust in ISO 8601; left out when there are only answers of "always". */
  trustedAt: z.string().exactOptional(),
  always: grants.readonly(),
});
type TrustRecord = z.output<typeof trustRecord>;

export interface TrustedFolder extends Omit<TrustRecord, 'inode' | 'always'> {
  /** True while the folder is still the one that was trusted. */
  readonly current: boolean;
  /** The acts that were granted with "always", in words. */
  readonly always: readonly string[];
}

/** A person's trust in folders, recorded with their real paths and their identity. */
export interface Trust {
  subjectOf(folder: string, roots: readonly string[]): Promise<TrustScope>;
  /**
   * True where the folder or one above it is trusted and unchanged, with no repository of another origin
   * between them.
   */
  isTrusted(folder: string): Promise<boolean>;
  /**
   * Trusts a folder. Throws ARG_INVALID for what can never be trusted, WRITE_FAILED when it cannot be
   * recorded.
   */
  trust(folder: string): Promise<TrustScope>;
  /**
   * Forgets the trust in exactly that path, and its grants; false when there was nothing to forget. Throws
   * WRITE_FAILED.
   */
  revoke(folder: string): boolean;
  list(): Promise<TrustedFolder[]>;
  /** The acts that were granted with "always". */
  readonly always: Grants;
}

export interface Grants {
  /** True where the act was granted with at least these effects: a yes to reading is none to writing. */
  has(folder: string, grant: GrantWithEffects): Promise<boolean>;
  /** Records a grant. Throws WRITE_FAILED. */
  add(folder: string, grant: GrantWithEffects): Promise<void>;
}

/** Creates the trust that is recorded in the state folder `folder`; without one nothing is ever trusted. */
export function createTrust({ folder: state }: { folder: string | undefined }): Trust {
  const records = createTrustRecords(state);

  /**
   * True where the record of a folder, or of one above it that it belongs to, fulfils the condition and is
   * current.
   */
  function covers(folder: string, fulfils: (record: TrustRecord) => boolean): boolean {
    const origins: string[] = [];
    for (const at of upwards(realPath(folder), [])) {
      const record = records.read(at);
      const isPart = record && origins.every((origin) => origin === (record.origin ?? ''));
      if (isPart && fulfils(record) && isCurrent(record)) return true;
      const origin = originAt(at);
      if (origin !== undefined) origins.push(origin);
    }
    return false;
  }

  /** Adds to the record of a folder. The record of another folder that was at this path before is dropped. */
  function amend(path: string, code: ErrorCode, additions: (record: TrustRecord) => Partial<TrustRecord>) {
    const subject = describe(realPath(path));
    const { folder, origin, refused } = subject;
    if (refused) throw new ToolcribError(code, `${displayPath(folder)} ${refused}: never trusted.`);
    const before = records.read(folder);
    const empty = { folder, inode: inodeOf(folder) ?? '', ...(origin && { origin }), always: [] };
    const record = before && isCurrent(before) ? before : empty;
    records.write({ ...record, ...additions(record) });
    return subject;
  }

  return {
    async subjectOf(folder, roots) {
      const real = realPath(folder);
      const root = roots.filter((each) => isInside(real, each)).sort((a, b) => b.length - a.length)[0];
      return describe(repositoryOf(real, [root ?? real])?.top ?? root ?? real);
    },
    isTrusted: async (folder) => covers(folder, ({ trustedAt }) => trustedAt !== undefined),
    trust: async (folder) => amend(folder, 'ARG_INVALID', () => ({ trustedAt: new Date().toISOString() })),
    revoke: records.remove,
    list: async () =>
      records.all().map((record) => {
        const always = record.always.map(({ words }) => words);
        return { ...record, always, current: isCurrent(record) };
      }),
    always: {
      has: async (folder, { act, effects: needed }) =>
        covers(folder, ({ always }) =>
          always.some(
            (grant) => grant.act === act && needed.every((effect) => grant.effects.includes(effect)),
          ),
        ),
      async add(folder, grant) {
        amend(folder, 'WRITE_FAILED', ({ always }) => ({ always: [...always, grant] }));
      },
    },
  };
}

function repositoryOf(folder: string, roots: readonly string[]) {
  for (const top of upwards(folder, roots)) {
    const origin = originAt(top);
    if (origin !== undefined) return { top, origin };
  }
  return undefined;
}

function describe(folder: string): TrustScope {
  const origin = repositoryOf(folder, [])?.origin;
  const refused = refusedBecause(folder);
  return { folder, ...(origin && { origin }), ...(refused && { refused }) };
}

function isCurrent(record: TrustRecord): boolean {
  const { origin, refused } = describe(record.folder);
  return refused === undefined && origin === record.origin && inodeOf(record.folder) === record.inode;
}

/**
 * The reason why a folder can never be trusted, if there is one. Whatever is unpacked in a home folder would
 * be part of it.
 */
function refusedBecause(folder: string): string | undefined {
  if (inodeOf(folder) === undefined) return 'is no folder';
  if (parse(folder).root === folder) return 'is the root of a file system';
  // Like /tmp: whatever anybody puts there would be trusted.
  if ((lstatSync(folder).mode & 0o1002) === 0o1002) return 'is a folder in which everybody can put something';
  const home = realPath(homedir());
  if (home === folder) return 'is the home folder';
  return isInside(home, folder) ? 'holds the home folder' : undefined;
}

/**
 * The inode of a folder with its time of creation, as the number alone is soon given to another folder.
 * Undefined for a link, and where nothing is.
 */
function inodeOf(folder: string): string | undefined {
  const facts = existsSync(folder) ? lstatSync(folder, { bigint: true }) : undefined;
  if (!facts?.isDirectory()) return undefined;
  // Some file systems do not keep the time of creation.
  return facts.birthtimeNs === 0n ? String(facts.ino) : `${facts.ino}.${facts.birthtimeNs}`;
}

/** The records in the state folder: a private file for each folder. A damaged one counts as missing. */
function createTrustRecords(state: string | undefined) {
  const parent = state === undefined ? undefined : join(state, 'trust');
  const readFile = (name: string) => trustRecord.safeParse(readCache(parent, name)).data;
  /** Records as they were read last, by their files. */
  const known = new Map<string, { readonly stamp: string; readonly record: TrustRecord | undefined }>();
  function read(folder: string): TrustRecord | undefined {
    if (parent === undefined) return undefined;
    const name = nameOf(folder);
    const stamp = stampOf(join(parent, name));
    if (stamp === undefined) return undefined;
    const before = known.get(name);
    if (before?.stamp === stamp) return before.record;
    const record = readFile(name);
    known.set(name, { stamp, record });
    return record;
  }
  const refuseUnless = (isWritten: boolean) => {
    const wayOut = 'It has to be yours alone (chmod 700).';
    if (!isWritten)
      throw new ToolcribError('WRITE_FAILED', `${parent ?? 'The state folder'} cannot be written.`, wayOut);
  };
  return {
    read,
    all(): TrustRecord[] {
      if (parent === undefined || !isPrivate(parent)) return [];
      return readdirSync(parent).flatMap((name) => readFile(name) ?? []);
    },
    write(record: TrustRecord): void {
      writePrivate(parent, nameOf(record.folder), JSON.stringify(record));
      refuseUnless(isDeepStrictEqual(read(record.folder), record));
    },
    remove(folder: string): boolean {
      const existed = read(folder) !== undefined;
      if (existed) discard(`${parent}/${nameOf(folder)}`);
      refuseUnless(read(folder) === undefined);
      return existed;
    },
  };
}

/**
 * The identity of a file and its content; undefined where nothing is. A record that is replaced is another
 * file.
 */
function stampOf(path: string): string | undefined {
  const facts = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return facts && [facts.dev, facts.ino, facts.mode, facts.size, facts.mtimeNs, facts.ctimeNs].join();
}

const nameOf = (folder: string): string => `${createHash('sha256').update(folder).digest('hex')}.json`;

/**
 * The origin of the repository whose top a folder is; '' when it has no origin, undefined where no repository
 * is.
 */
function originAt(folder: string): string | undefined {
  try {
    if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return undefined;
    const dotGit = join(folder, '.git');
    const facts = lstatSync(dotGit, { throwIfNoEntry: false });
    // A bare repository has no .git, but the entries that git itself looks for.
    const isBare = !facts && ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(folder, name)));
    if (!facts && !isBare) return undefined;
    const pointer = () =>
      textOf(dotGit)
        .replace(/^gitdir: */, '')
        .trim();
    const gitFolder = resolve(folder, isBare ? '' : facts?.isDirectory() ? '.git' : pointer());
    // The git folder of a linked work tree names that of its repository.
    const common = resolve(gitFolder, textOf(join(gitFolder, 'commondir')).trim());
    return originIn(textOf(join(common, 'config'))) ?? '';
  } catch {
    // No origin can have this address.
    return '(cannot be read)';
  }
}

/**
 * Reads a small text file; '' where nothing is. Throws for a link, a pipe, and above 1 MB: a configuration
 * with thousands of branches takes less.
 */
function textOf(path: string): string {
  if (!existsSync(path)) return '';
  const bytes = readPlain(path, ({ size }) => size <= 1024 * 1024);
  if (!bytes) throw new Error(`${path} is no small file that can be read`);
  return bytes.toString('utf8');
}

/**
 * Finds the first address of the remote "origin" in a configuration as git writes it, with one setting a
 * line.
 */
function originIn(config: string): string | undefined {
  const sections = config.matchAll(/^[ \t]*\[remote(?:\.|[ \t]+")origin"?\](.*(?:\n(?![ \t]*\[).*)*)/gim);
  const settings = [...sections].map(([, text]) => text).join('\n');
  const address = /^[ \t]*url[ \t]*=[ \t]*"?([^"\n]+)/im.exec(settings)?.[1]?.trim();
  // A user name before the host may be a token.
  return address?.replace(/:\/\/[^/?#]*@/, '://');
}
