import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, readSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { ByteName } from './changed-files.ts';
import type { OpenScopes, ScopedName } from './open-scopes.ts';
import type { Content } from './tree-changes.ts';

export interface ReadAgain {
  /** Files that do not have the content that was stored under their name. */
  readonly different: readonly ByteName[];
  /** What is not there, or not without following a link. */
  readonly gone: readonly ByteName[];
}

/** Bytes read, or files opened, between two chances for other calls. */
const batch = { bytes: 4 * 1024 * 1024, files: 100 };

/**
 * Reads files once more, this time without following a link on the way (on Linux; elsewhere as well as can be), and
 * compares them with what git has stored. Git opens files by their path: a folder that is swapped for a link to the
 * outside just then would lead it there.
 */
export async function readAgain(
  stored: ReadonlyMap<ByteName, Content>,
  scopes: OpenScopes,
  signal: AbortSignal,
): Promise<ReadAgain> {
  const different: ByteName[] = [];
  const gone: ByteName[] = [];
  const steps = createSteps();
  const buffer = Buffer.allocUnsafe(1024 * 1024);
  let files = 0;
  let bytes = 0;
  try {
    for (const [name, content] of stored) {
      const path = pathTo(name, scopes, steps);
      const hash = path && (content.kind === 'link' ? hashOfLink(path) : await hashOfFile(path));
      if (hash === undefined) gone.push(name);
      else if (hash !== content.blob) different.push(name);
      if (++files % batch.files === 0) await pause();
    }
  } finally {
    steps.close();
  }
  return { different, gone };

  async function pause(): Promise<void> {
    bytes = 0;
    await setImmediate();
    signal.throwIfAborted();
  }

  async function hashOfFile(path: Buffer): Promise<string | undefined> {
    const file = openFile(path);
    if (file === undefined) return undefined;
    try {
      const { size } = fstatSync(file);
      const hash = createHash('sha1').update(`blob ${size}\0`);
      for (let read = readSync(file, buffer); read > 0; read = readSync(file, buffer)) {
        hash.update(buffer.subarray(0, read));
        bytes += read;
        if (bytes > batch.bytes) await pause();
      }
      return hash.digest('hex');
    } finally {
      closeSync(file);
    }
  }
}

/** Calls with each of some files open, as a path that leads to just what was opened. Only on Linux. */
export async function withOpenFiles(
  names: readonly ByteName[],
  scopes: OpenScopes,
  use: (open: readonly { name: ByteName; path: string; canRun: boolean }[]) => Promise<void>,
): Promise<void> {
  const steps = createSteps();
  const open: { name: ByteName; file: number }[] = [];
  try {
    for (const name of names) {
      const path = pathTo(name, scopes, steps);
      const file = path && openFile(path);
      if (file !== undefined) open.push({ name, file });
    }
    await use(
      open.map(({ name, file }) => ({
        name,
        path: `/proc/${process.pid}/fd/${file}`,
        canRun: (fstatSync(file).mode & 0o100) !== 0,
      })),
    );
  } finally {
    for (const { file } of open) closeSync(file);
    steps.close();
  }
}

/** What git calls a link with this target; undefined for what is none. */
function hashOfLink(path: Buffer): string | undefined {
  try {
    const target = readlinkSync(path, { encoding: 'buffer' });
    return createHash('sha1').update(`blob ${target.length}\0`).update(target).digest('hex');
  } catch {
    return undefined;
  }
}

/** A regular file, open; undefined for anything else. */
function openFile(path: Buffer): number | undefined {
  let file: number | undefined;
  try {
    const {
      O_RDONLY,
      O_NONBLOCK = 0,
      O_NOFOLLOW = 0,
    }: Partial<typeof constants> & { O_RDONLY: number } = constants;
    file = openSync(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
    if (fstatSync(file).isFile()) return file;
  } catch {
    // Not there any more, a link, a socket: nothing of it may be kept.
  }
  if (file !== undefined) closeSync(file);
  return undefined;
}

function pathTo(name: ByteName, scopes: OpenScopes, steps: Steps): Buffer | undefined {
  const scope = scopes.scopeOf(name);
  const folder = scope && steps.to(scope);
  return folder && below(folder, scope.rest.slice(scope.rest.lastIndexOf('/') + 1));
}

/** The way to a folder, step by step. */
interface Steps {
  /** The folder that a name is in, as a path for system calls; undefined when a step on the way is no real folder. */
  to(name: ScopedName): Buffer | undefined;
  close(): void;
}

/** Keeps the folders of the last way open: names come sorted, so that the next one shares most of it. */
function createSteps(): Steps {
  const way: { step: string; path: Buffer; folder?: number }[] = [];
  const leave = (length: number) => {
    for (const { folder } of way.splice(length)) if (folder !== undefined) closeSync(folder);
  };
  return {
    to({ path, rest }) {
      const wanted = [path, ...rest.split('/').slice(0, -1)];
      const shared = wanted.findIndex((step, index) => way[index]?.step !== step);
      leave(shared === -1 ? wanted.length : shared);
      for (const step of wanted.slice(way.length)) {
        const above = way.at(-1);
        const entered = above ? enter(below(above.path, step)) : { path: Buffer.from(step) };
        if (!entered) return undefined;
        way.push({ step, ...entered });
      }
      return way.at(-1)?.path;
    },
    close: () => leave(0),
  };
}

function enter(path: Buffer): { path: Buffer; folder?: number } | undefined {
  try {
    if (process.platform !== 'linux') return lstatSync(path).isDirectory() ? { path } : undefined;
    const folder = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    return { path: Buffer.from(`/proc/self/fd/${folder}`), folder };
  } catch {
    // Gone, or a link in its place.
    return undefined;
  }
}

const below = (folder: Buffer, step: ByteName): Buffer =>
  Buffer.concat([folder, Buffer.from('/'), Buffer.from(step, 'latin1')]);
