import * as z from 'zod';

/** Refuses a text that the program would read as an option; see `marks` of a program. */
export type RefuseOption = (text: string) => string;

/** A parameter of an action: what it may be, and how it is written on the command line. */
export interface Param<T extends z.ZodType = z.ZodType> {
  readonly schema: T;
  /** Its place: among the options, behind them, in the environment, on standard input, nowhere. */
  readonly place: 'option' | 'operand' | 'words' | 'variable' | 'input' | 'aside';
  /** The name of the variable. */
  readonly variable?: string;
  /** The arguments for a value; an empty list is not written. */
  write(value: unknown, bare: RefuseOption): readonly string[];
  readonly reading: Reading;
}

/** The way back: what tells the words that a parameter writes from others. */
export interface Reading {
  /** The name of an option, behind which its value stands; `--jobs=` where it is glued to it. */
  readonly option?: string;
  /** Words that stand for a value each; no words where the value is not written. */
  readonly meanings?: readonly (readonly [value: unknown, words: readonly string[]])[];
  /** The value that was spelled as this text; undefined for a text that no value is spelled as. */
  readonly unspell?: (text: string) => unknown;
}
export type Params = Readonly<Record<string, Param>>;
/** The values that a caller gives. */
export type Input<P extends Params> = z.input<z.ZodObject<{ [K in keyof P]: P[K]['schema'] }>>;

/**
 * The spelling of a value when that is not its own text: names as one regular expression, text as an SQL
 * literal.
 */
interface Spell<T extends z.ZodType> {
  (value: NonNullable<z.output<T>>): string;
  /** The way back, where there is one. Undefined for a text that is not spelled so. */
  readonly unspell?: (text: string) => NonNullable<z.output<T>> | undefined;
}

/** The way back of a spelling: only to a value that is spelled as this text. One without is not read. */
function wayBack<T extends z.ZodType>(spell: Spell<T> | undefined): Pick<Reading, 'unspell'> {
  if (!spell) return {};
  return {
    unspell(text) {
      const value = spell.unspell?.(text);
      return value !== undefined && spell(value) === text ? value : undefined;
    },
  };
}

/**
 * The text of a value; of a list, that of each item, or all of them in one where they are spelled together.
 */
function textsOf<T extends z.ZodType>(value: unknown, spell?: Spell<T>): string[] {
  if (spell) return [spell(value as NonNullable<z.output<T>>)];
  return Array.isArray(value) ? value.map(String) : [String(value)];
}

/**
 * An option that has to be given: `--jobs 4`, or glued when its name ends with `=` or `:`. Of a list, each
 * item; or all of them in one, as `spell` writes them.
 */
export function required<T extends z.ZodType>(name: string, schema: T, spell?: Spell<T>): Param<T> {
  const isGlued = /[=:]$/.test(name);
  return {
    schema,
    place: 'option',
    write: (value, bare) =>
      textsOf(value, spell).flatMap((text) => (isGlued ? [name + text] : [name, bare(text)])),
    reading: { option: name, ...wayBack(spell) },
  };
}

/** An option that may be left out. */
export const option = <T extends z.ZodType>(name: string, schema: T, spell?: Spell<T>) =>
  ({ ...required(name, schema, spell), schema: z.optional(schema) }) as Param<z.ZodOptional<T>>;

type FixedWords = string | readonly string[];
const listOf = (words: FixedWords): readonly string[] => (typeof words === 'string' ? [words] : words);

/** Words that stand there when it is true; others when it is not. */
export function on(
  words: FixedWords,
  says: string,
  otherwise: FixedWords = [],
): Param<z.ZodDefault<z.ZodBoolean>> {
  const [whenTrue, whenFalse] = [listOf(words), listOf(otherwise)];
  return {
    schema: z.boolean().default(false).describe(says),
    place: 'option',
    write: (value) => (value === true ? whenTrue : whenFalse),
    reading: {
      meanings: [
        [true, whenTrue],
        [false, whenFalse],
      ],
    },
  };
}

/** One of several: its words stand there. The first is meant when none is said. */
export const choice = <K extends string>(from: Readonly<Record<K, FixedWords>>, says: string) => {
  const keys = Object.keys(from) as [K, ...K[]];
  const schema = z
    .enum(keys)
    .default(keys[0] as never)
    .describe(says);
  const lists = new Map<unknown, readonly string[]>(keys.map((key) => [key, listOf(from[key])]));
  const write = (value: unknown) => lists.get(value) ?? [];
  return { schema, place: 'option', write, reading: { meanings: [...lists] } } as Param<typeof schema>;
};

/** A value behind the options: a path, a name. Of a list, each item. */
export const operand = <T extends z.ZodType>(schema: T, spell?: Spell<T>): Param<T> => ({
  schema,
  place: 'operand',
  write: (value, bare) => textsOf(value, spell).map(bare),
  reading: wayBack(spell),
});

/** A parameter whose value is written as it is. */
const plain = <T extends z.ZodType>(schema: T, place: Param['place']): Param<T> => ({
  schema,
  place,
  write: (value) => textsOf(value),
  reading: {},
});

/** Words for a program or script that the action runs: as they are, options too. Always last. */
export const words = (says: string, word: z.ZodType<string> = z.string()) =>
  plain(z.array(word).max(1000).default([]).describe(says), 'words');

/** A variable of the program's environment. */
export const variable = <T extends z.ZodType>(name: string, schema: T): Param<z.ZodOptional<T>> => ({
  ...plain(z.optional(schema), 'variable'),
  variable: name,
});

/** Text that the program reads on standard input. */
export const input = <T extends z.ZodType>(schema: T) => plain(schema, 'input');

/** A parameter that is not written: which connection is used, what a report is narrowed to. */
export const aside = <T extends z.ZodType>(schema: T) => plain(schema, 'aside');
