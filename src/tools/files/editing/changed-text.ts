import { headOf } from '../../../core/cut-text.ts';
import type { Facts } from '../../../machine/history/entry.ts';
import { displayPath } from '../../../machine/paths/display-path.ts';
import { formatCount, formatNumber } from '../wording.ts';
import type { ChangedFile } from './change-files.ts';
import type { StepDone } from './take-steps.ts';

/** The answer of a tool that changes files. */
export interface ChangeAnswer {
  readonly text: string;
  /** The number of lines: `+3 -1`. */
  readonly counts?: string;
}

/** The outcome of a call that changed files, or would change them. */
interface ChangeSummary {
  /** The beginning of the answer: `Edited`, `Would edit`. */
  readonly done: string;
  readonly steps: readonly StepDone[];
  /** The files that were left as they were, with reasons; undefined for tools that do all or nothing. */
  readonly skipped?: readonly string[];
  readonly notes?: readonly string[];
  /** Nothing was changed: the diffs are shown to those who decide about the change. */
  readonly isDry: boolean;
}

const mostListed = 100;
const mostDiffs = 4_000;

/** Formats the outcome of a call: one file with a short diff, several files with a line for each. */
export function formatChanges({ done, steps, skipped, notes = [], isDry }: ChangeSummary): ChangeAnswer {
  const [only] = steps;
  if (only && steps.length === 1 && !skipped) return formatChange(done, only);
  const changed = steps.flatMap(({ file }) => (file && !file.isSame ? [file] : []));
  const sum = (count: (file: ChangedFile) => number) =>
    changed.reduce((total, file) => total + count(file), 0);
  const counts = formatCounts({
    added: sum(({ diff }) => diff.added),
    removed: sum(({ diff }) => diff.removed),
  });
  const count = steps.filter(({ file }) => file?.isSame !== true).length;
  const places = sum((file) => file.places);
  const where = places > 0 ? `, ${formatCount(places, 'place')}` : '';
  const id = steps.find((step) => step.id !== undefined)?.id;
  const first = `${done} ${formatCount(count, 'file')}${where}: ${counts}${formatChangeId(id)}`;
  const lines = [...steps.map(lineOf), ...(skipped ?? []).map((each) => `left ${each}`)];
  const more = lines.length > mostListed ? [`… and ${lines.length - mostListed} more`] : [];
  const diffs = isDry ? ['', headOf(changed.map(({ diff }) => diff.text).join(''), mostDiffs)] : [];
  const text = [first, ...eachInBrackets(notes), ...lines.slice(0, mostListed), ...more, ...diffs].join('\n');
  return { text, counts };
}

const formatCounts = ({ added, removed }: { added: number; removed: number }): string =>
  `+${added} -${removed}`;

const formatChangeId = (id: string | undefined): string => (id === undefined ? '' : ` (change ${id})`);

/** Notes, each in brackets and without the full stop that some of them have. */
const eachInBrackets = (notes: readonly string[]): string[] =>
  notes.map((note) => `[${note.replace(/\.$/, '')}]`);

function formatChange(done: string, { path, id, file, to, removed }: StepDone): ChangeAnswer {
  const name = displayPath(path);
  if (!file) {
    const rest = to === undefined ? describeRemoved(removed) : ` to ${displayPath(to)}`;
    return { text: `${done} ${name}${rest}${formatChangeId(id)}` };
  }
  const { isNew, isSame, diff, places, notes } = file;
  if (isSame)
    return { text: [`${name}: nothing was written`, ...eachInBrackets(sameNotes(notes))].join('\n') };
  const where = places > 1 ? `, ${formatNumber(places)} places` : '';
  const counts = formatCounts(diff);
  const first = `${done} ${name}${isNew ? ', a new file' : ''}: ${counts}${where}${formatChangeId(id)}`;
  // The caller of an exact edit or a whole content knows the diff; a person who is asked about a dry run does
  // not.
  const isKnown = id !== undefined && (places === 0 || (places === 1 && notes.length === 0));
  return { text: [first, ...eachInBrackets(notes), ...(isKnown ? [] : [diff.text])].join('\n'), counts };
}

const sameNotes = (notes: readonly string[]): readonly string[] =>
  notes.some((note) => note.includes('already so')) ? notes : ['already so', ...notes];

/** Describes what was removed, as the end of a line. */
function describeRemoved(removed: Facts | undefined): string {
  if (!removed) return '';
  const bytes = `${formatNumber(removed.size)} bytes`;
  if (removed.kind === 'folder')
    return `, a folder with ${formatNumber(removed.entries ?? 0)} entries, ${bytes}`;
  return removed.kind === 'file' ? `, ${bytes}` : `, a ${removed.kind === 'link' ? 'link' : 'special file'}`;
}

function lineOf({ path, to, file }: StepDone): string {
  const name = displayPath(path);
  if (to !== undefined) return `${name} -> ${displayPath(to)}`;
  if (!file) return `${name}: removed`;
  const { isNew, isSame, diff, places, notes } = file;
  if (isSame) return `${name}: already so`;
  // When words are replaced, as many lines are added as removed: the number of places says more.
  const isEven = !isNew && places > 0 && diff.added === diff.removed;
  const what = isEven ? formatNumber(places) : `${isNew ? 'new, ' : ''}${formatCounts(diff)}`;
  return [`${name}: ${what}`, ...eachInBrackets(notes)].join(' ');
}
