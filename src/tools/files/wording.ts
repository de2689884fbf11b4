import { relative, sep } from 'node:path';
import { isInside } from '../../machine/paths/inside.ts';

/**
 * A whole number as English writes it. `toLocaleString` takes fifty times as long, which counts for thousands
 * of sizes.
 */
export const withCommas = (number: number): string => String(number).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');

/** `1 file`, `2,000 files` */
export const countOf = (number: number, what: string): string =>
  `${withCommas(number)} ${what}${number === 1 ? '' : 's'}`;

/** What there is to say, in brackets. */
export const bracketed = (notes: readonly string[]): string[] =>
  notes.length > 0 ? [`[${notes.join('; ')}]`] : [];

export const bytesOf = (count: number): string => `${withCommas(count)} bytes`;

/**
 * An absolute path as the next call can take it: relative to the first root where it is inside, else
 * absolute.
 */
export function rootRelative(path: string, roots: readonly string[]): string {
  const [home] = roots;
  if (home === undefined || !isInside(path, home)) return path;
  return relative(home, path).replaceAll(sep, '/') || '.';
}
