/** JSON of somebody else: nothing is known of it. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/**
 * The depth of JSON that is taken: nobody who means well nests deeper; JSON.stringify overflows the stack
 * some thousands down.
 */
const deepest = 200;

/** Tells whether JSON of somebody else is nested so deeply that it could not be written again. */
export const tooDeep = (value: unknown, left = deepest): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (left === 0 || Object.values(value).some((each) => tooDeep(each, left - 1)));

/** Reads a text as JSON; undefined for what is none, or nested without end. */
export function jsonIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return tooDeep(value) ? undefined : value;
  } catch {
    return undefined;
  }
}

/**
 * A copy in which every text can be encoded: one half of a surrogate pair makes providers refuse a request.
 */
export function wellFormed<T>(value: T): T {
  if (typeof value === 'string') return value.toWellFormed() as T;
  if (Array.isArray(value)) return value.map(wellFormed) as T;
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([key, each]) => [key.toWellFormed(), wellFormed(each)]);
  return Object.fromEntries(fields) as T;
}

/** Checks that JSON of somebody else is what it should be: one definition for the type and its check. */
export type TypeGuard<T> = (value: unknown) => value is T;
type GuardedFields = Readonly<Record<string, TypeGuard<unknown>>>;
/** The type that a guard checks for. */
export type Guarded<G> = G extends TypeGuard<infer T> ? T : never;

export const text = (value: unknown): value is string => typeof value === 'string';
export const number = (value: unknown): value is number => typeof value === 'number';
export const flag = (value: unknown): value is boolean => typeof value === 'boolean';

export const oneOf =
  <const T extends string | number | null>(...values: readonly T[]): TypeGuard<T> =>
  (value): value is T =>
    (values as readonly unknown[]).includes(value);

export const textOrNull = (value: unknown): value is string | null => value === null || text(value);

export const list =
  <T>(item: TypeGuard<T>): TypeGuard<readonly T[]> =>
  (value): value is readonly T[] =>
    Array.isArray(value) && value.every(item);

export const either =
  <A, B>(one: TypeGuard<A>, other: TypeGuard<B>): TypeGuard<A | B> =>
  (value): value is A | B =>
    one(value) || other(value);

/** Checks an object for fields, some of which may be missing; others are left alone. */
export const object = <R extends GuardedFields, O extends GuardedFields = Record<never, never>>(
  required: R,
  optional?: O,
) =>
  ((value: unknown) =>
    isObject(value) &&
    Object.entries(required).every(([name, fits]) => fits(value[name])) &&
    Object.entries(optional ?? {}).every(
      ([name, fits]) => value[name] === undefined || fits(value[name]),
    )) as unknown as TypeGuard<
    { readonly [K in keyof R]: Guarded<R[K]> } & { readonly [K in keyof O]?: Guarded<O[K]> }
  >;
