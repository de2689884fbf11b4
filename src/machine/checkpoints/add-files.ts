import type { ByteName, ChangedFiles } from './changed-files.ts';
import type { OpenScopes } from './open-scopes.ts';
import { readAgain, withOpenFiles } from './read-again.ts';
import { contentOf, type Content } from './tree-changes.ts';

export interface Adding {
  /** Runs git with the index that files are added to. */
  ask(args: readonly string[], input?: Buffer): Promise<Buffer>;
  readonly scopes: OpenScopes;
  readonly signal: AbortSignal;
}

/** What git is given at a time, so that something is done when the time is up. */
const portion = { files: 2000, bytes: 24 * 1024 * 1024 };
/** Names that are given as arguments rather than asking for all. */
const fewNames = 50;
/** Files held open at once. */
const heldOpen = 100;

/** Brings an index up to date with its work tree, in portions. After each, when all that is in it has been checked, calls `done`. */
export async function addFiles(
  { add, remove }: ChangedFiles,
  adding: Adding,
  done: (portion: { files: number; isLast: boolean }) => Promise<void>,
): Promise<void> {
  await removeNames(remove, adding);
  const command = [...(await addCommand(add.length, adding)), '--stdin'];
  const all = [...portions(add)];
  for (const [index, names] of all.entries()) {
    await adding.ask(command, asInput(names));
    await checkAdded(names, adding);
    await done({ files: names.length, isLast: index === all.length - 1 });
  }
}

/**
 * As a stream, content goes into one pack instead of a file for each, which takes half the time. Before 2.38 (2.37, to
 * be sure) update-index made a pack for each file, so there only large ones are streamed.
 */
async function addCommand(files: number, { ask }: Adding): Promise<string[]> {
  const command = ['update-index', '-z', '--add', '--replace', '--remove'];
  // For a few files there is nothing to gain.
  if (files < 100) return command;
  const said = (await ask(['version'])).toString();
  const [, major = 0, minor = 0] = /(\d+)\.(\d+)/.exec(said)?.map(Number) ?? [];
  return major > 2 || (major === 2 && minor >= 38) ? ['-c', 'core.bigFileThreshold=1', ...command] : command;
}

function* portions(files: ChangedFiles['add']): Generator<ByteName[]> {
  let names: ByteName[] = [];
  let bytes = 0;
  for (const { name, size } of files) {
    if (names.length >= portion.files || (bytes + size > portion.bytes && names.length > 0)) {
      yield names;
      names = [];
      bytes = 0;
    }
    names.push(name);
    bytes += size;
  }
  if (names.length > 0) yield names;
}

/** Makes sure that what was stored is what lies in the tree; what is not, is stored once more from the open file. */
async function checkAdded(names: readonly ByteName[], adding: Adding): Promise<void> {
  const { different, gone } = await readAgain(await storedAs(names, adding), adding.scopes, adding.signal);
  await removeNames(gone, adding);
  // Elsewhere there is no path that leads to an open file; what is being written just now is left out.
  if (process.platform !== 'linux') return removeNames(different, adding);
  for (let at = 0; at < different.length; at += heldOpen) {
    const some = different.slice(at, at + heldOpen);
    await removeNames(some, adding);
    await withOpenFiles(some, adding.scopes, async (open) => {
      const paths = Buffer.from(open.map(({ path }) => `${path}\n`).join(''));
      const blobs = (await adding.ask(['hash-object', '-w', '--no-filters', '--stdin-paths'], paths))
        .toString()
        .split('\n');
      const lines = open.map(
        ({ name, canRun }, index) => `${canRun ? '100755' : '100644'} ${blobs[index]}\t${name}\0`,
      );
      await adding.ask(['update-index', '-z', '--index-info'], Buffer.from(lines.join(''), 'latin1'));
    });
  }
}

async function storedAs(names: readonly ByteName[], { ask }: Adding): Promise<Map<ByteName, Content>> {
  const wanted = new Set(names);
  // Arguments are text.
  const few = names.length <= fewNames && names.every((name) => /^[\u0001-\u007f]+$/.test(name));
  const listed = await ask(['ls-files', '-z', '--stage', ...(few ? ['--', ...names] : [])]);
  const stored = new Map<ByteName, Content>();
  for (const line of listed.toString('latin1').split('\0')) {
    const name = line.slice(line.indexOf('\t') + 1);
    const [mode = '', blob = ''] = line.split(' ', 2);
    const content = wanted.has(name) ? contentOf(mode, blob) : undefined;
    if (content) stored.set(name, content);
  }
  return stored;
}

async function removeNames(names: readonly ByteName[], { ask }: Adding): Promise<void> {
  if (names.length > 0) await ask(['update-index', '-z', '--force-remove', '--stdin'], asInput(names));
}

const asInput = (names: readonly ByteName[]): Buffer => Buffer.from(`${names.join('\0')}\0`, 'latin1');
