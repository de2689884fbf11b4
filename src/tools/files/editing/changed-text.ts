import { headOf } from '../../../core/cut-text.ts';
import type { Facts } from '../../../machine/history/entry.ts';
import { displayPath } from '../../../machine/paths/display-path.ts';
import { countOf, withCommas } from '../wording.ts';
import type { ChangedFile } from './change-files.ts';
import type { StepDone } from './take-steps.ts';

/** What a change came to, or would come to. */
export interface ChangeAnswer {
  readonly text: string;
  /** Lines, as `+3 -1`. */
  readonly counts?: string;
}

interface Changed {
  /** `Edited`, `Would edit` */
  readonly done: string;
  readonly steps: readonly StepDone[];
  /** What was left as it was, and why; undefined where all is done or nothing. */
  readonly left?: readonly string[];
  readonly notes?: readonly string[];
  /** The diffs are shown as well: before anything is done, to who decides about it. */
  readonly isDry: boolean;
}

const mostListed = 100;
const mostDiffs = 4_000;

/** What was changed, or would be: of one file with a short diff, of several with a line for each. */
export function changedText({ done, steps, left, notes = [], isDry }: Changed): ChangeAnswer {
  const [only] = steps;
  if (only && steps.length === 1 && !left) return oneChanged(done, only);
  const all = steps.flatMap(({ file }) => (file && !file.isSame ? [file] : []));
  const sum = (count: (file: ChangedFile) => number) => all.reduce((total, file) => total + count(file), 0);
  const counts = countsOf({ added: sum(({ diff }) => diff.added), removed: sum(({ diff }) => diff.removed) });
  const count = steps.filter(({ file }) => file?.isSame !== true).length;
  const places = sum((file) => file.places);
  const where = places > 0 ? `, ${countOf(places, 'place')}` : '';
  const id = steps.find((step) => step.id !== undefined)?.id;
  const first = `${done} ${countOf(count, 'file')}${where}: ${counts}${changeOf(id)}`;
  const lines = [...steps.map(lineOf), ...(left ?? []).map((each) => `left ${each}`)];
  const more = lines.length > mostListed ? [`… and ${lines.length - mostListed} more`] : [];
  const diffs = isDry ? ['', headOf(all.map(({ diff }) => diff.text).join(''), mostDiffs)] : [];
  const text = [first, ...bracketed(notes), ...lines.slice(0, mostListed), ...more, ...diffs].join('\n');
  return { text, counts };
}

const countsOf = ({ added, removed }: { added: number; removed: number }): string => `+${added} -${removed}`;

const changeOf = (id: string | undefined): string => (id === undefined ? '' : ` (change ${id})`);

/** Notes, each of which may or may not be a sentence. */
const bracketed = (notes: readonly string[]): string[] => notes.map((note) => `[${note.replace(/\.$/, '')}]`);

function oneChanged(done: string, { path, id, file, to, removed }: StepDone): ChangeAnswer {
  const name = displayPath(path);
  if (!file)
    return {
      text: `${done} ${name}${to === undefined ? whatWas(removed) : ` to ${displayPath(to)}`}${changeOf(id)}`,
    };
  const { isNew, isSame, diff, places, notes } = file;
  if (isSame) return { text: [`${name}: nothing was written`, ...bracketed(sameNotes(notes))].join('\n') };
  const where = places > 1 ? `, ${withCommas(places)} places` : '';
  const counts = countsOf(diff);
  const first = `${done} ${name}${isNew ? ', a new file' : ''}: ${counts}${where}${changeOf(id)}`;
  // Who gave a whole content, or both sides of an exact edit, knows what is in it; who is asked does not.
  const isAsSaid = id !== undefined && (places === 0 || (places === 1 && notes.length === 0));
  return { text: [first, ...bracketed(notes), ...(isAsSaid ? [] : [diff.text])].join('\n'), counts };
}

const sameNotes = (notes: readonly string[]): readonly string[] =>
  notes.some((note) => note.includes('already so')) ? notes : ['already so', ...notes];

/** What was there, in some words. */
function whatWas(found: Facts | undefined): string {
  if (!found) return '';
  const bytes = `${withCommas(found.size)} bytes`;
  if (found.kind === 'folder') return `, a folder with ${withCommas(found.entries ?? 0)} entries, ${bytes}`;
  return found.kind === 'file' ? `, ${bytes}` : `, a ${found.kind === 'link' ? 'link' : 'special file'}`;
}

function lineOf({ path, to, file }: StepDone): string {
  const name = displayPath(path);
  if (to !== undefined) return `${name} -> ${displayPath(to)}`;
  if (!file) return `${name}: removed`;
  const { isNew, isSame, diff, places, notes } = file;
  if (isSame) return `${name}: already so`;
  // As many lines come as go where words are replaced: the number of places says all.
  const isEven = !isNew && places > 0 && diff.added === diff.removed;
  const what = isEven ? withCommas(places) : `${isNew ? 'new, ' : ''}${countsOf(diff)}`;
  return [`${name}: ${what}`, ...bracketed(notes)].join(' ');
}
