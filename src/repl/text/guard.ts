import { isObject } from './json.ts';

/** Whether JSON of somebody else is what it should be: one definition for the type and its check. */
export type Guard<T> = (value: unknown) => value is T;
type Fields = Readonly<Record<string, Guard<unknown>>>;
type Of<G> = G extends Guard<infer T> ? T : never;

export const text = (value: unknown): value is string => typeof value === 'string';
export const number = (value: unknown): value is number => typeof value === 'number';
export const flag = (value: unknown): value is boolean => typeof value === 'boolean';

export const oneOf =
  <const T extends string | number | null>(...values: readonly T[]): Guard<T> =>
  (value): value is T =>
    (values as readonly unknown[]).includes(value);

export const textOrNull = (value: unknown): value is string | null => value === null || text(value);

export const list =
  <T>(item: Guard<T>): Guard<readonly T[]> =>
  (value): value is readonly T[] =>
    Array.isArray(value) && value.every(item);

export const either =
  <A, B>(one: Guard<A>, other: Guard<B>): Guard<A | B> =>
  (value): value is A | B =>
    one(value) || other(value);

/** Those fields, some of which may be missing; others are left alone. */
export const object = <R extends Fields, O extends Fields = Record<never, never>>(
  required: R,
  optional?: O,
) =>
  ((value: unknown) =>
    isObject(value) &&
    Object.entries(required).every(([name, fits]) => fits(value[name])) &&
    Object.entries(optional ?? {}).every(
      ([name, fits]) => value[name] === undefined || fits(value[name]),
    )) as unknown as Guard<{ readonly [K in keyof R]: Of<R[K]> } & { readonly [K in keyof O]?: Of<O[K]> }>;

export type Guarded<G> = Of<G>;
