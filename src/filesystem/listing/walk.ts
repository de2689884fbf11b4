import { ToolcribError } from '../../core/errors.ts';
import { unreadable, type Opened } from '../../machine/paths/opened.ts';
import { ownFoldersBelow } from '../../machine/paths/own-folders.ts';
import { codeOf } from '../../machine/paths/real-path.ts';
import { heldElsewhere, isLarge, openBelow, partsOf, type Entries, type HeldFolder } from './held-folder.ts';
import { ruleNamesAmong, ruleNamesIn, scopeIn, type Complain, type IgnoreScope } from './ignore-scope.ts';
import type { Pace } from './pace.ts';
import type { PathPattern, PathState } from './path-pattern.ts';
import { withCommas } from '../with-commas.ts';

/** Which files are looked for, and where. */
export interface Walk {
  readonly folder: Opened;
  readonly pattern: PathPattern;
  /** Whether names that begin with a dot count. `.git` never does. */
  readonly hidden: boolean;
  /** The rules of the folders above; undefined when none are to be applied. */
  readonly rules: IgnoreScope | undefined;
  /** Whether the disk answers at once. */
  readonly quick: boolean;
  readonly pace: Pace;
  /** Told what could not be read or applied, by its path below the folder. */
  readonly complain: Complain;
  /** Gets the chosen files of one folder. Folders come in no order. */
  found(files: FoundFiles): Promise<void> | undefined;
}

export interface FoundFiles {
  readonly names: readonly string[];
  readonly bytes: Entries['bytes'];
  /** The folder below the one that is searched: '' or ending with '/'. */
  readonly path: string;
  readonly folder: HeldFolder;
}

export type EndedEarly = 'timed_out' | 'too_many';

/** More than the largest repositories have; they take a few seconds. */
const mostEntries = 1_000_000;
/** Each level keeps a folder open. Nobody's source is that deep. */
const deepest = 128;
/** Microseconds for a folder itself. */
const folderUnits = 15;
/** Folders that are read at once. The system answers some from memory while it looks up others. */
const mostAtOnce = 16;

/** A folder that was read, and what is needed to go on below it. */
interface Above {
  readonly held: HeldFolder;
  readonly path: string;
  readonly depth: number;
  readonly rules: IgnoreScope | undefined;
}

/** A folder that is still to be read. */
interface Below {
  readonly above: Above;
  readonly name: string;
  readonly bytes: Buffer | undefined;
  readonly state: PathState;
}

/**
 * Finds regular files below a folder. Links are never followed: each folder is opened by its name in the one above,
 * which is held open meanwhile. Returns why it ended early, if it did. Throws CANCELLED, and what `unreadable` makes of
 * a folder that cannot be read.
 */
export async function walk(task: Walk): Promise<EndedEarly | undefined> {
  const { folder, pattern, hidden, pace, complain } = task;
  const pending: Below[] = [];
  // What toolcrib itself keeps is nobody's file.
  const leftOut = ownFoldersBelow(folder.path);
  let entries = 0;
  let ended: EndedEarly | undefined;

  const mayGoOn = () => {
    if (pace.over) ended ??= 'timed_out';
    if (entries > mostEntries) ended ??= 'too_many';
    return ended === undefined;
  };

  /** Reads one folder, which the caller holds. */
  async function read(folder: Above, state: PathState): Promise<void> {
    let here: Above | undefined;
    for (const next of partsOf(folder.held)) {
      const part = next instanceof Promise ? await next : next;
      if (!here) {
        const ruled = withRules(folder, part);
        here = ruled instanceof Promise ? await ruled : ruled;
      }
      const names: string[] = [];
      const folders: Below[] = [];
      entries += part.found.length;
      for (const entry of part.found) {
        if (pace.spend(here.rules ? 1 + here.rules.size / 1000 : 1)) await pace.rest();
        if (!mayGoOn()) return;
        if (entry.name.startsWith('.') && (!hidden || entry.name === '.git')) continue;
        if (entry.isFile()) {
          if (pattern.chooses(state, entry.name) && !here.rules?.leavesOut(here.path, entry.name, false))
            names.push(entry.name);
        } else if (entry.isDirectory()) {
          const below = pattern.below(state, entry.name);
          if (below.length === 0 || here.rules?.leavesOut(here.path, entry.name, true)) continue;
          if (leftOut.size > 0 && leftOut.has(here.path + entry.name)) continue;
          folders.push({ above: here, name: entry.name, bytes: part.bytes.get(entry.name), state: below });
        }
      }
      if (folders.length > 0) goInto(folders, here);
      if (names.length === 0) continue;
      const taken = task.found({ names, bytes: part.bytes, path: here.path, folder: here.held });
      if (taken) await taken;
    }
  }

  function withRules(folder: Above, part: Entries): Above | Promise<Above> {
    const { held, path, rules } = folder;
    if (!rules) return folder;
    const go = async (has: ReadonlySet<string>) => ({
      ...folder,
      rules: await scopeIn(rules, { place: { below: path.length }, at: held.at, path, has }, task),
    });
    // What a large folder has may come in a later part.
    if (isLarge(held)) return ruleNamesIn(held.at).then(go);
    const has = ruleNamesAmong(part.found);
    return has.size === 0 ? folder : go(has);
  }

  function goInto(folders: readonly Below[], here: Above): void {
    if (here.depth >= deepest) return complain(here.path, `goes on more than ${deepest} folders deep`);
    // The last is taken first, and what comes first fills the page.
    for (const below of folders.toReversed()) {
      here.held.hold();
      pending.push(below);
    }
  }

  async function visit({ above, name, bytes, state }: Below): Promise<void> {
    const path = `${above.path}${name}/`;
    let held: HeldFolder | undefined;
    try {
      try {
        if (pace.spend(folderUnits)) await pace.rest();
        const opening = openBelow(above.held, name, bytes);
        held = opening instanceof Promise ? await opening : opening;
      } finally {
        above.held.release();
      }
      if (!mayGoOn()) return;
      await read({ held, path, depth: above.depth + 1, rules: above.rules }, state);
    } catch (error) {
      if (error instanceof ToolcribError) {
        // What shows processes or devices is not searched; everything else ends the walk.
        if (error.code !== 'PATH_PROTECTED') throw error;
        return;
      }
      const code = codeOf(error);
      // It vanished, or was replaced, after it was listed.
      if (!['ENOENT', 'ENOTDIR', 'ELOOP'].includes(code)) complain(path, code);
    } finally {
      held?.release();
    }
  }

  async function readAll(): Promise<void> {
    const top = { held: heldElsewhere(folder, task.quick), path: '', depth: 0, rules: task.rules };
    try {
      await read(top, pattern.start).catch((error: unknown) => {
        throw error instanceof ToolcribError ? error : unreadable(folder.path, codeOf(error));
      });
      await eachOf(pending, visit, mayGoOn);
    } finally {
      for (const { above } of pending) above.held.release();
    }
  }

  await pace.within(readAll());
  mayGoOn();
  return ended;
}

/** Does a growing pile of work from its top, several pieces at once, until none is left. Throws the first failure. */
async function eachOf<T>(
  pile: T[],
  work: (piece: T) => Promise<void>,
  mayGoOn: () => boolean,
): Promise<void> {
  let failure: { error: unknown } | undefined;
  let working = 0;
  await new Promise<void>((resolve) => {
    const doOne = async (piece: T) => {
      try {
        await work(piece);
      } catch (error) {
        failure ??= { error };
      }
      working--;
      goOn();
    };
    const goOn = () => {
      while (!failure && working < mostAtOnce && mayGoOn()) {
        const piece = pile.pop();
        if (piece === undefined) break;
        working++;
        void doOne(piece);
      }
      if (working === 0) resolve();
    };
    goOn();
  });
  if (failure) throw failure.error;
}

/** What to do about it. */
export const noteOnEnd = (ended: EndedEarly): string =>
  `${ended === 'timed_out' ? 'stopped at the time limit' : `stopped after ${withCommas(mostEntries)} entries`}: search a smaller folder`;
