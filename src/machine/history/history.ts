import { join } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import { isInside } from '../paths/inside.ts';
import type { Place } from '../paths/place.ts';
import { shownPath } from '../paths/shown-path.ts';
import type { RootedWorkspace } from '../paths/workspace.ts';
import type { Run } from '../processes/process.ts';
import { createCheckpoints, type Checkpoints } from './checkpoints.ts';
import type { About, Change, Entry } from './entry.ts';
import { logOf, logsFor, pruneLog, type Limits, type Log } from './log.ts';
import { createPathTurns } from './path-turns.ts';
import { gone, relocateChange, type Look } from './relocate.ts';
import type { Git } from './shadow.ts';
import { sweep } from './sweep.ts';
import { undoEntry, type Undoing as UndoingEntry, type Undone } from './undo.ts';
import { writeFile, type Decide, type Written } from './write.ts';
import { noHistory } from './write-failure.ts';

export interface ChangeQuery {
  /** Only changes with all their paths in these. */
  readonly roots: readonly string[];
  /** Only those at this real path, or below it. */
  readonly path?: string | undefined;
  readonly limit: number;
  /** Only those before the one of this id. */
  readonly before?: string | undefined;
}

export interface ChangeList {
  readonly changes: readonly Change[];
  readonly next?: string;
}

export interface UndoOptions {
  readonly workspace: RootedWorkspace;
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The one way to change files: each is whole, the old one or the new one, whenever the process is ended; what was there
 * before is kept; no two calls of this process change one path at a time; and another program's change is never lost.
 *
 * Failures are a ToolcribError, and then nothing has changed: PATH_DENIED, PATH_EXISTS, PATH_NOT_FOUND,
 * PATH_NOT_REGULAR, STALE_FILE (another program was at it meanwhile), TOO_LARGE, CANCELLED, and WRITE_FAILED (the disk
 * is full, nothing can be kept).
 */
export interface History {
  /**
   * Reads a file (undefined when there is none), lets `decide` say what it is to be, and replaces it in one step.
   * Undefined when that is nothing else than it is, or nothing; what `decide` throws is thrown. Mode and owner stay.
   */
  write(place: Place, decide: Decide, about: About): Promise<Written | undefined>;
  /** Moves a file, link or folder into the history; `look` may still refuse by throwing. */
  remove(place: Place, about?: Partial<About>, look?: Look): Promise<Change>;
  /** Moves a file, link or folder, never onto something. */
  move(from: Place, to: Place, about?: Partial<About>): Promise<Change>;
  /** Newest first; `next` is to be passed as `before` for those that follow. Changes nothing. */
  list(query: ChangeQuery): ChangeList;
  /**
   * Takes a change back, when what it left is still there; that is a change itself. Throws Conflict when it is not,
   * NOT_FOUND for one that is unknown, forgotten, not in the roots, or undone already, and what changing throws.
   */
  undo(id: string, options: UndoOptions): Promise<Undone>;
  /** What a file at a path, or in a folder, was before or after some change. */
  content(hash: string, path: string): Promise<Buffer | undefined>;
  /** States of whole work trees. */
  readonly checkpoint: Checkpoints;
}

export interface HistoryOptions extends Partial<Limits> {
  /** The state folder of this user; without one every change is refused. */
  readonly state: string | undefined;
  readonly run: Run;
  /** The git of this machine; undefined when there is none. */
  git(): Promise<Git | undefined>;
}

/** After so many changes it is looked whether there are too many. */
const pruneEvery = 200;

/** Touches nothing before it is used. */
export function createHistory({ state, run, git, ...given }: HistoryOptions): History {
  const limits: Limits = { quotaBytes: 1024 ** 3, mostChanges: 10_000, ...given };
  const { quotaBytes: mostBytes } = limits;
  const histories = state === undefined ? undefined : join(state, 'history');
  const inTurn = createPathTurns();
  const changes = new Map<string, number>();
  const logs = (roots: readonly string[]) => (histories === undefined ? [] : logsFor(roots, histories));

  async function changing<T>(
    places: readonly Place[],
    { signal }: Partial<About>,
    work: (log: Log) => Promise<T>,
  ) {
    const [{ root, path } = { root: '', path: '' }] = places;
    if (histories === undefined) throw noHistory('the folder for it', 'is not known');
    const log = logOf(root, histories);
    const count = changes.get(root) ?? 0;
    if (count === 0) await sweep(log, root);
    changes.set(root, count + 1);
    const paths = places.map((place) => place.path);
    const done = await inTurn(paths, () => (signal?.aborted ? Promise.reject(cancelled(path)) : work(log)));
    // Nothing waits for it, and it is tried again later.
    if (count % pruneEvery === 0) void pruneLog(log, limits).catch(() => {});
    return done;
  }

  return {
    write: (place, decide, about) => changing([place], about, (log) => writeFile(log, place, decide, about)),
    remove: (from, given = {}, look) => {
      const about = { kind: 'delete', ...given };
      const move = { from, about, ...(look && { look }), mostBytes };
      return changing([from], about, (log) => relocateChange(log, move));
    },
    move: (from, to, given = {}) => {
      const about = { kind: 'move', ...given };
      return changing([from, to], about, (log) => relocateChange(log, { from, to, about, mostBytes }));
    },
    list: (query) => listChanges(logs(query.roots), query),

    undo: (id, options) =>
      undoChange(id, options, { logs: logs(options.workspace.roots), inTurn, mostBytes }),

    async content(hash, path) {
      for (const log of logs([path])) {
        const bytes = await log.content(hash);
        if (bytes) return bytes;
      }
      return undefined;
    },

    checkpoint: createCheckpoints({ state, run, git }),
  };
}

function listChanges(logs: readonly Log[], { roots, path, limit, before }: ChangeQuery): ChangeList {
  const all = logs.flatMap((log) => log.entries().toReversed());
  // Those of one root are in the order they were made in, whatever the clock said.
  if (logs.length > 1) all.sort((a, b) => b.at - a.at);
  const undoneBy = new Map(all.map(({ undoes, id }) => [undoes, id]));
  const from = before === undefined ? 0 : all.findIndex(({ id }) => id === before) + 1;
  const wanted = all
    .slice(from)
    .filter((entry) => isInRoots(entry, roots))
    .filter((entry) => path === undefined || endsOf(entry).some((each) => isInside(each, path)));
  const changes = wanted.slice(0, limit).map((entry) => {
    const by = undoneBy.get(entry.id);
    return by === undefined ? entry : { ...entry, undoneBy: by };
  });
  const last = changes.at(-1);
  return { changes, ...(wanted.length > limit && last && { next: last.id }) };
}

interface Undoing extends Pick<UndoingEntry, 'inTurn' | 'mostBytes'> {
  readonly logs: readonly Log[];
}

async function undoChange(id: string, { workspace, dryRun = false, signal }: UndoOptions, undoing: Undoing) {
  const { logs, ...rest } = undoing;
  for (const log of logs) {
    const entry = log.entries().find((one) => one.id === id);
    if (!entry || !isInRoots(entry, workspace.roots)) continue;
    const refuse = () => refuseUndone(id, log.entries());
    refuse();
    const undone = await undoEntry({ log, entry, workspace, dryRun, signal, refuseUndone: refuse, ...rest });
    return { undone: entry, ...undone };
  }
  // One outside the roots is none for the caller, in the same words.
  throw gone(id);
}

const cancelled = (path: string): ToolcribError =>
  new ToolcribError('CANCELLED', `${shownPath(path)}: was not changed; the call was cancelled.`);

const endsOf = ({ path, to }: Entry): string[] => [path, to ?? path];

/** Both ends of a move must be inside. */
const isInRoots = (entry: Entry, roots: readonly string[]): boolean =>
  endsOf(entry).every((each) => roots.some((root) => isInside(each, root)));

function refuseUndone(id: string, entries: readonly Entry[]): void {
  const undoneBy = new Map(entries.map((entry) => [entry.undoes, entry.id]));
  let last = id;
  for (let next = undoneBy.get(last); next !== undefined; next = undoneBy.get(last)) last = next;
  if (last === id) return;
  throw new ToolcribError(
    'NOT_FOUND',
    `${id}: was undone already, by ${undoneBy.get(id)}.`,
    `Undo ${last}, the last of these, to go back once more.`,
  );
}
