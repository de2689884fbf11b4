import { nearest } from '../../core/nearest.ts';
import { isObject, type JsonObject } from '../text/json.ts';

/** What is wrong with a value, and where it stands: keys and indexes from the root. */
export class Misfit extends Error {
  readonly path: readonly (string | number)[];

  constructor(path: readonly (string | number)[], message: string) {
    super(message);
    this.name = 'Misfit';
    this.path = path;
  }
}

type Path = readonly (string | number)[];

/** Gives the value back when it is what it should be. Throws Misfit. */
export type Check<T> = (value: unknown, path: Path) => T;

export type Checked<C> = C extends Check<infer T> ? T : never;

const simple =
  <T>(what: string, fits: (value: unknown) => value is T): Check<T> =>
  (value, path) => {
    if (fits(value)) return value;
    throw new Misfit(path, `should be ${what}.`);
  };

export const anyText = simple('text', (value): value is string => typeof value === 'string');
export const text = simple('text', (value): value is string => typeof value === 'string' && value !== '');
export const flag = simple('true or false', (value): value is boolean => typeof value === 'boolean');
export const amount = simple(
  'a number that is not negative',
  (value): value is number => typeof value === 'number' && value >= 0 && Number.isFinite(value),
);
export const count = simple(
  'a whole number above 0',
  (value): value is number => Number.isSafeInteger(value) && (value as number) > 0,
);

export const oneOf = <const T extends string>(...names: readonly T[]): Check<T> =>
  simple(`one of ${names.join(', ')}`, (value): value is T => (names as readonly unknown[]).includes(value));

export const list =
  <T>(check: Check<T>, least = 0): Check<readonly T[]> =>
  (value, path) => {
    if (!Array.isArray(value)) throw new Misfit(path, 'should be a list.');
    if (value.length < least) throw new Misfit(path, 'should not be empty.');
    return value.map((each, index) => check(each, [...path, index]));
  };

/** Any keys that fit the pattern, all with values of one kind. */
export const record =
  <T>(check: Check<T>, key = /^[\w.:/-]+$/): Check<Readonly<Record<string, T>>> =>
  (value, path) => {
    const entries = Object.entries(asObject(value, path)).map(([name, each]) => {
      if (!key.test(name) || name === '__proto__')
        throw new Misfit([...path, name], `"${name}" is no name here.`);
      return [name, check(each, [...path, name])] as const;
    });
    return Object.fromEntries(entries);
  };

type Shape = Readonly<Record<string, Check<unknown>>>;
type Fields<S extends Shape> = { readonly [K in keyof S]?: Checked<S[K]> };

/** These keys and no others; a key may be left out, or left empty. */
export const fields =
  <S extends Shape>(shape: S): Check<Fields<S>> =>
  (value, path) => {
    const found: Record<string, unknown> = {};
    for (const [name, each] of Object.entries(asObject(value, path))) {
      const check = Object.hasOwn(shape, name) ? shape[name] : undefined;
      if (!check) {
        const known = Object.keys(shape);
        const meant = hint(name, known) || ` Known are: ${known.join(', ')}.`;
        throw new Misfit([...path, name], `is no known key.${meant}`);
      }
      if (each !== null && each !== undefined) found[name] = check(each, [...path, name]);
    }
    return found as Fields<S>;
  };

/** The same, with none of `keys` left out. */
export const needing =
  <S extends Shape, K extends keyof S>(
    shape: S,
    keys: readonly K[],
    why: string,
  ): Check<Fields<S> & { readonly [P in K]: Checked<S[P]> }> =>
  (value, path) => {
    const found = fields(shape)(value, path);
    if (keys.some((key) => found[key] === undefined)) throw new Misfit(path, why);
    return found as Fields<S> & { readonly [P in K]: Checked<S[P]> };
  };

/** What has no problem. */
export const refined =
  <T>(check: Check<T>, problemOf: (value: T) => string | undefined): Check<T> =>
  (value, path) => {
    const found = check(value, path);
    const problem = problemOf(found);
    if (problem !== undefined) throw new Misfit(path, problem);
    return found;
  };

/** ` Did you mean "…"?`, or nothing. */
export const hint = (word: string, words: readonly string[]): string => {
  const meant = nearest(word, words);
  return meant === undefined ? '' : ` Did you mean "${meant}"?`;
};

function asObject(value: unknown, path: Path): JsonObject {
  if (isObject(value)) return value;
  throw new Misfit(path, 'should be keys with values.');
}
