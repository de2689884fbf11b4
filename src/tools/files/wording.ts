import { relative, sep } from 'node:path';
import { isInside } from '../../machine/paths/inside.ts';

/**
 * A whole number with commas, as in English. `toLocaleString` takes fifty times as long, which is noticed
 * with thousands of sizes.
 */
export const formatNumber = (number: number): string => String(number).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');

/** A number with its noun: `1 file`, `2,000 files`. */
export const formatCount = (number: number, what: string): string =>
  `${formatNumber(number)} ${what}${number === 1 ? '' : 's'}`;

/** Notes as one line in brackets; no line without notes. */
export const inBrackets = (notes: readonly string[]): string[] =>
  notes.length > 0 ? [`[${notes.join('; ')}]`] : [];

export const formatBytes = (count: number): string => `${formatNumber(count)} bytes`;

/** An absolute path as callers write it: relative to the first root when it is inside, else absolute. */
export function rootRelative(path: string, roots: readonly string[]): string {
  const [home] = roots;
  if (home === undefined || !isInside(path, home)) return path;
  return relative(home, path).replaceAll(sep, '/') || '.';
}
