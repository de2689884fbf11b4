import { aligned } from './aligned.ts';
import { inline } from './markdown-inline.ts';
import type { Paint } from './terminal.ts';
import { cells, padToCells } from './width.ts';

/** The row that makes the row before it the head of a table. */
export const isDelimiter = (row: string): boolean => split(row).every((cell) => /^:?-+:?$/.test(cell));

/** The lines of a table for `width` columns of the terminal; undefined when it has too many columns for that. */
export function renderTable(rows: readonly string[], width: number, paint: Paint): string[] | undefined {
  const [head = [], delimiter = [], ...body] = rows.map(split);
  const shown = [
    head.map((cell) => paint.strong(inline(cell, paint))),
    ...body.map((row) => row.map((cell) => inline(cell, paint))),
  ];
  const table = aligned(shown, {
    width,
    separator: paint.dim(' │ '),
    align: (text, cellWidth, column) => {
      const room = Math.max(0, cellWidth - cells(text));
      const kind = delimiter[column] ?? '';
      const left = !kind.endsWith(':') ? 0 : kind.startsWith(':') ? Math.floor(room / 2) : room;
      return padToCells(' '.repeat(left) + text, cellWidth);
    },
  });
  const [first = [], ...others] = table?.lines ?? [];
  const rule = table?.widths.map((cellWidth) => '─'.repeat(cellWidth)).join('─┼─') ?? '';
  return table && [...first, paint.dim(rule), ...others.flat()];
}

function split(row: string): string[] {
  const inside = row
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inside.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}
