import { createHash } from 'node:crypto';
import { linkSync, readdirSync, unlinkSync } from 'node:fs';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { ToolcribError } from '../../core/errors.ts';
import type { Entry } from './change.ts';
import { createTurns, type Turns } from '../limited.ts';
import { isAlive, thisOwner } from './lock-owner.ts';
import { createPathTurns, foldedPath } from './path-turns.ts';
import { codeOf } from '../paths/real-path.ts';
import { shownPath } from '../paths/shown-path.ts';
import {
  createWorkLog,
  logsFolder,
  logsIn,
  workerOf,
  type Worker,
  type WorkLog,
  type Working,
} from './work-log.ts';
import { noJournal } from './write-failure.ts';

interface Request {
  readonly paths: readonly string[];
  readonly temporaries?: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/**
 * One lock per path for all processes of this user. In one process they are had in the order they are asked for, and that
 * of a folder is one for all that is in it as well; for other processes it is not.
 */
export interface FileLocks {
  /**
   * Does something while nobody else has a lock on one of the paths, which must not ask for one on them itself. Throws WRITE_FAILED naming the process that has
   * one for ten seconds on end, CANCELLED, and what `work` throws.
   */
  hold<T>(request: Request, work: (working: Working) => Promise<T>): Promise<T>;
  /** Finishes or discards what processes left that died. */
  settleDead(): Promise<void>;
  /** Whether another process may be changing something, or died while it did. */
  hasOthers(): boolean;
  /** Files the changes of this process that were only noted down; not while one is going on: then it says no. */
  fileOwn(file: (entry: Entry) => void): boolean;
}

interface Patience {
  readonly until: number;
  readonly signal: AbortSignal | undefined;
  readonly path: string;
}

const patienceMs = 10_000;
const longestPauseMs = 20;

const locksFolder = (folder: string): string => `${folder}/locks`;
export const lockFolders = (folder: string): string[] => [logsFolder(folder), locksFolder(folder)];

/**
 * Locks in a private folder. A lock is a hard link to the log of its process: made in one step with its content, which a
 * file opened with O_EXCL is not, and without making a file. `finish` ends the work of a dead process, and must bear to
 * be called again when it did not come to its own end.
 *
 * The lock of a dead process may only be removed by its heir, the one that holds the lock named after its log; a second
 * process that saw the same dead lock finds it gone when it becomes the heir. Without that, it could remove the new
 * lock of the first one.
 */
export function createFileLocks(folder: string, finish: (token: string) => Promise<void>): FileLocks {
  const atPaths = createPathTurns();
  const queues = new Map<string, { turns: Turns; users: number }>();
  const logs = logsFolder(folder);
  const locks = locksFolder(folder);
  let mine: WorkLog | undefined;

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

  /** Made when it is first needed, and again when somebody has removed it. */
  function ownLog(): WorkLog {
    if (mine?.isThere()) return mine;
    mine?.retire();
    mine = undefined;
    return (mine = createWorkLog(folder));
  }

  async function take(name: string, log: WorkLog, patience: Patience): Promise<void> {
    for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      if (patience.signal?.aborted) throw gaveUp(patience, '');
      if (isLinked(log.path, `${locks}/${name}`, folder)) return;
      const holder = workerOf(locks, name);
      if (!holder) continue;
      if (!isAlive(holder.owner, holder.since, log.worker.owner)) {
        await asHeir(holder, log, patience, async () => {
          if (workerOf(locks, name)?.token !== holder.token) return;
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

  async function asHeir(dead: Worker, log: WorkLog, patience: Patience, work: () => Promise<void>) {
    const name = `heir-${dead.token}`;
    await inTurn(name, patience, async () => {
      await take(name, log, patience);
      try {
        await work();
      } finally {
        remove(`${locks}/${name}`);
      }
    });
  }

  async function settle({ token }: Worker): Promise<void> {
    if (!workerOf(logs, token)) return;
    await finish(token);
    for (const name of readdirSync(locks))
      if (workerOf(locks, name)?.token === token) remove(`${locks}/${name}`);
    remove(`${logs}/${token}`);
  }

  return {
    async hold({ paths, temporaries = [], signal }, work) {
      const [path = ''] = paths;
      const patience = { until: Date.now() + patienceMs, signal, path };
      // Everybody takes several locks in the same order, so that no two wait for each other.
      const keys = [...new Set(paths.map(keyOf))].sort();
      const end = await atPaths.take(paths, { signal, timeoutMs: patienceMs });
      if (!end) throw gaveUp(patience, 'another call');
      const taken: string[] = [];
      try {
        const log = ownLog();
        for (const key of keys) {
          await take(key, log, patience);
          taken.push(key);
        }
        const { working, finish } = log.start(temporaries);
        try {
          return await work(working);
        } finally {
          finish();
        }
      } finally {
        for (const key of taken) remove(`${locks}/${key}`);
        end();
      }
    },

    async settleDead() {
      const me = mine?.worker.owner ?? thisOwner();
      for (const name of logsIn(folder)) {
        const found = workerOf(logs, name);
        if (!found || isAlive(found.owner, found.since, me)) continue;
        const patience = { until: Date.now() + patienceMs, signal: undefined, path: folder };
        // What cannot be finished now, whatever the reason, must not stop changes of other files.
        await asHeir(found, ownLog(), patience, () => settle(found)).catch(() => {});
        // There may be many, and each is some blocking system calls.
        await setImmediate();
      }
    },

    hasOthers: () => logsIn(folder).some((name) => name !== mine?.worker.token),
    fileOwn: (file) => mine?.clear(file) ?? true,
  };
}

/** Two names of one file where case does not count share a lock; elsewhere two files may, which only makes one wait. */
const keyOf = (path: string): string =>
  createHash('sha256').update(foldedPath(path)).digest('hex').slice(0, 32);

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
