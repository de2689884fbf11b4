import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, lstat, open, readdir, rename, rm, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makePrivate, readPrivate } from '../folders.ts';
import { codeOf } from '../paths/real-path.ts';
import { makeRepository } from './shadow-repository.ts';
import type { WorkTree } from './work-tree.ts';

/** A state of a work tree that was kept. */
export interface Checkpoint {
  readonly id: string;
  /** The git tree that holds it. */
  readonly tree: string;
  /** When it was taken, as ISO 8601. */
  readonly at: string;
  /** The action it was taken before. */
  readonly before: string;
}

/** What the next snapshot starts from: an index, and the checkpoint that holds just what is in it. */
export interface Current {
  readonly index: string;
  /** Undefined while not everything has been read yet. */
  readonly checkpoint: Checkpoint | undefined;
}

/** The shadow repository of one work tree. Several servers may use it at once, without waiting for each other. */
export interface Shadow extends WorkTree {
  readonly folder: string;
}

/** What does not suit the name of this version is not looked at. */
const about = 'about-1.json';

/** How many checkpoints of a work tree are kept. */
const mostCheckpoints = 50;
/** An older index than that is in nobody's hands. */
const indexMs = 60_000;

/** Where a work tree's shadow is, whether or not it is there. */
export function shadowOf(tree: WorkTree, shadows: string): Shadow {
  // Another choice of roots sees another part of the same tree, which is another content.
  const key = JSON.stringify([tree.top, ...tree.scopes]);
  return { ...tree, folder: join(shadows, createHash('sha256').update(key).digest('hex').slice(0, 32)) };
}

/** Makes it when it is not there, or was not finished. Throws what the system says, and an Error for a folder that is not private. */
export async function openShadow(shadow: Shadow): Promise<void> {
  const shadows = dirname(shadow.folder);
  for (const folder of [dirname(shadows), shadows, shadow.folder]) {
    if (!makePrivate(folder)) throw new Error(`${folder} is not a folder of this user alone`);
  }
  if (await exists(join(shadow.folder, about))) return;
  await makeRepository(shadow.folder);
  await replaceFile(join(shadow.folder, about), JSON.stringify({ top: shadow.top, scopes: shadow.scopes }));
}

/** Every shadow there is, with what it is of. */
export async function allShadows(shadows: string): Promise<Shadow[]> {
  const names = await readdir(shadows).catch(() => []);
  const found = names.map((name) => {
    const folder = join(shadows, name);
    const tree = readJson<WorkTree>(folder, about);
    const shadow = tree && shadowOf({ top: tree.top, scopes: tree.scopes }, shadows);
    return shadow?.folder === folder ? shadow : undefined;
  });
  return found.filter((shadow) => shadow !== undefined);
}

/** Takes it out of use at once; removing what it holds takes longer. */
export async function discardShadow({ folder }: Shadow): Promise<void> {
  const trash = join(dirname(folder), `.trash-${globalThis.crypto.randomUUID()}`);
  try {
    await rename(folder, trash);
  } catch (error) {
    // Another server was first.
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  // What cannot be removed now is tried again when shadows are tidied up.
  rm(trash, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
}

export const readCurrent = ({ folder }: Pick<Shadow, 'folder'>): Promise<Current | undefined> =>
  Promise.resolve(readJson<Current>(folder, 'current.json'));

/** A copy of an index, to be changed. What is there already is not read by anybody else. */
export async function copyIndex({ folder }: Shadow, from: string | undefined): Promise<string> {
  const name = `index.${globalThis.crypto.randomUUID()}`;
  if (from === undefined) return name;
  try {
    const { atimeMs, mtimeMs } = await lstat(join(folder, from));
    await copyFile(join(folder, from), join(folder, name), constants.COPYFILE_EXCL);
    // By its time git knows which files may have changed unseen just after they were read ("racy git"), so the copy
    // must not be younger.
    await utimes(join(folder, name), Math.floor(atimeMs / 1000), Math.floor(mtimeMs / 1000));
  } catch (error) {
    // Without one all files are read anew.
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  return name;
}

/** Makes an index the one that the next snapshot starts from. */
export async function writeCurrent(shadow: Shadow, current: Current): Promise<void> {
  await replaceFile(join(shadow.folder, 'current.json'), JSON.stringify(current));
  await removeOldIndexes(shadow, current.index);
}

/** How many bytes were put into it since it was tidied up. Servers that count at once may count too little. */
export const readGrown = async ({ folder }: Shadow): Promise<number> =>
  readJson<number>(folder, 'grown.json') ?? 0;

export const writeGrown = ({ folder }: Shadow, bytes: number): Promise<void> =>
  replaceFile(join(folder, 'grown.json'), JSON.stringify(bytes));

/** The next snapshot reads everything anew. */
export const forgetCurrent = ({ folder }: Shadow): Promise<void> =>
  rm(join(folder, 'current.json'), { force: true });

async function removeOldIndexes({ folder }: Shadow, used: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith('index.') || name.startsWith(used)) continue;
    const facts = await lstat(join(folder, name)).catch(() => undefined);
    if (facts && Date.now() - facts.ctimeMs > indexMs) await rm(join(folder, name), { force: true });
  }
}

/** Whether another snapshot may be going on. */
export async function isInUse({ folder }: Shadow, own: string): Promise<boolean> {
  const current = await readCurrent({ folder });
  const others = (await readdir(folder)).filter((name) => /^index\.[-0-9a-f]+$/.test(name));
  return others.some((name) => name !== own && name !== current?.index);
}

/** Keeps a tree under a new name, and forgets the oldest when there are too many. */
export async function addCheckpoint(
  shadow: Shadow,
  given: Omit<Checkpoint, 'id' | 'at'>,
): Promise<Checkpoint> {
  const id = `c_${globalThis.crypto.randomUUID().replaceAll('-', '').slice(0, 8)}`;
  const checkpoint = { id, at: new Date().toISOString(), ...given };
  // The reference first: it keeps what the checkpoint names.
  await replaceFile(referenceOf(shadow, id), `${given.tree}\n`);
  await replaceFile(fileOf(shadow, id), JSON.stringify(checkpoint));
  const all = await checkpointsOf(shadow);
  for (const old of all.slice(mostCheckpoints)) await removeCheckpoint(shadow, old);
  return checkpoint;
}

export async function removeCheckpoint(shadow: Shadow, { id }: Pick<Checkpoint, 'id'>): Promise<void> {
  await rm(fileOf(shadow, id), { force: true });
  await rm(referenceOf(shadow, id), { force: true });
}

/** Newest first. */
export async function checkpointsOf({ folder }: Pick<Shadow, 'folder'>): Promise<Checkpoint[]> {
  const names = await readdir(join(folder, 'checkpoints')).catch(() => []);
  const files = names.filter((name) => idPattern.test(name.replace(/\.json$/, '')));
  const all = files.map((name) => readJson<Checkpoint>(join(folder, 'checkpoints'), name));
  return all.filter((one) => one !== undefined).toSorted((a, b) => (a.at < b.at ? 1 : -1));
}

/** When a checkpoint was last the state of its work tree; undefined when it is gone. */
export const lastSeen = async (
  shadow: Pick<Shadow, 'folder'>,
  { id }: Checkpoint,
): Promise<number | undefined> => (await lstat(fileOf(shadow, id)).catch(() => undefined))?.mtimeMs;

/** Says that a checkpoint is still the state of its work tree. False when it is gone. */
export async function seenAgain(shadow: Shadow, { id }: Checkpoint): Promise<boolean> {
  const now = new Date();
  return utimes(fileOf(shadow, id), now, now).then(
    () => true,
    () => false,
  );
}

export const idPattern = /^c_[0-9a-f]{8}$/;
const fileOf = ({ folder }: Pick<Shadow, 'folder'>, id: string): string =>
  join(folder, 'checkpoints', `${id}.json`);
const referenceOf = ({ folder }: Shadow, id: string): string => join(folder, 'refs', 'checkpoints', id);

const exists = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(() => undefined)) !== undefined;

/** Readers see the old or the new content. */
export async function replaceFile(path: string, content: string | Buffer): Promise<void> {
  const temporary = `${path}.${globalThis.crypto.randomUUID()}`;
  const handle = await open(temporary, 'wx', 0o600);
  try {
    await handle.writeFile(content);
    await handle.close();
    await rename(temporary, path);
  } catch (error) {
    // A full disk: what was begun would be in the way for ever.
    await handle.close().catch(() => {});
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
}

/** Ours, in a private folder, so the shape is what was written; one that was cut short, or is no file, counts as missing. */
function readJson<T>(folder: string, name: string): T | undefined {
  const content = readPrivate(folder, name);
  try {
    return content && (JSON.parse(content.toString()) as T);
  } catch {
    return undefined;
  }
}
