import { styleText } from 'node:util';
import { presentable } from '../machine/presentable.ts';

/** Lines with their columns aligned, the last one ragged. What is printed cannot command the terminal. */
export function table(rows: readonly (readonly string[])[], indent = ''): string {
  const cells = rows.map((row) => row.map((cell) => presentable(cell).replaceAll('\n', ' ')));
  const widths: number[] = [];
  for (const row of cells)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  const lines = cells.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return lines.map((line) => `${indent}${line.trimEnd()}\n`).join('');
}

export type Style = (style: 'bold' | 'dim' | 'green' | 'red' | 'yellow', text: string) => string;

/** Colours text, or leaves it as it is. */
export const styler = (colour: boolean): Style =>
  colour ? (style, text) => styleText(style, text) : (_, text) => text;
