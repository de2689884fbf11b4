import { inline } from './markdown-inline.ts';
import type { Paint } from './paint.ts';
import { cells, cutToCells, padToCells, wrapToCells } from './width.ts';

const styling = /\u001b\[[0-9;]*m/g;
/** A column that is wanted wider is made no narrower than this. */
const narrowest = 6;

interface Layout {
  /** Columns of the terminal. */
  readonly width: number;
  readonly separator: string;
  align?(text: string, width: number, column: number): string;
}

/** Rows with their cells under each other; what is too long is wrapped inside its column. */
export function table(rows: readonly (readonly string[])[], width: number): string[] {
  const flat = rows.map((row) => row.map((cell) => cell.replaceAll(/[\n\t]|(?<=\S)\s+/g, ' ')));
  return aligned(flat, { width, separator: '  ' })?.lines.flat() ?? flat.map((row) => row.join('  '));
}

/** Rows of two cells, one line each: of the second no more is shown than there is room for. */
export function oneLineEach(rows: readonly (readonly [string, string])[], width: number): string[] {
  const first = Math.min(width >> 1, Math.max(0, ...rows.map(([cell]) => cells(cell))));
  return rows.map(([cell, rest]) => {
    const begin = padToCells(cell, first);
    return `${begin}  ${cutToCells(rest.replaceAll(/\s+/g, ' '), width - 3 - cells(begin))}`.trimEnd();
  });
}

/** The row that makes the row before it the head of a table. */
export const isDelimiter = (row: string): boolean => cellsOf(row).every((cell) => /^:?-+:?$/.test(cell));

/** The lines of a table for `width` columns of the terminal; undefined when it has too many columns for that. */
export function markdownTable(rows: readonly string[], width: number, paint: Paint): string[] | undefined {
  const [head = [], delimiter = [], ...body] = rows.map(cellsOf);
  const shown = [
    head.map((cell) => paint.strong(inline(cell, paint))),
    ...body.map((row) => row.map((cell) => inline(cell, paint))),
  ];
  const made = aligned(shown, {
    width,
    separator: paint.dim(' │ '),
    align: (text, cellWidth, column) => {
      const room = Math.max(0, cellWidth - cells(text));
      const kind = delimiter[column] ?? '';
      const left = !kind.endsWith(':') ? 0 : kind.startsWith(':') ? Math.floor(room / 2) : room;
      return padToCells(' '.repeat(left) + text, cellWidth);
    },
  });
  const [first = [], ...others] = made?.lines ?? [];
  const rule = made?.widths.map((cellWidth) => '─'.repeat(cellWidth)).join('─┼─') ?? '';
  return made && [...first, paint.dim(rule), ...others.flat()];
}

function cellsOf(row: string): string[] {
  const inside = row
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inside.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

/**
 * The lines of each row, its cells under each other; what does not fit is wrapped inside its cell, and loses its
 * styling. Undefined when there are too many columns for the width.
 */
function aligned(
  rows: readonly (readonly string[])[],
  { width, separator, align = padToCells }: Layout,
): { widths: number[]; lines: string[][] } | undefined {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const room = width - 1 - cells(separator) * (count - 1);
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
  for (let most = Math.max(narrowest, Math.min(room, Math.max(...wanted))); most >= narrowest; most--) {
    const widths = wanted.map((width) => Math.min(width, most));
    if (widths.reduce((total, width) => total + width, 0) <= room) return widths;
  }
  return undefined;
}
