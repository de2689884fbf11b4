import { createHash, randomBytes } from 'node:crypto';
import { existsSync, linkSync, lstatSync, readdirSync, unlinkSync } from 'node:fs';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { ToolcribError } from '../core/errors.ts';
import { createTurns, type Turns } from './limited.ts';
import { isAlive, thisOwner, type Owner } from './lock-owner.ts';
import { createNotes, readNotes, type NoteFile } from './note-file.ts';
import { codeOf } from './real-path.ts';
import { shownPath } from './shown-path.ts';
import { noJournal } from './write-failure.ts';

/** Who works on something, and what has to be cleaned up when it died at that. */
export interface Claim {
  readonly token: string;
  readonly owner: Owner;
  readonly since: number;
  /** Names of the locks it holds or waits for. */
  readonly locks: readonly string[];
  /** Real paths of the temporary files and folders it may make. */
  readonly temporaries: readonly string[];
}

/** A claim of this process while it works. */
export interface HeldClaim extends Claim {
  /** Adds a line to the file of the claim. Throws WRITE_FAILED. */
  note(value: unknown): void;
  /** Leaves the file of the claim where it is, for the next process to finish. */
  leave(): void;
}

interface Request {
  readonly paths: readonly string[];
  readonly temporaries?: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/** One lock per path for all processes of this user; in one process they are had in the order they are asked for. */
export interface FileLocks {
  /**
   * Does something while nobody else has a lock on one of the paths. Throws WRITE_FAILED naming the process that has
   * one for ten seconds on end, CANCELLED, and what `work` throws.
   */
  hold<T>(request: Request, work: (claim: HeldClaim) => Promise<T>): Promise<T>;
  /** Finishes or discards what processes left that died. */
  settleDead(): Promise<void>;
}

interface Patience {
  readonly until: number;
  readonly signal: AbortSignal | undefined;
  readonly path: string;
}

const patienceMs = 10_000;
const longestPauseMs = 20;

export const claimsFolder = (folder: string): string => `${folder}/pending`;
const locksFolder = (folder: string): string => `${folder}/locks`;
export const lockFolders = (folder: string): string[] => [claimsFolder(folder), locksFolder(folder)];

/**
 * Locks in a private folder. A claim is written to a file of its own, and a lock is a hard link to it: made in one step
 * with its content, which a file opened with O_EXCL is not. What is done under the claim is noted in the same file, which
 * then becomes the record of it: making a file is the dearest part of all this. `finish` ends the work of a dead process, and must bear to be
 * called again when it did not come to its own end.
 *
 * The lock of a dead process may only be removed by its heir, the one that holds the lock named after the claim; a
 * second process that saw the same dead lock finds it gone when it becomes the heir. Without that, it could remove the
 * new lock of the first one.
 */
export function createFileLocks(folder: string, finish: (claim: Claim) => Promise<void>): FileLocks {
  const queues = new Map<string, { turns: Turns; users: number }>();
  const claims = claimsFolder(folder);
  const locks = locksFolder(folder);
  let me: Owner | undefined;

  async function inTurn<T>(key: string, patience: Patience, work: () => Promise<T>): Promise<T> {
    const queue = queues.get(key) ?? { turns: createTurns(1), users: 0 };
    queues.set(key, queue);
    queue.users++;
    try {
      const { signal, until } = patience;
      const end = await queue.turns.take({
        ...(signal && { signal }),
        timeoutMs: Math.max(0, until - Date.now()),
      });
      if (!end) throw gaveUp(patience, 'another call');
      try {
        return await work();
      } finally {
        end();
      }
    } finally {
      if (--queue.users === 0) queues.delete(key);
    }
  }

  function stake(locks: readonly string[], temporaries: readonly string[]) {
    me ??= thisOwner();
    const token = randomBytes(8).toString('hex');
    const claim: Claim = { token, owner: me, since: Date.now(), locks, temporaries };
    const path = `${claims}/${token}`;
    let file: NoteFile | undefined;
    let isLeft = false;
    const end = () => {
      file?.close();
      if (!isLeft) remove(path);
    };
    const note = (value: unknown) => {
      try {
        file ??= createNotes(path);
        file.note(value);
      } catch (error) {
        throw noJournal(folder, `cannot be written to (${codeOf(error)})`);
      }
    };
    try {
      note(claim);
    } catch (error) {
      end();
      throw error;
    }
    return { held: { ...claim, note, leave: () => (isLeft = true) }, end };
  }

  async function take(name: string, claim: Claim, patience: Patience): Promise<void> {
    for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      if (patience.signal?.aborted) throw gaveUp(patience, '');
      if (isLinked(`${claims}/${claim.token}`, `${locks}/${name}`, folder)) return;
      const holder = readClaim(locks, name);
      if (!holder) continue;
      if (!isAlive(holder.owner, holder.since, claim.owner)) {
        await asHeir(holder, claim, patience, async () => {
          if (readClaim(locks, name)?.token !== holder.token) return;
          await settle(holder);
          remove(`${locks}/${name}`);
        });
        continue;
      }
      if (Date.now() > patience.until) throw gaveUp(patience, `process ${holder.owner.pid}`);
      // Jitter: several that wait for the same lock must not come at the same time.
      await sleep(pauseMs * (0.5 + Math.random()), undefined, { signal: patience.signal }).catch(() => {});
    }
  }

  async function asHeir(dead: Claim, claim: Claim, patience: Patience, work: () => Promise<void>) {
    const name = `heir-${dead.token}`;
    await inTurn(name, patience, async () => {
      await take(name, claim, patience);
      try {
        await work();
      } finally {
        remove(`${locks}/${name}`);
      }
    });
  }

  async function settle(dead: Claim): Promise<void> {
    if (!readClaim(claims, dead.token)) return;
    await finish(dead);
    for (const name of dead.locks)
      if (readClaim(locks, name)?.token === dead.token) remove(`${locks}/${name}`);
    remove(`${claims}/${dead.token}`);
  }

  return {
    async hold({ paths, temporaries = [], signal }, work) {
      const [path = ''] = paths;
      const patience = { until: Date.now() + patienceMs, signal, path };
      // Everybody takes several locks in the same order, so that no two wait for each other.
      const keys = [...new Set(paths.map(keyOf))].sort();
      const withLocks = async () => {
        const { held, end } = stake(keys, temporaries);
        const taken: string[] = [];
        try {
          for (const key of keys) {
            await take(key, held, patience);
            taken.push(key);
          }
          return await work(held);
        } finally {
          for (const key of taken) remove(`${locks}/${key}`);
          end();
        }
      };
      return keys.reduceRight((next, key) => () => inTurn(key, patience, next), withLocks)();
    },

    async settleDead() {
      me ??= thisOwner();
      const names = existsSync(claims) ? readdirSync(claims) : [];
      let mine: ReturnType<typeof stake> | undefined;
      try {
        for (const name of names) {
          const found = readClaim(claims, name);
          if (!found || isAlive(found.owner, found.since, me)) continue;
          mine ??= stake([], []);
          const patience = { until: Date.now() + patienceMs, signal: undefined, path: folder };
          await asHeir(found, mine.held, patience, () => settle(found));
          // There may be many, and each is some blocking system calls.
          await setImmediate();
        }
      } finally {
        mine?.end();
      }
    },
  };
}

/** Two names of one file where case does not count share a lock; elsewhere two files may, which only makes one wait. */
const keyOf = (path: string): string =>
  createHash('sha256').update(path.normalize('NFC').toLowerCase()).digest('hex').slice(0, 32);

/** Whether the link was made; not when there is one already. */
function isLinked(from: string, to: string, folder: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST') return false;
    throw noJournal(folder, `does not let locks be made in it (${code})`);
  }
}

/** What a claim or lock says; undefined when there is none. One that is damaged has an unknown owner. */
function readClaim(folder: string, name: string): Claim | undefined {
  const found = lstatSync(`${folder}/${name}`, { throwIfNoEntry: false });
  if (!found) return undefined;
  const nobody = {
    token: name,
    owner: { pid: 0, host: '' },
    since: found.mtimeMs,
    locks: [],
    temporaries: [],
  };
  const [claim] = readNotes(folder, name) as [Claim?];
  return claim?.owner && claim.owner.pid > 0 ? claim : nobody;
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Gone already; or it stays until this process has ended and another takes it for what it is.
  }
}

function gaveUp({ signal, path }: Patience, holder: string): ToolcribError {
  if (signal?.aborted)
    return new ToolcribError('CANCELLED', `${shownPath(path)}: was not changed; the call was cancelled.`);
  return new ToolcribError(
    'WRITE_FAILED',
    `${shownPath(path)}: has been worked on by ${holder} for ${patienceMs / 1000} seconds; nothing was changed.`,
    'Try again later.',
  );
}
