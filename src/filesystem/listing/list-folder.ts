import type { Dirent } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import { ownFoldersBelow } from '../../machine/paths/own-folders.ts';
import { codeOf } from '../../machine/paths/real-path.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { firstItems } from './first-items.ts';
import { isLarge, openBelow, partsOf, type Entries, type HeldFolder } from './held-folder.ts';
import { ruleNamesAmong, ruleNamesIn, scopeIn, type IgnoreScope } from './ignore-scope.ts';
import { lineOf, type ListPage } from './list-page.ts';
import type { Pace } from './pace.ts';

/** One answer in the making. */
export interface Listing {
  readonly depth: number;
  readonly hidden: boolean;
  readonly sizes: boolean;
  readonly page: ListPage;
  readonly pace: Pace;
  /** The listed folder, as the next call can take it. */
  readonly start: string;
  /** Of the listed folder: its entries, and those on the pages before. Of all folders: what was left out, and why. */
  readonly seen: { total: number; before: number; hidden: number; readonly notes: Set<string> };
}

export interface ListedFolder {
  readonly held: HeldFolder;
  /** From the listed folder on. */
  readonly names: readonly string[];
  /** The rules in the folder above it; undefined when none are to be applied. */
  readonly rules: IgnoreScope | undefined;
  /** What toolcrib itself keeps below the listed folder, which is not gone into; when that is known already. */
  readonly own?: ReadonlySet<string>;
}

/** What there is to show of a folder. */
interface Contents {
  /** In order, at most as many as there is room for and one more. */
  readonly shown: readonly Dirent[];
  /** The names of those that are gone into, in order. */
  readonly folders: readonly string[];
  /** Of names that are no UTF-8. */
  readonly bytes: ReadonlyMap<string, Buffer>;
  readonly rules: IgnoreScope | undefined;
  readonly own: ReadonlySet<string>;
}

/** Folders of one folder that are gone into: their names have to be kept meanwhile. */
const mostFolders = 100_000;
const mostNotes = 3;
/** A name costs a microsecond, asking for a size or a target several. */
const askingUnits = 5;

/**
 * Puts the entries of a folder on the page, then its folders one after the other. `after` leads to the last entry of the
 * page before: what came up to there is left out. Throws the system's error, and CANCELLED.
 */
export async function listFolder(
  folder: ListedFolder,
  after: readonly string[] | undefined,
  task: Listing,
): Promise<void> {
  const { page, pace, depth, sizes } = task;
  const { shown, folders, bytes, rules, own } = await contentsOf(folder, after, task);
  const block = { path: join(task.start, ...folder.names), names: folder.names };
  const here = pathOf(folder);
  const goesOn = folder.names.length + 1 < depth;
  const view = { folder: folder.held, bytes, sizes };
  for (const entry of shown) {
    const tag = goesOn && entry.isDirectory() ? tagOf(entry.name, here, { rules, own }) : '';
    if (!page.add(lineOf(entry, view, tag), entry.name, block)) return;
    if (pace.spend(sizes || entry.isSymbolicLink() ? askingUnits : 1)) await pace.rest();
  }
  for (const name of folders) {
    if (page.full || pace.over) return;
    const further = after && after.length > 1 && name === after[0] ? after.slice(1) : undefined;
    await listBelow({ ...folder, rules, own }, { name, bytes: bytes.get(name) }, further, task);
  }
}

async function listBelow(
  above: ListedFolder,
  { name, bytes }: { name: string; bytes: Buffer | undefined },
  after: readonly string[] | undefined,
  task: Listing,
): Promise<void> {
  const names = [...above.names, name];
  let held: HeldFolder | undefined;
  try {
    held = await openBelow(above.held, name, bytes);
    await listFolder({ ...above, held, names }, after, task);
  } catch (error) {
    if (error instanceof ToolcribError && error.code !== 'PATH_PROTECTED') throw error;
    const why = error instanceof ToolcribError ? 'not entered' : codeOf(error);
    // It vanished, or was replaced, after it was listed; or the page before has said so.
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(why) || after) return;
    const block = { path: join(task.start, ...names), names };
    task.page.add(`[${why === 'EACCES' ? 'may not be read' : why}]`, '', block);
  } finally {
    held?.release();
  }
}

async function contentsOf(
  folder: ListedFolder,
  after: readonly string[] | undefined,
  task: Listing,
): Promise<Contents> {
  const { page, pace, seen } = task;
  const isTop = folder.names.length === 0;
  const goesOn = folder.names.length + 1 < task.depth;
  // On a page that goes on further below, all entries of this folder were on pages before.
  const isShown = after === undefined || after.length === 1;
  const first = firstItems<Dirent>(page.room + 1, byName);
  const folders: string[] = [];
  const bytes = new Map<string, Buffer>();
  let rules: IgnoreScope | undefined;
  let begun = false;
  const here = pathOf(folder);
  const own = folder.own ?? (goesOn ? ownFoldersBelow(await realpath(folder.held.at)) : noFolders);
  for (const next of partsOf(folder.held)) {
    const part = await next;
    if (!begun && goesOn) rules = await rulesIn(folder, part, task);
    begun = true;
    for (const [name, raw] of part.bytes) bytes.set(name, raw);
    for (const entry of part.found) {
      if (pace.spend(1)) await pace.rest();
      if (pace.over) break;
      const { name } = entry;
      if (!task.hidden && name.startsWith('.')) {
        seen.hidden++;
        continue;
      }
      const passed = !isShown || (after !== undefined && name <= (after[0] ?? ''));
      if (isTop) seen.total++;
      if (isTop && passed) seen.before++;
      if (!passed) first.add(entry);
      if (!goesOn || !entry.isDirectory() || tagOf(name, here, { rules, own }) !== '') continue;
      if (!isShown && name < (after[0] ?? '')) continue;
      if (folders.length < mostFolders) folders.push(name);
      else seen.notes.add(`no more than ${mostFolders} folders of one are entered`);
    }
  }
  return { shown: first.items(), folders: folders.sort(), bytes, rules, own };
}

const noFolders: ReadonlySet<string> = new Set();

/** Why a folder is not gone into; '' when it is. The folder of git's own files can be listed by itself. */
function tagOf(name: string, path: string, { rules, own }: Pick<Contents, 'rules' | 'own'>): string {
  if (name === '.git' || own.has(path + name)) return 'not entered';
  return rules?.leavesOut(path, name, true) ? 'ignored' : '';
}

/** As ignore rules need it. */
const pathOf = ({ names }: Pick<ListedFolder, 'names'>): string => names.map((name) => `${name}/`).join('');

async function rulesIn({ held, names, rules }: ListedFolder, part: Entries, task: Listing) {
  if (!rules) return undefined;
  // What a large folder has may come in a later part.
  const has = isLarge(held) ? await ruleNamesIn(held.at) : ruleNamesAmong(part.found);
  const place = { below: pathOf({ names }).length };
  const reading = { pace: task.pace, complain: (where: string, why: string) => noteOn(task, where, why) };
  return scopeIn(rules, { place, at: held.at, path: join(task.start, ...names), has }, reading);
}

/** Says at the end what could not be read or applied. */
export function noteOn({ seen: { notes } }: Pick<Listing, 'seen'>, where: string, why: string): void {
  if (notes.size < mostNotes) notes.add(`${shownPath(where)}: ${why}`);
}

const byName = (a: Dirent, b: Dirent): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
