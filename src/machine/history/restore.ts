import { join } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import { decode } from '../decode.ts';
import { isInside } from '../paths/inside.ts';
import { rooted } from '../paths/workspace.ts';
import {
  bringBack,
  couldBringBack,
  type Bringing,
  type BroughtBack,
  type Content,
  type TreeChange,
} from './bring-back.ts';
import { GitFailure } from './shadow.ts';
import type { Checkpoint } from './snapshot.ts';

export interface RestoreOptions {
  /** Only these, or what is below them; all when empty. */
  readonly paths: readonly string[];
  readonly dryRun: boolean;
}

export interface Restored extends BroughtBack {
  readonly top: string;
  /** The checkpoint of what was there before. */
  readonly undo: string;
  /** What was done, or would be, as a unified difference; of many files, only of the first. */
  readonly diff: string;
}

interface Restoration extends Bringing {
  readonly present: Checkpoint;
  readonly wanted: Checkpoint;
  readonly how: RestoreOptions;
}

/** Files beyond these are not shown in a difference. */
const mostCompared = 50;

/** Makes files what they were, one by one, each in one step, or tells which with `dryRun`. Throws NOT_FOUND. */
export async function restoreTree(restoration: Restoration): Promise<Restored> {
  const { shadow, ask, present, wanted, how, workspace } = restoration;
  const only = await Promise.all(how.paths.map((path) => workspace.resolve(path)));
  try {
    const all = await changesBetween(restoration);
    const isWanted = ({ name }: TreeChange) => only.some((path) => isInside(join(shadow.top, name), path));
    const gate = rooted(workspace);
    const isKept = ({ name }: TreeChange) => gate.denies(join(shadow.top, name), 'write');
    const asked = only.length === 0 ? all : all.filter(isWanted);
    const changes = asked.filter((change) => !isKept(change));
    const brought = how.dryRun
      ? await couldBringBack(changes, shadow)
      : await bringBack(changes, restoration);
    const names = brought.done.map(({ name }) => name).slice(0, mostCompared);
    // As text, since the repository's attributes keep git from looking into any file.
    const options = ['-r', '-p', '--text', '--no-renames', '--no-ext-diff', '--no-textconv', '--no-color'];
    const args = ['--literal-pathspecs', 'diff-tree', ...options, present.tree, wanted.tree, '--', ...names];
    // What was done is done, also when it cannot be shown.
    const diff = names.length === 0 ? '' : await ask(shadow, args).then(decode, () => '');
    const kept = asked.filter(isKept).map(({ name }) => ({ name, why: 'the settings keep it from you' }));
    return { top: shadow.top, undo: present.id, ...brought, left: [...brought.left, ...kept], diff };
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    throw new ToolcribError(
      'NOT_FOUND',
      `The checkpoint cannot be read any more; nothing was changed. git said: ${error.message}`,
      'list_checkpoints has others.',
    );
  }
}

async function changesBetween({ shadow, ask, present, wanted }: Restoration): Promise<TreeChange[]> {
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', present.tree, wanted.tree];
  const fields = (await ask(shadow, args)).toString().split('\0');
  const changes: TreeChange[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, oldMode = '', newMode = '', oldBlob = '', newBlob = ''] =
      /^:(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) /.exec(fields[at] ?? '') ?? [];
    const name = fields[at + 1] ?? '';
    const change = { name, from: contentOf(oldMode, oldBlob), to: contentOf(newMode, newBlob) };
    // The tree was made from names of this machine, and still: never anything in a .git.
    const isOurs = !name.split('/').some((step) => /^\.git$/i.test(step) || step === '..');
    if (isOurs && (change.from || change.to)) changes.push(change);
  }
  return changes;
}

/** Undefined for nothing, and for a repository inside another. */
function contentOf(mode: string, blob: string): Content | undefined {
  const kind = ({ '100644': 'file', '100755': 'program', '120000': 'link' } as const)[mode];
  return kind && { kind, blob };
}
