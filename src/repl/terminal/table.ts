import { inline } from './markdown-inline.ts';
import type { Paint } from './paint.ts';
import { wrapped } from './prose.ts';
import { bare, cells, padToCells, withBreaks } from './width.ts';

/** A column that is wanted wider is made no narrower than this. */
const narrowest = 6;

/** Rows with their cells under each other; what is too long is wrapped inside its column. */
export function table(rows: readonly (readonly string[])[], width: number): string[] {
  const flat = rows.map((row) => row.map((cell) => cell.replaceAll(/[\n\t]|(?<=\S)\s+/g, ' ')));
  return aligned(flat, width, '  ')?.lines.flat() ?? flat.map((row) => row.join('  '));
}

/** The lines of rows that begin with a bar: a table, where the second row makes them one and the width allows it. */
export function markdownRows(rows: readonly string[], width: number, paint: Paint): string[] {
  const [head = [], delimiter = [], ...body] = rows.map((row) =>
    row
      .trim()
      .replace(/^\||(?<!\\)\|$/g, '')
      .split(/(?<!\\)\|/)
      .map((cell) => inline(cell.trim().replaceAll('\\|', '|'), paint)),
  );
  const made =
    delimiter.length > 0 && delimiter.every((cell) => /^:?-+:?$/.test(cell))
      ? aligned([head.map(paint.strong), ...body], width, paint.dim(' │ '))
      : undefined;
  if (!made) return rows.map((row) => inline(row, paint));
  const [first = [], ...others] = made.lines;
  const rule = made.widths.map((cellWidth) => '─'.repeat(cellWidth)).join('─┼─');
  return [...first, paint.dim(rule), ...others.flat()];
}

/** The lines of each row; a cell that is wrapped loses its styling. Undefined for too many columns. */
function aligned(
  rows: readonly (readonly string[])[],
  width: number,
  separator: string,
): { widths: number[]; lines: string[][] } | undefined {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const room = width - 1 - cells(separator) * (count - 1);
  const wanted = Array.from({ length: count }, (_, column) =>
    Math.max(1, ...rows.map((row) => cells(row[column] ?? ''))),
  );
  const widths = fit(wanted, room);
  if (!widths) return undefined;
  const lines = rows.map((row) => {
    const parts = widths.map((most, column) => {
      const cell = row[column] ?? '';
      return cells(cell) <= most ? [cell] : wrapped(withBreaks(bare(cell), most), most).split('\n');
    });
    return Array.from({ length: Math.max(0, ...parts.map(({ length }) => length)) }, (_, line) =>
      widths
        .map((most, column) => padToCells(parts[column]?.[line] ?? '', most))
        .join(separator)
        .trimEnd(),
    );
  });
  return { widths, lines };
}

/** The widest columns are made narrower until all fit; undefined when even narrow ones would not. */
function fit(wanted: readonly number[], room: number): number[] | undefined {
  for (let most = Math.max(room, narrowest); most >= narrowest; most--) {
    const widths = wanted.map((width) => Math.min(width, most));
    if (widths.reduce((total, width) => total + width, 0) <= room) return widths;
  }
  return undefined;
}
