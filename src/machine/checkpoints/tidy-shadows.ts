import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runGit, type Git } from './shadow-repository.ts';
import {
  allShadows,
  checkpointsOf,
  discardShadow,
  lastSeen,
  readCurrent,
  removeCheckpoint,
  writeGrown,
  type Shadow,
} from './shadow-store.ts';

export interface Tidying {
  /** Ends what is going on, and waits until nothing has happened for a while. */
  postpone(): void;
  /** Tidies up when nothing happens for a while. Keeps no process alive. */
  plan(): void;
  now(): Promise<void>;
}

const dayMs = 24 * 60 * 60_000;
const keptMs = 14 * dayMs;
const mostBytes = 1024 * 1024 * 1024;
/** Longer than an action may take: none that a checkpoint was taken for is still running. */
const quietMs = 60_000;
const mostMs = 10 * 60_000;
/** Remains of what was ended. Whoever is at work has touched theirs since. */
const remainsMs = 60 * 60_000;
/** More packs than that make reading slower. */
const mostPacks = 20;

/** Forgets what is old or too much, in the background. */
export function createTidying(folder: string | undefined, git: () => Promise<Git | undefined>): Tidying {
  let timer: NodeJS.Timeout | undefined;
  let running: AbortController | undefined;

  async function now(): Promise<void> {
    const program = await git();
    if (folder === undefined || !program) return;
    running?.abort();
    const own = new AbortController();
    running = own;
    const limit = setTimeout(() => own.abort(), mostMs);
    limit.unref();
    try {
      await removeTrash(folder);
      for (const shadow of await allShadows(folder)) {
        if (!own.signal.aborted) await tidyShadow(shadow, program, own.signal);
      }
    } finally {
      clearTimeout(limit);
      if (running === own) running = undefined;
    }
  }

  return {
    postpone() {
      clearTimeout(timer);
      running?.abort();
    },
    plan() {
      clearTimeout(timer);
      // What does not work now is tried after the next checkpoint.
      timer = setTimeout(() => void now().catch(() => {}), quietMs);
      timer.unref();
    },
    now,
  };
}

async function removeTrash(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (name.startsWith('.trash-')) await rm(join(folder, name), { recursive: true, force: true });
  }
}

async function tidyShadow(shadow: Shadow, git: Git, signal: AbortSignal): Promise<void> {
  await removeRemains(shadow.folder);
  const all = await checkpointsOf(shadow);
  const seen = await Promise.all(all.map((one) => lastSeen(shadow, one)));
  const old = all.filter((_, index) => Date.now() - (seen[index] ?? 0) > keptMs);
  const [newest] = all;
  const unfinished = newest === undefined && Date.now() - (await changedAt(shadow)) < keptMs;
  if (unfinished) return;
  if (newest === undefined || old.includes(newest)) return discardShadow(shadow);
  for (const one of old) await removeCheckpoint(shadow, one);

  const kept = all.filter((one) => !old.includes(one));
  let { bytes, packs } = await sizeOf(shadow.folder);
  if (old.length > 0 || packs > mostPacks || bytes > mostBytes) await repack(shadow, git, signal);
  while ((bytes = (await sizeOf(shadow.folder)).bytes) > mostBytes) {
    if (signal.aborted) return;
    // Half of them at a time: each round reads and writes all that is left.
    const dropped = kept.splice(Math.ceil(kept.length / 2));
    if (dropped.length === 0) return discardShadow(shadow);
    for (const one of dropped) await removeCheckpoint(shadow, one);
    await repack(shadow, git, signal);
  }
  await writeGrown(shadow, 0);
}

/** Drops what no checkpoint holds; but nothing young, which another server may be about to use. */
async function repack(shadow: Shadow, git: Git, signal: AbortSignal): Promise<void> {
  // An index without a checkpoint holds what nothing else does.
  if ((await readCurrent(shadow))?.checkpoint === undefined) return;
  const ask = (...args: string[]) => runGit(shadow.folder, git, { args, workTree: shadow.folder, signal });
  await ask('repack', '-A', '-d', '-q', '--unpack-unreachable=1.hour.ago');
  await ask('prune', '--expire=1.hour.ago');
}

async function removeRemains(folder: string): Promise<void> {
  const current = (await readCurrent({ folder }))?.index;
  const packs = (await readdir(join(folder, 'objects', 'pack'))).filter((name) => name.startsWith('tmp_'));
  const own = (await readdir(folder)).filter((name) => /^(?:index\.|staged)/.test(name) && name !== current);
  for (const path of [...own, ...packs.map((name) => join('objects', 'pack', name))]) {
    const facts = await lstat(join(folder, path)).catch(() => undefined);
    if (facts && Date.now() - facts.ctimeMs > remainsMs) {
      await rm(join(folder, path), { recursive: true, force: true });
    }
  }
}

/** When a file was last added to it. */
const changedAt = async ({ folder }: Shadow): Promise<number> =>
  (await lstat(folder).catch(() => undefined))?.mtimeMs ?? 0;

async function sizeOf(folder: string): Promise<{ bytes: number; packs: number }> {
  const objects = join(folder, 'objects');
  let bytes = 0;
  let packs = 0;
  for (const entry of await readdir(objects, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const facts = await lstat(join(entry.parentPath, entry.name)).catch(() => undefined);
    bytes += facts?.size ?? 0;
    if (entry.name.endsWith('.pack')) packs++;
  }
  return { bytes, packs };
}
