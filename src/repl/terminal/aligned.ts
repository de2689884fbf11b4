import { cells, padToCells, wrapToCells } from './width.ts';

const styling = /\u001b\[[0-9;]*m/g;
/** A column that is wanted wider is made no narrower than this. */
const narrowest = 6;

export interface Layout {
  /** Columns of the terminal. */
  readonly width: number;
  readonly separator: string;
  align?(text: string, width: number, column: number): string;
}

/**
 * The lines of each row, its cells under each other; what does not fit is wrapped inside its cell, and loses its
 * styling. Undefined when there are too many columns for the width.
 */
export function aligned(
  rows: readonly (readonly string[])[],
  layout: Layout,
): { widths: number[]; lines: string[][] } | undefined {
  const { width, separator, align = padToCells } = layout;
  const count = Math.max(0, ...rows.map((row) => row.length));
  const room = width - 1 - cells(separator) * (count - 1);
  if (count > room) return undefined;
  const wanted = Array.from({ length: count }, (_, column) =>
    Math.max(1, ...rows.map((row) => cells(row[column] ?? ''))),
  );
  const widths = fit(wanted, room);
  if (!widths) return undefined;
  const lines = rows.map((row) => {
    const wrapped = widths.map((most, column) => {
      const cell = row[column] ?? '';
      return cells(cell) <= most ? [cell] : wrapToCells(cell.replace(styling, ''), most);
    });
    return Array.from({ length: Math.max(0, ...wrapped.map(({ length }) => length)) }, (_, line) =>
      wrapped
        .map((parts, column) => align(parts[line] ?? '', widths[column] ?? 0, column))
        .join(separator)
        .trimEnd(),
    );
  });
  return { widths, lines };
}

/** Takes from the widest columns until all fit; undefined when even narrow ones would not. */
function fit(wanted: readonly number[], room: number): number[] | undefined {
  const at = (most: number) => wanted.map((width) => Math.min(width, Math.max(most, narrowest)));
  const sum = (widths: readonly number[]) => widths.reduce((total, width) => total + width, 0);
  let most = Math.min(room, Math.max(...wanted));
  while (most > narrowest && sum(at(most)) > room) most--;
  return sum(at(most)) > room ? undefined : at(most);
}
