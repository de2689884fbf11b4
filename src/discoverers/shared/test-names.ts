/** One regular expression for tests of exactly these names, as JavaScript's test runners take it. */
export const exactly = (names: readonly string[]): string =>
  `^(?:${names.map((one) => one.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)).join('|')})$`;
