import { oneLine } from '../text/one-line.ts';
import { wordsOf, type Entry } from './entry.ts';
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
  const current = session.path().findLast(isShown)?.id;
  /** For each shown entry, and for the beginning: the shown ones that come next, oldest first. */
  const next = new Map<string | null, Entry[]>();
  /** The nearest shown entry at or before each. */
  const shown = new Map<string | null, string | null>();
  for (const entry of session.entries()) {
    const before = shown.get(entry.parent) ?? null;
    shown.set(entry.id, isShown(entry) ? entry.id : before);
    if (isShown(entry)) next.set(before, [...(next.get(before) ?? []), entry]);
  }
  const lines: TreeLine[] = [];
  // A stack, not a recursion: a conversation may be thousands of entries deep.
  const left: TreeLine[] = [];
  const branch = (from: string | null, depth: number) => {
    const entries = next.get(from) ?? [];
    const several = entries.length > 1;
    for (const entry of entries.toReversed()) {
      const { role, text = '' } = wordsOf(entry) ?? {};
      left.push({
        id: entry.id,
        depth: several ? depth + 1 : depth,
        mark: several ? (entry === entries.at(-1) ? '└ ' : '├ ') : '',
        label: `${role}: ${oneLine(text, 200)}`,
        current: entry.id === current,
      });
    }
  };
  branch(null, 0);
  for (let one = left.pop(); one; one = left.pop()) {
    lines.push(one);
    branch(one.id, one.depth);
  }
  return lines;
}

function isShown(entry: Entry): boolean {
  const { role, text = '' } = wordsOf(entry) ?? {};
  return role !== undefined && role !== 'tool' && (role === 'you' || text.trim() !== '');
}
