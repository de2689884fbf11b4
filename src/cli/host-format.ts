/** A kind of configuration file whose settings are changed in place. */
export interface Format {
  /** What it says, as plain values. Throws Damaged. */
  readonly parse: (text: string) => unknown;
  /** The text with a value at a path, all the rest as it was. */
  readonly put: (text: string, path: readonly string[], value: unknown) => string;
  /** The text without what is at a path, nor what would be left empty around it. */
  readonly take: (text: string, path: readonly string[]) => string;
}

/** A text that cannot be understood. */
export class Damaged extends Error {
  readonly line: number | undefined;

  constructor(why: string, line?: number) {
    super(why);
    this.line = line;
  }
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Objects as ordinary ones, whatever a parser makes, so that they can be compared. */
export function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isRecord(value) || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]));
}
