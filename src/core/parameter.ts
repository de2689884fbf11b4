import * as z from 'zod';

/** Refuses a text that the program would read as an option; see `marks` of a program. */
export type Bare = (text: string) => string;

/** A parameter of an action: what it may be, and how it is written on the command line. */
export interface Param<T extends z.ZodType = z.ZodType> {
  readonly schema: T;
  /** Where it goes: among the options, behind them, into the environment, on standard input, nowhere. */
  readonly place: 'option' | 'operand' | 'words' | 'variable' | 'input' | 'aside';
  /** The name of the variable. */
  readonly variable?: string;
  write(value: unknown, bare: Bare): string[];
}
export type Params = Readonly<Record<string, Param>>;
/** The values that a caller gives. */
export type Input<P extends Params> = z.input<z.ZodObject<{ [K in keyof P]: P[K]['schema'] }>>;

/** How a value is spelled when that is not its own text: names as one regular expression, text as an SQL literal. */
type Spell<T extends z.ZodType> = (value: NonNullable<z.output<T>>) => string;

const each = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);
const spelled = <T extends z.ZodType>(value: unknown, spell?: Spell<T>): string[] =>
  each(value).length === 0 || !spell ? each(value).map(String) : [spell(value as NonNullable<z.output<T>>)];

/**
 * An option that has to be given: `--jobs 4`, or glued when its name ends with `=` or `:`. Of a list, each item; or all
 * of them in one, as `spell` writes them.
 */
export const required = <T extends z.ZodType>(name: string, schema: T, spell?: Spell<T>): Param<T> => ({
  schema,
  place: 'option',
  write: (value, bare) =>
    spelled(value, spell).flatMap((text) => (/[=:]$/.test(name) ? [name + text] : [name, bare(text)])),
});

/** The same, which may be left out. */
export const option = <T extends z.ZodType>(name: string, schema: T, spell?: Spell<T>) =>
  ({ ...required(name, schema, spell), schema: z.optional(schema) }) as Param<z.ZodOptional<T>>;

type Words = string | readonly string[];

/** Words that stand there when it is true; others when it is not. */
export const on = (words: Words, says: string, otherwise: Words = []): Param<z.ZodDefault<z.ZodBoolean>> => ({
  schema: z.boolean().default(false).describe(says),
  place: 'option',
  write: (value) => each(value === true ? words : otherwise) as string[],
});

/** One of several: its words stand there. The first is meant when none is said. */
export const choice = <K extends string>(from: Readonly<Record<K, Words>>, says: string) => {
  const keys = Object.keys(from) as [K, ...K[]];
  const values = z.enum(keys);
  const schema = values.default(keys[0] as never).describe(says);
  return { schema, place: 'option', write: (value) => each(from[value as K]) } as Param<typeof schema>;
};

/** A value behind the options: a path, a name. Of a list, each item. */
export const operand = <T extends z.ZodType>(schema: T, spell?: Spell<T>): Param<T> => ({
  schema,
  place: 'operand',
  write: (value, bare) => spelled(value, spell).map(bare),
});

/** What stands there as it is. */
const plain = <T extends z.ZodType>(schema: T, place: Param['place']): Param<T> => ({
  schema,
  place,
  write: (value) => each(value).map(String),
});

/** Words for a program or script that the action runs: as they are, options too. Always last. */
export const words = (says: string) =>
  plain(z.array(z.string()).max(1000).default([]).describe(says), 'words');

/** A variable of the program's environment. */
export const variable = <T extends z.ZodType>(name: string, schema: T): Param<z.ZodOptional<T>> => ({
  ...plain(z.optional(schema), 'variable'),
  variable: name,
});

/** What the program reads on standard input. */
export const input = <T extends z.ZodType>(schema: T) => plain(schema, 'input');

/** Not written: which connection is used, what a report is narrowed to. */
export const aside = <T extends z.ZodType>(schema: T) => plain(schema, 'aside');
