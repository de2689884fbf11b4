import { ChatError } from '../errors.ts';
import { textOf } from '../message.ts';
import type { Entry } from './entry.ts';
import { oneLine } from '../text/one-line.ts';
import { createSession, openSession, readSession, type Session } from './session.ts';
import { noResult, unfinishedCalls } from './unfinished.ts';

type UserEntry = Extract<Entry, { type: 'user' }>;
type Folder = { readonly folder: string };

/** A new session that begins with the path to an entry, or to the leaf. Throws USAGE for an entry that is not there. */
export function forkSession(store: Folder, session: Session, atEntryId?: string): Session {
  if (atEntryId === undefined) return copyOf(store, session, session.path());
  if (!session.entry(atEntryId)) throw new ChatError('USAGE', `There is no entry ${atEntryId}: see /tree.`);
  const entries: Entry[] = [];
  for (
    let at = session.entry(atEntryId);
    at;
    at = at.parent === null ? undefined : session.entry(at.parent)
  ) {
    entries.push(at);
  }
  return copyOf(store, session, entries.toReversed());
}

/** Opens a session; a copy of it when another process has it open. Throws SESSION_UNUSABLE for what is no session. */
export function openOrFork(store: Folder, file: string): { session: Session; forked: boolean } {
  const session = openSession(file);
  if (session) return { session, forked: false };
  const { header, tree } = readSession(file);
  const copy = copyOf(store, { id: header.id, header, name: tree.name }, tree.path());
  // Its open calls are asked about, or still run, in the other window.
  for (const { call } of unfinishedCalls(copy.path()))
    copy.append({
      type: 'tool',
      callId: call.id,
      name: call.name,
      state: 'done',
      text: noResult,
      isError: true,
    });
  return { session: copy, forked: true };
}

function copyOf(
  store: Folder,
  { id, header, name }: Pick<Session, 'id' | 'header' | 'name'>,
  entries: readonly Entry[],
): Session {
  const copy = createSession(store, {
    cwd: header.cwd,
    parent: id,
    entries,
    ...(header.temporary ? { temporary: true } : {}),
  });
  // It may have been given on another branch, or later.
  if (name !== undefined && copy.name !== name) copy.append({ type: 'name', name, by: 'person' });
  return copy;
}

/** What the person said on the current branch, oldest first. */
export const userEntries = (session: Session): UserEntry[] =>
  session.path().filter((entry) => entry.type === 'user');

export interface TreeLine {
  /** Of the entry: what /branch and /fork take. */
  readonly id: string;
  /** How many times the conversation has branched on the way here. */
  readonly depth: number;
  /** What stands before the entry that begins one of several branches. */
  readonly mark: '├ ' | '└ ' | '';
  /** One line, as it was written: do not print it raw. */
  readonly label: string;
  /** Where the conversation is. */
  readonly current: boolean;
}

/**
 * The whole tree: what was said, answered and summarised. A straight run is flat; each branch of several is one
 * deeper.
 */
export function treeLines(session: Session): TreeLine[] {
  const current = session.path().findLast(isShown)?.id;
  const lines: TreeLine[] = [];
  const left = branchesOf(session, null, 0);
  for (let next = left.pop(); next; next = left.pop()) {
    const { entry, depth, mark } = next;
    lines.push({ id: entry.id, depth, mark, label: labelOf(entry), current: entry.id === current });
    left.push(...branchesOf(session, entry.id, depth));
  }
  return lines;
}

interface Branch {
  readonly entry: Entry;
  readonly depth: number;
  readonly mark: TreeLine['mark'];
}

/** The next entries after this one that are shown, the first of them last: as a stack. */
function branchesOf(session: Session, id: string | null, depth: number): Branch[] {
  const found: Entry[] = [];
  const left = [...session.children(id)];
  for (let entry = left.pop(); entry; entry = left.pop()) {
    if (isShown(entry)) found.push(entry);
    else left.push(...session.children(entry.id));
  }
  return found.length > 1
    ? found.map((entry, at) => ({ entry, depth: depth + 1, mark: at === 0 ? '└ ' : '├ ' }))
    : found.map((entry) => ({ entry, depth, mark: '' }));
}

const isShown = (entry: Entry): boolean =>
  entry.type === 'user' ||
  entry.type === 'compaction' ||
  (entry.type === 'assistant' && entry.message.text.trim() !== '');

function labelOf(entry: Entry): string {
  switch (entry.type) {
    case 'user':
      return `you: ${oneLine(entry.typed || textOf(entry.content), 200)}`;
    case 'assistant':
      return `answer: ${oneLine(entry.message.text, 200)}`;
    default:
      return 'what came before was summarised';
  }
}
