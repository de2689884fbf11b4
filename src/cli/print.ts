import { styleText } from 'node:util';
import { sanitize } from '../machine/sanitize.ts';

/** Prints to standard output. Returns the exit code 0. */
export function print(text: string): 0 {
  process.stdout.write(text);
  return 0;
}

/** Formats rows with aligned columns, the last one ragged. Terminal controls are removed. */
export function table(rows: readonly (readonly string[])[], indent = ''): string {
  const cells = rows.map((row) => row.map((cell) => sanitize(cell).replaceAll('\n', ' ')));
  const widths: number[] = [];
  for (const row of cells)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  const lines = cells.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return lines.map((line) => `${indent}${line.trimEnd()}\n`).join('');
}

/** Colours a text where standard output is a terminal that may show colours. */
export const style = (name: 'bold' | 'dim' | 'green' | 'red' | 'yellow', text: string): string =>
  process.stdout.isTTY && !process.env['NO_COLOR'] ? styleText(name, text) : text;
