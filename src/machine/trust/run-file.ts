import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, readSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { masked } from './masked.ts';
import { parts } from './parts.ts';
import type { Counted, GitTargets } from './git-parts.ts';
import type { Counting, Runs } from './runs.ts';

/** What a file that decides what runs holds. */
export interface RunContent {
  readonly size: number;
  /** Of what counts of its content, in hexadecimal; of its facts, which change with it, when it could not be read. */
  readonly hash: string;
  /** What counts of its content, without passwords; left out when it is long, or no text. */
  readonly text?: string;
  /** Why its content is not in the hash. */
  readonly unread?: string;
  /** Why it, or what it names, could change without another hash. */
  readonly doubt?: string;
  /** Whether nothing in it counts. */
  readonly idle?: true;
  /** Paths in it that lead to more that counts, as they are written. */
  readonly targets?: GitTargets;
}

/** Remembers contents for as long as a file's facts stay the same. */
export interface RunFiles {
  /**
   * Reads a file by its real path; one that is no regular file is never waited for. `most` is how many bytes may be
   * read. Never throws for what is or is not there.
   */
  read(path: string, found: Runs, most: number, breathe: Breathe): Promise<RunContent>;
}

interface Known {
  readonly facts: Facts;
  readonly found: Runs;
  readonly content: RunContent;
}

/** What tells that a file or folder was not changed since, together with when it was looked at. */
export type Facts = Pick<BigIntStats, 'dev' | 'ino' | 'size' | 'mode' | 'mtimeNs' | 'ctimeNs'>;

/** As many as are kept with a project, and shown when it has changed. */
export const mostTextBytes = 64 * 1024;
/** Of larger ones the whole content counts: nobody writes such by hand. */
const mostParsedBytes = 256 * 1024;
const sliceBytes = 1024 * 1024;
/** Clocks of file systems tick every 2 seconds at worst (FAT): what changed that long ago has the time of it. */
const settledNs = 2_000_000_000n;

/** Whether facts that were taken at a time (ns since 1970) would be others after any later change. */
export const areSettled = ({ ctimeNs }: Facts, atNs: bigint): boolean => atNs - ctimeNs > settledNs;

export const sameState = (a: Facts, b: Facts): boolean =>
  a.ino === b.ino &&
  a.mtimeNs === b.mtimeNs &&
  a.ctimeNs === b.ctimeNs &&
  a.size === b.size &&
  a.mode === b.mode &&
  a.dev === b.dev;

export const nowNs = (): bigint => BigInt(Date.now()) * 1_000_000n;

/** As many files as are remembered of a project. */
const mostKnown = 20_000;

/** What lets others have their turn between steps of long work: see breath.ts. */
export type Breathe = () => Promise<void> | undefined;

export function createRunFiles(): RunFiles {
  const known = new Map<string, Known>();
  return {
    async read(path, found, most, breathe) {
      const facts = lstatSync(path, { bigint: true, throwIfNoEntry: false });
      if (!facts) return doubtful(path.includes('\ufffd') ? 'has a name that is no text' : 'is not there');
      // Not even opened: a device may take that for an order.
      if (!facts.isFile()) return doubtful('is no regular file', facts);
      const old = known.get(path);
      if (old && old.found === found && sameState(old.facts, facts) && facts.size <= most) return old.content;
      known.delete(path);
      const { content, opened, at } = await readNow(path, facts, found, most, breathe);
      // Read while it was changed, or too soon after: the next one reads again.
      if (opened && sameState(opened, facts) && areSettled(opened, at)) {
        if (known.size >= mostKnown) known.clear();
        known.set(path, { facts: opened, found, content });
      }
      return content;
    },
  };
}

async function readNow(
  path: string,
  facts: BigIntStats,
  found: Runs,
  most: number,
  breathe: Breathe,
): Promise<{ content: RunContent; opened?: BigIntStats; at: bigint }> {
  const at = nowNs();
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, flags);
    const opened = fstatSync(descriptor, { bigint: true });
    if (!opened.isFile() || isElsewhere(descriptor, path))
      return { content: doubtful('was replaced while it was read', opened), at };
    if (opened.size > BigInt(most))
      return { content: unreadable('is too large to be looked at', opened), at };
    return { content: await contentOf(descriptor, opened, found, breathe), opened, at };
  } catch {
    // Closed to this user, or gone by now.
    return { content: unreadable('cannot be opened', facts), at };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Windows has none but the first. */
const {
  O_RDONLY,
  O_NONBLOCK = 0,
  O_NOCTTY = 0,
  O_NOFOLLOW = 0,
}: Partial<typeof constants> & { O_RDONLY: number } = constants;
const flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW;

/** Whether a folder on the way was swapped for a link. Only Linux tells. */
function isElsewhere(descriptor: number, path: string): boolean {
  if (process.platform !== 'linux') return false;
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`) !== path;
  } catch {
    // No /proc here.
    return false;
  }
}

/** No program but the system's own gives a file the times it likes: ctime is when anything about it has changed. */
export const stamp = ({ dev, ino, mode, size, mtimeNs, ctimeNs }: Facts): string =>
  [dev, ino, mode, size, mtimeNs, ctimeNs].join(' ');

/** Its content is noticed by its facts. */
const unreadable = (unread: string, facts: Facts): RunContent => ({
  size: Number(facts.size),
  hash: sha256(`${unread} ${stamp(facts)}`),
  unread,
});

const doubtful = (doubt: string, facts?: Facts): RunContent => ({
  size: Number(facts?.size ?? 0),
  hash: sha256(`${doubt} ${facts ? stamp(facts) : ''}`),
  unread: doubt,
  doubt,
});

export const sha256 = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('hex');

async function contentOf(
  descriptor: number,
  { size, mode }: BigIntStats,
  found: Runs,
  breathe: Breathe,
): Promise<RunContent> {
  const hash = createHash('sha256');
  const slices: Buffer[] = [];
  let length = 0;
  // Not beyond what it was when it was opened: a file that grows while it is read would never end.
  while (length < Number(size)) {
    const slice = Buffer.allocUnsafe(Math.min(sliceBytes, Number(size) - length));
    const read = readSync(descriptor, slice);
    if (read === 0) break;
    length += read;
    hash.update(slice.subarray(0, read));
    if (length <= mostParsedBytes) slices.push(slice.subarray(0, read));
    await breathe();
  }
  // A hook that could not be started before runs when its content stays the same.
  const executable = (mode & 0o111n) === 0n ? '' : 'executable';
  const whole = length > mostParsedBytes ? undefined : Buffer.concat(slices);
  const text = whole && textOf(whole);
  const { counted, failed } =
    text === undefined || found.counts === undefined
      ? { failed: text === undefined }
      : countedIn(text, found.counts);
  const shown = counted?.text ?? text;
  return {
    size: length,
    hash: sha256(counted ? `parts ${sha256(counted.text)}` : `${executable} ${hash.digest('hex')}`),
    ...(shown !== undefined &&
      shown.length <= mostTextBytes && { text: masked(shown, found.secret === true) }),
    ...(counted?.text === '' && { idle: true as const }),
    ...(counted?.targets && { targets: counted.targets }),
    // git reads it all the same, and finds in it where hooks and more settings are.
    ...(found.counts === 'git' && failed && { doubt: 'is too long, or no text, to tell what it names' }),
  };
}

/** Without `counted` all of a text counts: also when no part could be taken out, whatever the reason. */
function countedIn(text: string, counts: Counting): { counted?: Counted | undefined; failed: boolean } {
  try {
    return { counted: parts[counts](text), failed: false };
  } catch {
    // Nested more deeply than one can go, or too much: programs may read it all the same.
    return { failed: true };
  }
}

/** Undefined for what has zero bytes, which no text has. What is not UTF-8 is shown as far as it can be. */
const textOf = (bytes: Buffer): string | undefined =>
  bytes.includes(0) ? undefined : bytes.toString('utf8');
