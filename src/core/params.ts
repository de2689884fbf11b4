import * as z from 'zod';
import { ToolcribError } from './errors.ts';

export type PathKind = 'file' | 'folder' | 'any';

/** Marks schemas whose values are paths. Private, so it never reaches the JSON Schema a model sees. */
const paths = z.registry<{ kind: PathKind; written: boolean }>();

/**
 * PATH_MAX of Linux, the most that any system here takes in one call. Work on paths may need time in their
 * square.
 */
export const longestPath = 4096;

/**
 * A path that must lie inside the roots. Relative paths start at the action's folder. `written`: what lies
 * there is made or replaced, so that the gate looks at it as it does before every change.
 */
export const path = (description: string, kind: PathKind = 'any', { written = false } = {}) =>
  z
    .string()
    .min(1)
    .max(longestPath, 'is too long for a path: expected at most 4,096 characters')
    .describe(description)
    .register(paths, { kind, written });

/**
 * The kind of path that the values of a schema are, and if it is written, also inside optional, default and
 * array; undefined for other schemas.
 */
export function pathFacts(schema: z.core.$ZodType): { kind: PathKind; written: boolean } | undefined {
  const here = paths.get(schema);
  if (here) return here;
  const { innerType, element } = schema._zod.def as {
    innerType?: z.core.$ZodType;
    element?: z.core.$ZodType;
  };
  const inner = innerType ?? element;
  return inner && pathFacts(inner);
}

/** Text of a pattern; `expected` names it. */
export const matching = (pattern: RegExp, expected: string, description: string) =>
  z.string().max(2000).regex(pattern, `expected ${expected}`).describe(description);

/** A name in one piece: a branch, container or package. Neither blank nor an option. */
export const name = (description: string) =>
  matching(/^[^-\s][^\s]{0,499}$/, 'a name without blanks that does not begin with "-"', description);

/** Free text that is not empty. */
export const text = (description: string) => z.string().min(1).max(100_000).describe(description);

/** The number of items to return: `usual` unless told, never more than `most`. */
export const limit = (most: number, usual: number) =>
  z.int().min(1).max(most).default(usual).describe('How many at most');

/** A yes or no that is no unless told. */
export const flag = (description: string) => z.boolean().default(false).describe(description);

/** A list that is empty unless told. */
export const list = <T extends z.ZodType>(item: T, description: string) =>
  z.array(item).max(1000).default([]).describe(description);

/** A list of at least one. */
export const some = <T extends z.ZodType>(item: T, description: string) =>
  z.array(item).min(1).max(1000).describe(description);

/** Spells a list as one argument. A separator inside an item would make two of it, and is refused. */
export function joined(separator: string) {
  const join = (all: readonly string[]): string => {
    const split = all.find((one) => one.includes(separator));
    if (split === undefined) return all.join(separator);
    throw new ToolcribError('ARG_INVALID', `"${split}" would be read as two.`, 'Give each by itself.');
  };
  return Object.assign(join, { unspell: (text: string) => text.split(separator) });
}
