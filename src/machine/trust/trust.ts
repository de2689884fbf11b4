import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, parse, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { ToolcribError, type ErrorCode } from '../../core/errors.ts';
import { effects } from '../../core/discoverer.ts';
import type { Granted, TrustScope } from '../../core/policy.ts';
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
/** Answers of an earlier form covered more than was read, and count no more. */
const grants = z
  .array(z.unknown())
  .transform((list) => list.flatMap((one) => granted.safeParse(one).data ?? []));

const trustRecord = z.strictObject({
  folder: z.string(),
  /** Of the folder. Not its device: on some systems that has another number after each start. */
  inode: z.string(),
  origin: z.string().exactOptional(),
  /** ISO 8601; left out when there are only answers of "always". */
  trustedAt: z.string().exactOptional(),
  always: grants.readonly(),
});
type TrustRecord = z.output<typeof trustRecord>;

export interface Trusted extends Omit<TrustRecord, 'inode' | 'always'> {
  /** It is still what was trusted. */
  readonly current: boolean;
  /** In words. */
  readonly always: readonly string[];
}

/** A person's yes to folders: to their real paths, and to what they are. */
export interface Trust {
  subjectOf(folder: string, roots: readonly string[]): Promise<TrustScope>;
  /** Whether it or a folder above it is trusted and what it was, with no repository of another origin between. */
  isTrusted(folder: string): Promise<boolean>;
  /** Throws ARG_INVALID for what can never be trusted, WRITE_FAILED when it cannot be kept. */
  trust(folder: string): Promise<TrustScope>;
  /** Forgets trust in exactly that path, and every "always"; whether there was any. Throws WRITE_FAILED. */
  revoke(folder: string): boolean;
  list(): Promise<Trusted[]>;
  /** The acts that were agreed to for longer. */
  readonly always: Grants;
}

export interface Grants {
  /** Whether it was agreed to, at these effects or stronger ones: a yes to reading is none to writing. */
  has(folder: string, grant: Granted): Promise<boolean>;
  /** Throws WRITE_FAILED. */
  add(folder: string, grant: Granted): Promise<void>;
}

/** `folder` is the state folder; without one nothing is ever trusted. */
export function createTrust({ folder: state }: { folder: string | undefined }): Trust {
  const records = createTrustRecords(state);

  /** Whether `says` holds for a folder or one above it that is what it was, and that the folder belongs to. */
  function covers(folder: string, says: (record: TrustRecord) => boolean): boolean {
    const origins: string[] = [];
    for (const at of upwards(realPath(folder), [])) {
      const record = records.read(at);
      const isPart = record && origins.every((origin) => origin === (record.origin ?? ''));
      if (isPart && says(record) && isCurrent(record)) return true;
      const origin = originAt(at);
      if (origin !== undefined) origins.push(origin);
    }
    return false;
  }

  /** Adds to what is kept of a folder. What was said about something else that was there is forgotten. */
  function keep(path: string, code: ErrorCode, added: (now: TrustRecord) => Partial<TrustRecord>) {
    const subject = describe(realPath(path));
    const { folder, origin, refused } = subject;
    if (refused) throw new ToolcribError(code, `${displayPath(folder)} ${refused}: never trusted.`);
    const before = records.read(folder);
    const anew = { folder, inode: inodeOf(folder) ?? '', ...(origin && { origin }), always: [] };
    const now = before && isCurrent(before) ? before : anew;
    records.write({ ...now, ...added(now) });
    return subject;
  }

  return {
    async subjectOf(folder, roots) {
      const real = realPath(folder);
      const root = roots.filter((each) => isInside(real, each)).sort((a, b) => b.length - a.length)[0];
      return describe(repositoryOf(real, [root ?? real])?.top ?? root ?? real);
    },
    isTrusted: async (folder) => covers(folder, ({ trustedAt }) => trustedAt !== undefined),
    trust: async (folder) => keep(folder, 'ARG_INVALID', () => ({ trustedAt: new Date().toISOString() })),
    revoke: records.remove,
    list: async () =>
      records.all().map((record) => {
        const always = record.always.map(({ words }) => words);
        return { ...record, always, current: isCurrent(record) };
      }),
    always: {
      has: async (folder, { act, effects: wanted }) =>
        covers(folder, ({ always }) =>
          always.some((kept) => kept.act === act && wanted.every((effect) => kept.effects.includes(effect))),
        ),
      async add(folder, grant) {
        keep(folder, 'WRITE_FAILED', ({ always }) => ({ always: [...always, grant] }));
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
  const [origin, refused] = [repositoryOf(folder, [])?.origin, refusedBecause(folder)];
  return { folder, ...(origin && { origin }), ...(refused && { refused }) };
}

function isCurrent(record: TrustRecord): boolean {
  const { origin, refused } = describe(record.folder);
  return refused === undefined && origin === record.origin && inodeOf(record.folder) === record.inode;
}

/** Whatever is unpacked in a home folder would be part of it. */
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
 * With when it was made, as the number is soon given to another folder. Undefined for a link, and where nothing is.
 */
function inodeOf(folder: string): string | undefined {
  const facts = existsSync(folder) ? lstatSync(folder, { bigint: true }) : undefined;
  if (!facts?.isDirectory()) return undefined;
  // Nothing where a file system does not keep it.
  return facts.birthtimeNs === 0n ? String(facts.ino) : `${facts.ino}.${facts.birthtimeNs}`;
}

/** What is kept in the state folder: a private file for each folder. One that is damaged counts as none. */
function createTrustRecords(state: string | undefined) {
  const kept = state === undefined ? undefined : join(state, 'trust');
  const readFile = (name: string) => trustRecord.safeParse(readCache(kept, name)).data;
  /** Records as they were read last, by their files. */
  const known = new Map<string, { readonly stamp: string; readonly record: TrustRecord | undefined }>();
  function read(folder: string): TrustRecord | undefined {
    if (kept === undefined) return undefined;
    const name = nameOf(folder);
    const stamp = stampOf(join(kept, name));
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
      throw new ToolcribError('WRITE_FAILED', `${kept ?? 'The state folder'} cannot be written.`, wayOut);
  };
  return {
    read,
    all(): TrustRecord[] {
      if (kept === undefined || !isPrivate(kept)) return [];
      return readdirSync(kept).flatMap((name) => readFile(name) ?? []);
    },
    write(record: TrustRecord): void {
      writePrivate(kept, nameOf(record.folder), JSON.stringify(record));
      refuseUnless(isDeepStrictEqual(read(record.folder), record));
    },
    remove(folder: string): boolean {
      const was = read(folder) !== undefined;
      if (was) discard(`${kept}/${nameOf(folder)}`);
      refuseUnless(read(folder) === undefined);
      return was;
    },
  };
}

/** The identity of a file and its content; undefined where nothing is. A record that is replaced is another file. */
function stampOf(path: string): string | undefined {
  const facts = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return facts && [facts.dev, facts.ino, facts.mode, facts.size, facts.mtimeNs, facts.ctimeNs].join();
}

const nameOf = (folder: string): string => `${createHash('sha256').update(folder).digest('hex')}.json`;

/** The origin of the repository whose top a folder is: '' when it has none, undefined where no repository is. */
function originAt(folder: string): string | undefined {
  try {
    if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return undefined;
    const dotGit = join(folder, '.git');
    const facts = lstatSync(dotGit, { throwIfNoEntry: false });
    // Without a work tree it has the names in it that git itself looks for.
    const isBare = !facts && ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(folder, name)));
    if (!facts && !isBare) return undefined;
    const pointer = () =>
      textOf(dotGit)
        .replace(/^gitdir: */, '')
        .trim();
    const gitFolder = resolve(folder, isBare ? '' : facts?.isDirectory() ? '.git' : pointer());
    // That of a linked work tree names that of its repository.
    const common = resolve(gitFolder, textOf(join(gitFolder, 'commondir')).trim());
    return originIn(textOf(join(common, 'config'))) ?? '';
  } catch {
    // Git takes no such address.
    return '(cannot be read)';
  }
}

/** '' where nothing is. Throws for a link or a pipe, and above 1 MB: thousands of branches take less. */
function textOf(path: string): string {
  if (!existsSync(path)) return '';
  const bytes = readPlain(path, ({ size }) => size <= 1024 * 1024);
  if (!bytes) throw new Error(`${path} is no small file that can be read`);
  return bytes.toString('utf8');
}

/** The first address of the remote "origin" in a configuration, as git writes it: one setting a line. */
function originIn(config: string): string | undefined {
  const sections = config.matchAll(/^[ \t]*\[remote(?:\.|[ \t]+")origin"?\](.*(?:\n(?![ \t]*\[).*)*)/gim);
  const settings = [...sections].map(([, text]) => text).join('\n');
  const address = /^[ \t]*url[ \t]*=[ \t]*"?([^"\n]+)/im.exec(settings)?.[1]?.trim();
  // A name before the host may be a token as well.
  return address?.replace(/:\/\/[^/?#]*@/, '://');
}
