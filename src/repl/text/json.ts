/** JSON of somebody else: nothing is known of it. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Nobody who means well nests deeper; JSON.stringify overflows the stack some thousands down. */
const deepest = 200;

/** Whether JSON of somebody else is nested so deeply that it could not be written again. */
export const tooDeep = (value: unknown, left = deepest): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (left === 0 || Object.values(value).some((each) => tooDeep(each, left - 1)));

/** A copy in which every text can be encoded: one half of a surrogate pair makes providers refuse a request. */
export function wellFormed<T>(value: T): T {
  if (typeof value === 'string') return value.toWellFormed() as T;
  if (Array.isArray(value)) return value.map(wellFormed) as T;
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([key, each]) => [key.toWellFormed(), wellFormed(each)]);
  return Object.fromEntries(fields) as T;
}
