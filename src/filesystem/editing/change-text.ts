import { headOf } from '../../core/cut-text.ts';
import type { ToolResult } from '../../core/tool.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import type { DryRun } from '../plan-change.ts';
import { withCommas } from '../with-commas.ts';
import type { ChangedFile } from './change-files.ts';
import type { StepDone } from './change-together.ts';

/** Of a longer diff the counts say enough: who made the edit knows what is in it. */
export const mostDiff = 1_500;
const mostListed = 100;
const mostDiffs = 8_000;

const said = (text: string): ToolResult => ({ content: [{ type: 'text', text }] });

export const countsOf = ({ added, removed }: { added: number; removed: number }): string =>
  `+${added} -${removed}`;

const changeOf = (id: string | undefined): string => (id === undefined ? '' : ` (change ${id})`);

/** One file that was changed, or would be: a line, what there is to know, and a short diff. */
export function oneChanged(done: string, changed: ChangedFile, { hasDiff = true } = {}): DryRun {
  const { path, isNew, isSame, diff, places, notes, id } = changed;
  if (isSame) {
    const isSaid = notes.some((note) => note.includes('already so'));
    const first = isSaid ? `${shownPath(path)}: nothing was written` : alreadySo(path);
    return { result: said(`${first}${noteLines(notes)}`) };
  }
  const where = places > 1 ? `, ${withCommas(places)} places` : '';
  const first = `${done} ${shownPath(path)}${isNew ? ', a new file' : ''}: ${countsOf(diff)}${where}`;
  // Who has just written a new file knows what is in it; who is asked about one does not.
  // What was found exactly needs no diff: the caller has written both sides of it.
  const isAsSaid = id !== undefined && (isNew || (places === 1 && notes.length === 0));
  const body = hasDiff && !isAsSaid ? `\n${diff.text}` : '';
  return { result: said(`${first}${changeOf(id)}${noteLines(notes)}${body}`), counts: countsOf(diff) };
}

const alreadySo = (path: string): string => `${shownPath(path)} is like that already; nothing was written.`;

/** Notes, each of which may or may not be a sentence, below the first line. */
export const noteLines = (notes: readonly string[]): string =>
  notes.map((note) => `\n[${note.replace(/\.$/, '')}]`).join('');

interface ManyChanged {
  /** `Edited`, `Would edit` */
  readonly done: string;
  readonly steps: readonly StepDone[];
  /** What was left as it was, and why. */
  readonly left?: readonly string[];
  readonly notes?: readonly string[];
  /** Whether the diffs are shown as well: before anything is done, to who decides about it. */
  readonly hasDiffs?: boolean;
}

/** Several files: how many, and a line for each. */
export function manyChanged({ done, steps, left = [], notes = [], hasDiffs = false }: ManyChanged): DryRun {
  const all = steps.flatMap(({ changed }) => (changed && !changed.isSame ? [changed] : []));
  const total = {
    added: all.reduce((sum, { diff }) => sum + diff.added, 0),
    removed: all.reduce((sum, { diff }) => sum + diff.removed, 0),
  };
  const count = steps.filter(({ changed }) => changed?.isSame !== true).length;
  const places = all.reduce((sum, each) => sum + each.places, 0);
  const id = steps.find((step) => step.id !== undefined)?.id;
  const where = places > 0 ? `, ${withCommas(places)} place${places === 1 ? '' : 's'}` : '';
  const first = `${done} ${withCommas(count)} file${count === 1 ? '' : 's'}${where}: ${countsOf(total)}${changeOf(id)}`;
  const lines = [...steps.map(lineOf), ...left.map((each) => `left ${each}`)];
  const more = lines.length > mostListed ? [`… and ${lines.length - mostListed} more`] : [];
  const diffs = hasDiffs ? ['', headOf(all.map(({ diff }) => diff.text).join(''), mostDiffs)] : [];
  const text = [first + noteLines(notes), ...lines.slice(0, mostListed), ...more, ...diffs].join('\n');
  return { result: said(text), counts: countsOf(total) };
}

function lineOf({ did, path, to, changed }: StepDone): string {
  const name = shownPath(path);
  if (did === 'moved') return `${name} -> ${shownPath(to ?? '')}`;
  if (!changed) return `${name}: removed`;
  const { isNew, isSame, diff, places, notes } = changed;
  const what = isSame
    ? 'already so'
    : `${isNew ? 'new, ' : places > 0 ? `${withCommas(places)}, ` : ''}${countsOf(diff)}`;
  const told = notes.filter((note) => !(isSame && note.includes('already so')));
  return `${name}: ${what}${told.map((note) => ` [${note.replace(/\.$/, '')}]`).join('')}`;
}
