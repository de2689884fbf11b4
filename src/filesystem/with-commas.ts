/**
 * A whole number as English writes it. `toLocaleString` takes fifty times as long, which counts for thousands of
 * sizes.
 */
export const withCommas = (number: number): string => String(number).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');

/** `1 file`, `2,000 files` */
export const countOf = (number: number, what: string): string =>
  `${withCommas(number)} ${what}${number === 1 ? '' : 's'}`;
