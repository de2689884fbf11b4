import { lstatSync, lutimesSync, readdirSync, renameSync, unlinkSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { Entry } from './change.ts';
import type { FileLocks } from './file-lock.ts';
import { createPrivate } from '../folders.ts';
import { trashFolder, type Index, type Journal } from './journal.ts';
import { contentsFolder } from './kept-contents.ts';
import { removeTree } from './remove-tree.ts';
import { allWork } from './work-log.ts';

export interface Limits {
  /** For what was deleted, and as much again for what was replaced. */
  readonly quotaBytes: number;
  readonly expiryMs: number;
  readonly mostChanges: number;
}

const hourMs = 3_600_000;
/** A record, and the blocks that every file takes. */
const recordBytes = 8 * 1024;

/** Whether nobody has tidied up for an hour. */
export function needsPruning(folder: string): boolean {
  const found = look(markerIn(folder));
  return found === undefined || Date.now() - found.mtimeMs > hourMs;
}

/**
 * Forgets what is too old, too many or too large to be kept, then what no change needs any more. One process at a time
 * does; changes go on meanwhile.
 *
 * What was deleted and what was replaced have a quota each, so that no number of edits pushes out what was deleted.
 * In both, the newest change has its place first, then each older one that still fits: what is small stays when what is
 * large has to go.
 *
 * A change first notes down which content it needs, and then looks whether it is kept. So a content that nobody needs
 * is first put out of the way, and put back when one of the notes of by now names it: a change either found it gone, and
 * keeps it itself, or its note is seen.
 */
export async function pruneJournal(journal: Journal, locks: FileLocks, limits: Limits): Promise<void> {
  const { folder } = journal;
  await locks.hold({ paths: [markerIn(folder)] }, async () => {
    touch(markerIn(folder));
    const index = journal.index();
    const { needed, forgotten } = await choose(index, limits);
    for (const id of forgotten) {
      journal.forget(id, index);
      await removeTrash(journal.trashOf(id), folder);
    }
    await dropContents(journal, needed);
    await dropOrphans(journal);
  });
}

async function choose(index: Index, { quotaBytes, expiryMs, mostChanges }: Limits) {
  const needed = new Set<string>();
  const forgotten: string[] = [];
  const oldest = Date.now() - expiryMs;
  const used = { deleted: 0, replaced: 0 };
  for (const [at, id] of index.ids.entries()) {
    // Reading a record is a few blocking system calls.
    if (at % 50 === 49) await setImmediate();
    const entry = index.entry(id);
    const quota = entry?.step === 'remove' ? 'deleted' : 'replaced';
    const bytes = used[quota] + (entry ? recordBytes + keptBytes(entry, index, needed) : 0);
    // The latest one has been found to fit before it was made.
    const fits = bytes <= quotaBytes || used[quota] === 0;
    const isKept = entry && entry.at >= oldest && at < mostChanges && fits;
    if (!isKept && at > 0) {
      forgotten.push(id);
      continue;
    }
    used[quota] = bytes;
    for (const hash of needs(entry)) needed.add(hash);
  }
  return { needed, forgotten };
}

function keptBytes(entry: Entry, { undoneBy }: Index, needed: ReadonlySet<string>): number {
  const size = entry.before?.size ?? 0;
  if (entry.step === 'remove') return undoneBy.has(entry.id) ? 0 : size;
  return needs(entry).some((hash) => !needed.has(hash)) ? size : 0;
}

const needs = (entry: Entry | undefined): string[] =>
  entry?.step === 'write' && entry.before?.hash ? [entry.before.hash] : [];

async function dropContents(journal: Journal, needed: ReadonlySet<string>): Promise<void> {
  const contents = contentsFolder(journal.folder);
  const doomed: string[] = [];
  for (const name of readdirSync(contents)) {
    const [, dot, hash = '', rest] = /^(\.?)([0-9a-f]{64})(.*)$/.exec(name) ?? [];
    if (rest !== '') {
      // A copy that is being made, or was when its process died.
      if (isOld(`${contents}/${name}`)) discard(`${contents}/${name}`);
    } else if (dot) doomed.push(hash);
    else if (!needed.has(hash)) {
      renameSync(`${contents}/${name}`, `${contents}/.${name}`);
      doomed.push(hash);
    }
  }
  const neededNow = await neededByNow(journal, needed);
  for (const hash of doomed) {
    const isMissing = !look(`${contents}/${hash}`);
    if (neededNow.has(hash) && isMissing) renameSync(`${contents}/.${hash}`, `${contents}/${hash}`);
    else discard(`${contents}/.${hash}`);
  }
}

/** With what is needed by changes that have begun since, or are going on. */
async function neededByNow(journal: Journal, needed: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const now = new Set(needed);
  // In this order: a note becomes a record, and must be met as one of them.
  for (const entry of goingOn(journal)) for (const hash of needs(entry)) now.add(hash);
  const index = journal.index();
  for (const [at, id] of index.ids.entries()) {
    if (at % 50 === 49) await setImmediate();
    for (const hash of needs(index.entry(id))) now.add(hash);
  }
  return now;
}

/** What changes left behind whose record is gone. */
async function dropOrphans(journal: Journal): Promise<void> {
  const names = readdirSync(trashFolder(journal.folder));
  const used = new Set<string>();
  for (const { id, temporary } of goingOn(journal)) used.add(id).add(temporary);
  for (const id of journal.index().ids) used.add(id);
  for (const name of names) if (!used.has(name)) await removeTrash(journal.trashOf(name), journal.folder);
}

function goingOn(journal: Journal): Entry[] {
  return allWork(journal.folder).flatMap(({ entry }) => entry ?? []);
}

/** In one step first, so that nobody brings back half of it. */
async function removeTrash(path: string, folder: string): Promise<void> {
  const gone = `${trashFolder(folder)}/.${globalThis.crypto.randomUUID()}`;
  try {
    renameSync(path, gone);
    await removeTree(gone);
  } catch {
    // It was no removal, or it was undone; what cannot be removed now is tried again next time.
  }
}

const markerIn = (folder: string): string => `${folder}/pruned`;
const look = (path: string) => lstatSync(path, { throwIfNoEntry: false });
const isOld = (path: string): boolean => Date.now() - (look(path)?.mtimeMs ?? Infinity) > hourMs;

function touch(path: string): void {
  if (look(path)) return lutimesSync(path, new Date(), new Date());
  createPrivate(path, '');
}

function discard(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Another process was faster.
  }
}
