import { createHash } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isPrivate, makePrivate, writePrivate } from '../folders.ts';
import { isInside } from '../paths/inside.ts';

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
export async function shadowFor(
  given: string,
  roots: readonly string[],
  shadows: string,
): Promise<Shadow | undefined> {
  const folder = await realpath(given).catch(() => undefined);
  const root = folder === undefined ? undefined : outermost(folder, roots);
  if (folder === undefined || root === undefined) return undefined;
  for (let top = folder; ; top = dirname(top)) {
    if (await isTop(top)) return shadowOf({ top, scope: isInside(top, root) ? top : root }, shadows);
    if (top === dirname(top)) return undefined;
  }
}

/** Of several roots that a folder lies in, the one that holds the others. */
export const outermost = (folder: string, roots: readonly string[]): string | undefined =>
  roots.filter((root) => isInside(folder, root)).toSorted((a, b) => a.length - b.length)[0];

async function isTop(folder: string): Promise<boolean> {
  const found = await lstat(join(folder, '.git')).catch(() => undefined);
  if (!found) return false;
  // A linked worktree or a submodule has a file there. An empty folder of that name is none to git either.
  if (!found.isDirectory()) return found.isFile() || found.isSymbolicLink();
  return (await lstat(join(folder, '.git', 'HEAD')).catch(() => undefined)) !== undefined;
}

/** Another root sees another part of the same tree, which is another content. */
export function shadowOf({ top, scope }: Pick<Shadow, 'top' | 'scope'>, shadows: string): Shadow {
  const key = JSON.stringify([top, scope]);
  const folder = join(shadows, createHash('sha256').update(key).digest('hex').slice(0, 32));
  return { folder, top, scope };
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

function configuration(): string {
  const windows = process.platform === 'win32';
  const apple = process.platform === 'darwin';
  const core = {
    repositoryFormatVersion: 0,
    bare: true,
    fileMode: !windows,
    ignoreCase: windows || apple,
    precomposeUnicode: apple,
    // Names that only another system would mistake for .git are kept.
    protectNTFS: windows,
    protectHFS: apple,
    longPaths: true,
    compression: 0,
    // A checkpoint that a power failure breaks is made anew; waiting for the disk would take most of the time there is.
    fsync: 'none',
  };
  const lines = Object.entries(core).map(([name, value]) => `\t${name} = ${String(value)}\n`);
  // All else is as git has it without a configuration. A state that is forgotten is a file that is removed.
  return `[core]\n${lines.join('')}[gc]\n\tauto = 0\n\tpackRefs = false\n[pack]\n\twindow = 0\n\tthreads = 1\n`;
}
