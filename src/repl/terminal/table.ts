import { inline } from './markdown-inline.ts';
import type { Paint } from './paint.ts';
import { wrapped } from './prose.ts';
import { bare, cells, cutToCells, padToCells, withBreaks } from './width.ts';

/** A column that is wanted wider is made no narrower than this. */
const narrowest = 6;

/** Rows with their cells under each other; what is too long is wrapped inside its column. */
export function table(rows: readonly (readonly string[])[], width: number): string[] {
  const flat = rows.map((row) => row.map((cell) => cell.replaceAll(/[\n\t]|(?<=\S)\s+/g, ' ')));
  return aligned(flat, width, '  ')?.lines.flat() ?? flat.map((row) => row.join('  '));
}

/** Rows of two cells, one line each: of the second no more is shown than there is room for. */
export function oneLineEach(rows: readonly (readonly [string, string])[], width: number): string[] {
  const first = Math.min(width >> 1, Math.max(0, ...rows.map(([cell]) => cells(cell))));
  return rows.map(([cell, rest]) => {
    const begin = padToCells(cell, first);
    return `${begin}  ${cutToCells(rest.replaceAll(/\s+/g, ' '), width - 3 - cells(begin))}`.trimEnd();
  });
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

/** Takes from the widest columns until all fit; undefined when even narrow ones would not. */
function fit(wanted: readonly number[], room: number): number[] | undefined {
  const widths = wanted.map((width) => Math.min(width, Math.max(narrowest, room)));
  while (widths.reduce((total, width) => total + width, 0) > room) {
    const widest = Math.max(...widths);
    if (widest <= narrowest) return undefined;
    widths[widths.indexOf(widest)] = widest - 1;
  }
  return widths;
}
