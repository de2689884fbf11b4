/** A format of configuration files in which settings are changed in place. */
export interface Format {
  /** Parses a text to plain values. Throws Damaged. */
  readonly parse: (text: string) => unknown;
  /** Puts a value at a path of the text, and leaves the rest as it was. */
  readonly put: (text: string, path: readonly string[], value: unknown) => string;
  /** Removes from the text what is at a path, and what would be left empty around it. */
  readonly take: (text: string, path: readonly string[]) => string;
}

/** The error for a text that cannot be parsed, or not be changed in place. */
export class Damaged extends Error {
  readonly line: number | undefined;

  constructor(why: string, line?: number) {
    super(why);
    this.line = line;
  }
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Converts the objects that a parser makes to plain ones, so that they can be compared. */
export function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isRecord(value) || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}
