import { constants, copyFileSync, existsSync, lstatSync, readdirSync, utimesSync } from 'node:fs';
import { join, relative } from 'node:path';
import * as z from 'zod';
import { discard, readPrivate, writePrivate } from '../folders.ts';
import { appendLine, readLines } from './json-lines.ts';
import { sortListed } from './listed-files.ts';
import type { AskGit, Shadow } from './shadow.ts';

/** A state of a work tree that was kept. */
export interface Checkpoint {
  readonly id: string;
  /** When it was taken, as ISO 8601. */
  readonly at: string;
  /** The git tree that holds it. */
  readonly tree: string;
  /** The action it was taken before. */
  readonly before: string;
  /** Files that are too large, not readable, or not called in UTF-8: how many were left out, and some of them. */
  readonly left: { readonly count: number; readonly names: readonly string[] };
}

const checkpointSchema = z.object({
  id: z.string().regex(/^c_[0-9a-f]{8}$/),
  at: z.string(),
  tree: z.string().regex(/^[0-9a-f]{40,64}$/),
  before: z.string(),
  left: z.object({ count: z.number(), names: z.array(z.string()) }),
});
/** What the next one starts from: an index, and the checkpoint that holds just what is in it. */
const currentSchema = z.object({
  index: z.string().regex(/^index\.[-0-9a-f]+$/),
  checkpoint: checkpointSchema,
});

/** What git is given at a time: its input is held in memory. */
const portion = { files: 4000, characters: 500_000 };

/** Newest first. */
export const checkpointsOf = ({ folder }: Pick<Shadow, 'folder'>): Checkpoint[] =>
  readLines(folder, 'checkpoints.jsonl')
    .flatMap((line) => checkpointSchema.safeParse(line).data ?? [])
    .toReversed();

export function readCurrent({ folder }: Shadow): z.output<typeof currentSchema> | undefined {
  try {
    return currentSchema.parse(JSON.parse(String(readPrivate(folder, 'current.json'))));
  } catch {
    // Not there yet, or damaged: then all files are read anew.
    return undefined;
  }
}

/** The next one reads all files anew, in a git folder that is written anew around what is kept. */
export function forgetCurrent({ folder }: Shadow): void {
  for (const name of ['current.json', 'about.json']) discard(join(folder, name));
}

/** What the project ignores on this machine alone. Of all in `.git` this is the one file that is read: patterns. */
export const excludesOf = ({ top }: Shadow): string[] => [
  '-c',
  `core.excludesFile=${join(top, '.git', 'info', 'exclude')}`,
];

/**
 * Keeps the content of a work tree in its shadow: what is not ignored, without nested repositories; or finds the
 * checkpoint that has it. Reads only what has changed since the last time. Throws GitFailure, and what the system says.
 */
export async function takeSnapshot(shadow: Shadow, ask: AskGit, before: string): Promise<Checkpoint> {
  const current = readCurrent(shadow);
  const list = ['--literal-pathspecs', 'ls-files', '-z', '--others', '--modified', '--exclude-standard'];
  const below = shadow.scopes.map((scope) => relative(shadow.top, scope)).filter((path) => path !== '');
  const index = current?.index ?? 'index.none';
  const listed = await ask(
    shadow,
    [...excludesOf(shadow), ...list, ...(below.length > 0 ? ['--', ...below] : [])],
    {
      index,
    },
  );
  const { add, left, ...sorted } = await sortListed(listed.toString(), shadow);
  // What was left out then is not in the index either.
  const remove = sorted.remove.filter((name) => !current?.checkpoint.left.names.includes(name));
  if (current && add.length === 0 && remove.length === 0) return { ...current.checkpoint, left };
  const next = copyIndex(shadow, current?.index);
  const update = [
    ...(await streaming(shadow, ask, add.length)),
    'update-index',
    '-z',
    '--add',
    '--replace',
    '--remove',
  ];
  for (const names of portions(remove))
    await ask(shadow, ['update-index', '-z', '--force-remove', '--stdin'], { index: next, input: names });
  for (const names of portions(add)) await ask(shadow, [...update, '--stdin'], { index: next, input: names });
  const tree = (await ask(shadow, ['write-tree'], { index: next })).toString().trim();
  const same = current?.checkpoint.tree === tree ? current.checkpoint : undefined;
  const checkpoint = same ? { ...same, left } : addCheckpoint(shadow, { tree, before, left });
  writePrivate(shadow.folder, 'current.json', JSON.stringify({ index: next, checkpoint }));
  removeOldIndexes(shadow, next);
  return checkpoint;
}

/**
 * As a stream, content goes into one pack instead of a file for each, which takes half the time. Before 2.38
 * update-index made a pack for each file.
 */
async function streaming(shadow: Shadow, ask: AskGit, files: number): Promise<string[]> {
  // For a few files there is nothing to gain.
  if (files < 100) return [];
  const said = (await ask(shadow, ['version'])).toString();
  const [, major = 0, minor = 0] = /(\d+)\.(\d+)/.exec(said)?.map(Number) ?? [];
  return major > 2 || (major === 2 && minor >= 38) ? ['-c', 'core.bigFileThreshold=1'] : [];
}

function* portions(names: readonly string[]): Generator<string> {
  let [input, files] = ['', 0];
  for (const name of names) {
    input += `${name}\0`;
    if (++files < portion.files && input.length < portion.characters) continue;
    yield input;
    [input, files] = ['', 0];
  }
  if (input !== '') yield input;
}

/** A copy of an index, to be changed: whoever is killed leaves the old one as it was. */
function copyIndex({ folder }: Shadow, from: string | undefined): string {
  const name = `index.${globalThis.crypto.randomUUID()}`;
  if (from === undefined || !existsSync(join(folder, from))) return name;
  const { atimeMs, mtimeMs } = lstatSync(join(folder, from));
  copyFileSync(join(folder, from), join(folder, name), constants.COPYFILE_EXCL);
  // By its time git knows which files may have changed unseen just after they were read ("racy git"), so the copy must
  // not be younger.
  utimesSync(join(folder, name), Math.floor(atimeMs / 1000), Math.floor(mtimeMs / 1000));
  return name;
}

/** One that another server is at has been touched a moment ago. */
function removeOldIndexes({ folder }: Shadow, used: string): void {
  for (const name of readdirSync(folder)) {
    if (!name.startsWith('index.') || name === used) continue;
    const age = Date.now() - (lstatSync(join(folder, name), { throwIfNoEntry: false })?.ctimeMs ?? Infinity);
    if (Math.abs(age) > 15 * 60_000) discard(join(folder, name));
  }
}

function addCheckpoint({ folder }: Shadow, given: Pick<Checkpoint, 'tree' | 'before' | 'left'>): Checkpoint {
  const id = `c_${globalThis.crypto.randomUUID().slice(0, 8)}`;
  const checkpoint = { id, at: new Date().toISOString(), ...given };
  // The reference first: it keeps what the checkpoint names.
  writePrivate(join(folder, 'refs', 'checkpoints'), id, `${given.tree}\n`);
  appendLine(join(folder, 'checkpoints.jsonl'), checkpoint);
  return checkpoint;
}
