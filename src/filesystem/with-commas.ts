/**
 * A whole number as English writes it. `toLocaleString` takes fifty times as long, which counts for thousands of
 * sizes.
 */
export const withCommas = (number: number): string => String(number).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
