import { inline } from './markdown-inline.ts';
import type { Paint } from './paint.ts';
import { cells, bare, padToCells, withBreaks } from './printable.ts';

/**
 * The columns of room: with so many left, a word is shown as it comes; nearer to the edge it is held until it
 * is known to fit.
 */
const roomy = 24;

/** Ends the rows of a streamed line between its words, and begins the next one below its text. */
export class Prose {
  readonly #width: () => number;
  /** The column at which the text that was given out ends. */
  #column = 0;
  /** The beginning of a further row. */
  #margin = '';
  /** Spaces that the next word brings along, or the end of the row takes away. */
  #gap = '';
  /** The word, or its beginning, that may have to begin the next row. */
  #word = '';
  /** The beginning of the current word is shown. */
  #begun = false;

  /** `width`: columns of the terminal; 0 for no end. */
  constructor(width: () => number) {
    this.#width = () => width() || Infinity;
  }

  /** Begins a line with a mark; `further`: the beginning of its further rows. */
  begin(mark: string, further: string): string {
    this.#column = cells(mark);
    this.#margin = this.#column > this.#width() / 2 ? '' : further;
    return mark;
  }

  /** Adds a text; returns what of it can be shown. */
  add(text: string): string {
    let shown = '';
    for (const [token] of text.replaceAll('\t', '    ').matchAll(/ +|[^ ]+/g)) {
      if (token.startsWith(' ')) {
        shown += this.#show();
        this.#begun = false;
        this.#gap += token;
        continue;
      }
      this.#word += token;
      const room = this.#width() - this.#column - cells(this.#gap);
      const isFirst = this.#column <= cells(this.#margin);
      if (this.#begun || isFirst || room >= Math.max(roomy, cells(this.#word))) shown += this.#show();
      else if (cells(this.#word) > room) {
        this.#column = cells(this.#margin);
        this.#gap = '';
        shown += `\n${this.#margin}${this.#show()}`;
      }
    }
    return shown;
  }

  /** The rest of the line; the next one begins. */
  end(): string {
    const shown = this.#show();
    this.#margin = '';
    this.#gap = '';
    this.#column = 0;
    this.#begun = false;
    return shown;
  }

  #show(): string {
    if (this.#word === '') return '';
    const shown = this.#gap + this.#word;
    this.#gap = '';
    this.#word = '';
    this.#begun = true;
    const end = this.#column + cells(shown);
    // The terminal breaks what is longer than a row.
    this.#column = end <= this.#width() ? end : ((end - 1) % this.#width()) + 1;
    return shown;
  }
}

/** Lines of prose in rows of at most `width` columns. */
export const wrapped = (text: string, width: number): string =>
  text
    .split('\n')
    .map((line) => {
      const prose = new Prose(() => width);
      return prose.add(line) + prose.end();
    })
    .join('\n');

/** A column that is wanted wider is made no narrower than this. */
const narrowest = 6;

/** Rows with their cells under each other; what is too long is wrapped inside its column. */
export function table(rows: readonly (readonly string[])[], width: number): string[] {
  const flat = rows.map((row) => row.map((cell) => cell.replaceAll(/[\n\t]|(?<=\S)\s+/g, ' ')));
  return aligned(flat, width, '  ')?.lines.flat() ?? flat.map((row) => row.join('  '));
}

/**
 * The lines of rows that begin with a bar: a table, where the second row makes them one and the width allows
 * it.
 */
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
