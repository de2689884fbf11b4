import { headOf } from '../../core/cut-text.ts';
import type { Facts } from '../../machine/history/entry.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { countOf, withCommas } from '../shown.ts';
import type { ChangedFile } from './change-files.ts';
import type { StepDone } from './take-steps.ts';

/** What a change came to, or would come to. */
export interface ChangeAnswer {
  readonly text: string;
  /** Lines, as `+3 -1`. */
  readonly counts?: string;
}

const mostListed = 100;
const mostDiffs = 4_000;

const countsOf = ({ added, removed }: { added: number; removed: number }): string => `+${added} -${removed}`;

const changeOf = (id: string | undefined): string => (id === undefined ? '' : ` (change ${id})`);

const isAlreadySo = (note: string): boolean => note.includes('already so');

/** Notes, each of which may or may not be a sentence. */
const bracketed = (notes: readonly string[]): string[] => notes.map((note) => `[${note.replace(/\.$/, '')}]`);

/** What was changed, or would be. */
export function changedText(done: string, steps: readonly StepDone[], isDry: boolean): ChangeAnswer {
  const [only] = steps;
  if (!only || steps.length > 1) return manyChanged({ done, steps, isDry });
  const { path, to, id, file, removed } = only;
  if (file) return oneChanged(`${done} ${shownPath(path)}`, file, only);
  const what = to === undefined ? whatWas(removed) : ` to ${shownPath(to)}`;
  return { text: `${done} ${shownPath(path)}${what}${changeOf(id)}` };
}

/** One file: a line, what there is to know, and a short diff. */
function oneChanged(done: string, file: ChangedFile, { path, id }: StepDone): ChangeAnswer {
  const { isNew, isSame, diff, places, notes } = file;
  const below = bracketed(notes);
  if (isSame) {
    const first = notes.some(isAlreadySo)
      ? `${shownPath(path)}: nothing was written`
      : `${shownPath(path)} is like that already; nothing was written.`;
    return { text: [first, ...below].join('\n') };
  }
  const where = places > 1 ? `, ${withCommas(places)} places` : '';
  const counts = countsOf(diff);
  const first = `${done}${isNew ? ', a new file' : ''}: ${counts}${where}${changeOf(id)}`;
  // Who gave a whole content, or both sides of an exact edit, knows what is in it; who is asked does not.
  const isAsSaid = id !== undefined && (places === 0 || (places === 1 && notes.length === 0));
  return { text: [first, ...below, ...(isAsSaid ? [] : [diff.text])].join('\n'), counts };
}

/** What was there, in some words. */
function whatWas(found: Facts | undefined): string {
  if (!found) return '';
  const bytes = `${withCommas(found.size)} bytes`;
  if (found.kind === 'folder') return `, a folder with ${withCommas(found.entries ?? 0)} entries, ${bytes}`;
  return found.kind === 'file' ? `, ${bytes}` : `, a ${found.kind === 'link' ? 'link' : 'special file'}`;
}

interface ManyChanged {
  /** `Edited`, `Would edit` */
  readonly done: string;
  readonly steps: readonly StepDone[];
  /** What was left as it was, and why. */
  readonly left?: readonly string[];
  readonly notes?: readonly string[];
  /** The diffs are shown as well: before anything is done, to who decides about it. */
  readonly isDry: boolean;
}

/** Several files: how many, and a line for each. */
export function manyChanged({ done, steps, left = [], notes = [], isDry }: ManyChanged): ChangeAnswer {
  const all = steps.flatMap(({ file }) => (file && !file.isSame ? [file] : []));
  const sum = (count: (file: ChangedFile) => number) => all.reduce((total, file) => total + count(file), 0);
  const counts = countsOf({ added: sum(({ diff }) => diff.added), removed: sum(({ diff }) => diff.removed) });
  const count = steps.filter(({ file }) => file?.isSame !== true).length;
  const places = sum((file) => file.places);
  const where = places > 0 ? `, ${countOf(places, 'place')}` : '';
  const id = steps.find((step) => step.id !== undefined)?.id;
  const first = `${done} ${countOf(count, 'file')}${where}: ${counts}${changeOf(id)}`;
  const lines = [...steps.map(lineOf), ...left.map((each) => `left ${each}`)];
  const more = lines.length > mostListed ? [`… and ${lines.length - mostListed} more`] : [];
  const diffs = isDry ? ['', headOf(all.map(({ diff }) => diff.text).join(''), mostDiffs)] : [];
  return {
    text: [first, ...bracketed(notes), ...lines.slice(0, mostListed), ...more, ...diffs].join('\n'),
    counts,
  };
}

function lineOf({ path, to, file }: StepDone): string {
  const name = shownPath(path);
  if (to !== undefined) return `${name} -> ${shownPath(to)}`;
  if (!file) return `${name}: removed`;
  const { isNew, isSame, diff, places, notes } = file;
  const counts = isNew ? `new, ${countsOf(diff)}` : countsOf(diff);
  // As many lines come as go where words are replaced: the number of places says all.
  const isEven = !isNew && places > 0 && diff.added === diff.removed;
  const what = isSame ? 'already so' : isEven ? withCommas(places) : counts;
  return [`${name}: ${what}`, ...bracketed(notes.filter((note) => !isSame || !isAlreadySo(note)))].join(' ');
}
