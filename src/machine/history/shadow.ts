import { existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { discard, isPrivate, makePrivate, writePrivate } from '../folders.ts';
import { isInside, outermost } from '../paths/inside.ts';
import { realPath } from '../paths/real-path.ts';
import type { AskGit } from './ask-git.ts';
import { sha256 } from './log.ts';

/** The git folder of ours that keeps the states of one work tree. Several servers may use it at once. */
export interface Shadow {
  readonly folder: string;
  /** The folder that has `.git`; it may lie above the roots. */
  readonly top: string;
  /** What of it is kept, since it is open to the model: itself, or the root below it. */
  readonly scope: string;
}

/**
 * The shadow of the work tree that a folder inside the roots belongs to, whether or not it is there; undefined when it
 * belongs to none. Above the roots only the existence of `.git` is asked for; of what is in there nothing is read.
 */
export function shadowFor(given: string, roots: readonly string[], shadows: string): Shadow | undefined {
  const folder = realPath(given);
  const root = outermost(folder, roots);
  if (root === undefined) return undefined;
  for (let top = folder; ; top = dirname(top)) {
    if (isTop(top)) return shadowOf({ top, scope: isInside(top, root) ? top : root }, shadows);
    if (top === dirname(top)) return undefined;
  }
}

function isTop(folder: string): boolean {
  const found = lstatSync(join(folder, '.git'), { throwIfNoEntry: false });
  // A linked worktree or a submodule has a file there. An empty folder of that name is none to git either.
  return found?.isDirectory() ? existsSync(join(folder, '.git', 'HEAD')) : found !== undefined;
}

/** Another root sees another part of the same tree, which is another content. */
export function shadowOf({ top, scope }: Pick<Shadow, 'top' | 'scope'>, shadows: string): Shadow {
  return { folder: join(shadows, sha256(JSON.stringify([top, scope])).slice(0, 32)), top, scope };
}

/** Makes it without git, so that no template adds hooks. Throws for a folder that is not private. */
export function openShadow({ folder }: Shadow): void {
  if (isPrivate(folder) && existsSync(join(folder, 'whole'))) return;
  for (const each of [dirname(dirname(folder)), dirname(folder), folder])
    if (!makePrivate(each)) throw new Error(`${each} is not a folder of this user alone`);
  for (const name of ['objects/pack', 'refs/checkpoints', 'info'])
    mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
  writePrivate(folder, 'HEAD', 'ref: refs/heads/none\n');
  writePrivate(folder, 'config', configuration());
  // Takes precedence over every .gitattributes (gitattributes(5)): bytes go in and come out as they are.
  const attributes = '* -text -eol -crlf -ident -filter -working-tree-encoding -diff -merge -export-subst\n';
  writePrivate(join(folder, 'info'), 'attributes', attributes);
  writePrivate(folder, 'whole', '');
}

/** All else is as git has it without a configuration. */
function configuration(): string {
  const [windows, apple] = [process.platform === 'win32', process.platform === 'darwin'];
  return `[core]
  repositoryFormatVersion = 0
  bare = true
  fileMode = ${!windows}
  ignoreCase = ${windows || apple}
  precomposeUnicode = ${apple}
  # Names that only another system would mistake for .git are kept.
  protectNTFS = ${windows}
  protectHFS = ${apple}
  longPaths = true
  compression = 0
  # A checkpoint that a power failure breaks is made anew; waiting for the disk would take most of the time there is.
  fsync = none
[gc]
  auto = 0
  # A state that is forgotten is a file that is removed.
  packRefs = false
`;
}

const mostStates = 100;
const quotaKilobytes = 1024 ** 2;
/** What is younger may be in use by another server. */
const youngMs = 15 * 60_000;

/** Forgets what is too many or too much, and lets git drop what nothing needs. Throws GitFailure. */
export async function tidyShadow({ folder }: Shadow, ask: AskGit, index: string | undefined): Promise<void> {
  const unused = newestFirst(folder).filter(({ name }) => name.startsWith('index.') && name !== index);
  for (const { path, age } of unused) if (age > youngMs) discard(path);
  const states = newestFirst(join(folder, 'refs', 'checkpoints'));
  const sizes = (await ask(['count-objects', '-v'])).matchAll(/^size(?:-pack)?: (\d+)$/gm);
  const isMuch = [...sizes].reduce((sum, [, size]) => sum + Number(size), 0) > quotaKilobytes;
  const most = isMuch ? Math.ceil(Math.min(states.length, mostStates) / 2) : mostStates;
  if (states.length <= most) return;
  for (const { path } of states.slice(most)) discard(path);
  await ask(['gc', '--quiet', '--prune=10.minutes.ago'], { workTree: folder });
}

const newestFirst = (folder: string) =>
  readdirSync(folder)
    .map((name) => ({ name, path: join(folder, name) }))
    .map((file) => ({ ...file, age: Date.now() - lstatSync(file.path).mtimeMs }))
    .toSorted((a, b) => a.age - b.age);
