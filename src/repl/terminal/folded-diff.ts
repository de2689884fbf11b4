import { diffLines } from './show.ts';
import type { Look } from './show.ts';
import { cells } from './width.ts';

/** Rows that are too few to be worth a fold. */
const few = 6;

/**
 * The lines of a diff in some `room` rows, or all when that is only a few more. Lines that stay the same go first,
 * then long texts that are replaced, then the end: nobody shall see what goes without what comes.
 */
export function foldedDiff(
  lines: readonly string[],
  { paint, width, room }: Look & { readonly room: number },
): string[] {
  const coloured = diffLines(lines.join('\n'), paint);
  const rows = (line = '') => Math.max(1, Math.ceil(cells(line) / width));
  const fits = (some: readonly string[]) => some.reduce((sum, line) => sum + rows(line), 0) <= room + few;
  if (fits(lines)) return coloured;

  const hunk = lines.findIndex((line) => line.startsWith('@@'));
  const mark = (at: number) => /^[-+]/.exec(lines[at] ?? '')?.[0];
  const stays = (at: number) => hunk >= 0 && at > hunk && /^(?: |$)/.test(lines[at] ?? '');
  const most = Math.max(1, Math.floor(room / 3));
  const left = new Set<number>();
  for (let at = 0; at < lines.length; at++) {
    if (stays(at) && !mark(at - 1) && !mark(at + 1)) left.add(at);
    if (mark(at) !== '-' || mark(at - 1) === '-') continue;
    let end = at;
    while (mark(end) === '-') end++;
    if (mark(end) === '+') for (let more = at + most; more < end; more++) left.add(more);
  }
  const shown: { text: string; plain: string; at: number }[] = [];
  for (let at = 0; at < lines.length; at++) {
    const begin = at;
    while (left.has(at + 1) && left.has(at)) at++;
    const note = `… ${at - begin + 1} lines: /show`;
    shown.push(
      at > begin
        ? { text: paint.dim(note), plain: note, at: begin }
        : { text: coloured[at] ?? '', plain: lines[at] ?? '', at },
    );
  }
  if (fits(shown.map(({ plain }) => plain))) return shown.map(({ text }) => text);

  let sum = 0;
  let end = Math.max(
    1,
    shown.findIndex(({ plain }) => (sum += rows(plain)) > room),
  );
  const first = lines.findIndex((_, at) => at > hunk && mark(at));
  let group = shown[end]?.at ?? 0;
  while (mark(group) && mark(group - 1)) group--;
  // A change that is cut goes whole, unless it is the first.
  if (mark(group) === '-' && group > first) end = shown.findIndex(({ at }) => at >= group);
  return [
    ...shown.slice(0, end).map(({ text }) => text),
    paint.dim(`… ${lines.length - (shown[end]?.at ?? 0)} more lines: /show`),
  ];
}
