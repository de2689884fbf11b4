import { isUtf8 } from 'node:buffer';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ByteName } from './changed-files.ts';
import { decode } from '../decode.ts';
import { runGit, type Git } from './shadow-repository.ts';
import type { Shadow } from './shadow-store.ts';

/** What a path is in a tree. */
export interface Content {
  readonly kind: 'file' | 'program' | 'link';
  /** Its name in the repository. */
  readonly blob: string;
}

/** A path that two trees do not have alike. */
export interface TreeChange {
  readonly name: ByteName;
  readonly from: Content | undefined;
  readonly to: Content | undefined;
}

const kinds: Readonly<Record<string, Content['kind']>> = {
  '100644': 'file',
  '100755': 'program',
  '120000': 'link',
};

/** What has to be done to make the one tree the other, by name. Throws GitFailure. */
export async function changesBetween(
  shadow: Shadow,
  git: Git,
  trees: readonly [from: string, to: string],
  signal: AbortSignal,
): Promise<TreeChange[]> {
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', ...trees];
  const printed = await runGit(shadow.folder, git, { args, workTree: shadow.folder, signal });
  const fields = printed.toString('latin1').split('\0');
  const changes: TreeChange[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, oldMode = '', newMode = '', oldBlob = '', newBlob = ''] =
      /^:(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) /.exec(fields[at] ?? '') ?? [];
    const name = fields[at + 1] ?? '';
    // The tree was made from names of this machine, and still: never anything in a .git.
    if (name.split('/').some((step) => /^\.git$/i.test(step))) continue;
    changes.push({ name, from: contentOf(oldMode, oldBlob), to: contentOf(newMode, newBlob) });
  }
  // A folder that became a repository while it was read is in neither.
  return changes.filter(({ from, to }) => from || to);
}

/** Names beyond these are not shown in a difference. */
const mostCompared = 50;

/** The unified difference of two trees, as far as it concerns those changes. Throws GitFailure. */
export async function differenceIn(
  changes: readonly TreeChange[],
  { shadow, git, trees, signal }: Compared,
): Promise<string> {
  // A name that is no UTF-8 could not be said on a command line.
  const names = changes
    .map(({ name }) => Buffer.from(name, 'latin1'))
    .filter((bytes) => isUtf8(bytes))
    .slice(0, mostCompared)
    .map(String);
  if (names.length === 0) return '';
  // As text, since the repository's attributes keep git from looking into any file.
  const options = ['-r', '-p', '--text', '--no-renames', '--no-ext-diff', '--no-textconv', '--no-color'];
  const args = ['diff-tree', ...options, ...trees, '--', ...names];
  return decode(await runGit(shadow.folder, git, { args, workTree: shadow.folder, signal }));
}

interface Compared {
  readonly shadow: Shadow;
  readonly git: Git;
  readonly trees: readonly [from: string, to: string];
  readonly signal: AbortSignal;
}

/** Undefined for nothing, and for a repository inside another. */
export function contentOf(mode: string, blob: string): Content | undefined {
  const kind = kinds[mode];
  return kind && { kind, blob };
}

/** Contents as files. */
export interface Staged {
  /** The file with the content that a change leads to. A link's content is its target. */
  fileOf(change: TreeChange): string;
}

/**
 * Writes what is to come back into a folder of ours, under numbers for names: what a tree calls its files cannot lead
 * git anywhere. The caller removes what has this key (`removeStaged`), also after a failure. Throws GitFailure, and what
 * the system says.
 */
export async function stage(
  shadow: Shadow,
  git: Git,
  { changes, key, signal }: { changes: readonly TreeChange[]; key: string; signal: AbortSignal },
): Promise<Staged> {
  const folder = join(shadow.folder, `staged.${key}`);
  const index = `staged-index.${key}`;
  const numbers = new Map<TreeChange, number>();
  const lines: string[] = [];
  for (const change of changes) {
    if (!change.to) continue;
    const number = numbers.size;
    numbers.set(change, number);
    lines.push(`${change.to.kind === 'program' ? '100755' : '100644'} ${change.to.blob}\t${number}\0`);
  }
  const ask = (args: readonly string[], input?: Buffer) =>
    runGit(shadow.folder, git, { args, workTree: folder, index, signal, ...(input ? { input } : {}) });
  await mkdir(folder, { mode: 0o700 });
  if (lines.length > 0) {
    await ask(['update-index', '-z', '--index-info'], Buffer.from(lines.join('')));
    await ask(['checkout-index', '--all', '--force']);
  }
  return { fileOf: (change) => join(folder, String(numbers.get(change))) };
}
