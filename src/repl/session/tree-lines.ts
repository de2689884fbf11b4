import { textOf } from '../message.ts';
import { oneLine } from '../text/one-line.ts';
import type { Entry } from './entry.ts';
import type { Session } from './session.ts';

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

/** The whole tree: what was said, answered and summarised. A straight run is flat; each branch of several is deeper. */
export function treeLines(session: Session): TreeLine[] {
  const current = session.path().findLast((entry) => labelOf(entry) !== undefined)?.id;
  const next = nextShown(session);
  const lines: TreeLine[] = [];
  // A stack, not a recursion: a conversation may be thousands of entries deep.
  const left = branches(next.get(null), 0);
  for (let one = left.pop(); one; one = left.pop()) {
    const { id } = one;
    lines.push({ ...one, label: labelOf(one.entry) ?? '', current: id === current });
    left.push(...branches(next.get(id), one.depth));
  }
  return lines;
}

/** For each entry that is shown, and for the beginning: the shown ones that come next, oldest first. */
function nextShown(session: Session): Map<string | null, Entry[]> {
  const next = new Map<string | null, Entry[]>();
  /** The nearest shown entry at or before each. */
  const shown = new Map<string | null, string | null>([[null, null]]);
  for (const entry of session.entries()) {
    const before = shown.get(entry.parent) ?? null;
    const isShown = labelOf(entry) !== undefined;
    shown.set(entry.id, isShown ? entry.id : before);
    if (isShown) next.set(before, [...(next.get(before) ?? []), entry]);
  }
  return next;
}

/** The last one first: as a stack. */
function branches(entries: readonly Entry[] = [], depth: number) {
  const several = entries.length > 1;
  return entries.toReversed().map((entry, at) => ({
    entry,
    id: entry.id,
    depth: several ? depth + 1 : depth,
    mark: several ? (at === 0 ? ('└ ' as const) : ('├ ' as const)) : ('' as const),
  }));
}

function labelOf(entry: Entry): string | undefined {
  if (entry.type === 'user') return `you: ${oneLine(entry.typed || textOf(entry.content), 200)}`;
  if (entry.type === 'compaction') return 'what came before was summarised';
  if (entry.type !== 'assistant' || entry.message.text.trim() === '') return undefined;
  return `answer: ${oneLine(entry.message.text, 200)}`;
}
