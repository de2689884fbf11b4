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
  const lines: TreeLine[] = [];
  const left = branchesOf(session, null, 0);
  for (let next = left.pop(); next; next = left.pop()) {
    const { entry, ...place } = next;
    lines.push({ id: entry.id, ...place, label: labelOf(entry) ?? '', current: entry.id === current });
    left.push(...branchesOf(session, entry.id, place.depth));
  }
  return lines;
}

type Branch = Pick<TreeLine, 'depth' | 'mark'> & { readonly entry: Entry };

/** The next entries after this one that are shown, the first of them last: as a stack. */
function branchesOf(session: Session, id: string | null, depth: number): Branch[] {
  const found: Entry[] = [];
  const left = [...session.children(id)];
  for (let entry = left.pop(); entry; entry = left.pop()) {
    if (labelOf(entry) !== undefined) found.push(entry);
    else left.push(...session.children(entry.id));
  }
  return found.length > 1
    ? found.map((entry, at) => ({ entry, depth: depth + 1, mark: at === 0 ? '└ ' : '├ ' }))
    : found.map((entry) => ({ entry, depth, mark: '' }));
}

function labelOf(entry: Entry): string | undefined {
  if (entry.type === 'user') return `you: ${oneLine(entry.typed || textOf(entry.content), 200)}`;
  if (entry.type === 'compaction') return 'what came before was summarised';
  if (entry.type !== 'assistant' || entry.message.text.trim() === '') return undefined;
  return `answer: ${oneLine(entry.message.text, 200)}`;
}
