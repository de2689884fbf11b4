import * as z from 'zod';

/** The remains of a program: what it printed, the report files it wrote, and the looks afterwards. */
export interface Output {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  /** Text of the files it was told to write, writes by itself, or an action reads in its place, by path. */
  readonly files: Readonly<Record<string, string>>;
  /** The output of the looks afterwards, by their names. */
  readonly after: Readonly<Record<string, string>>;
  /** The values of the call. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** The output of a look afterwards. Throws when it failed: nothing is known then. */
export function saidAfter({ after }: Pick<Output, 'after'>, name: string): string {
  if (after[name] === undefined) throw new Error(`${name} failed`);
  return after[name];
}

/** Reads an output. Throws when it is not what the program is known to print: its text is shown then. */
export type Reader<T> = (output: Output) => T;

/**
 * The way from an output to an answer: of a kind, which has one shape and one way to tell it for all
 * programs.
 */
export interface Report {
  readonly kind: string;
  readonly result: z.ZodType;
  /** Throws when it does not understand. */
  read(output: Output): unknown;
  show(result: never): string;
}

/** A kind that is one thing: test results, a conflict. */
export const kind = <R extends z.ZodType>(
  id: string,
  result: R,
  show: (result: z.output<R>, output?: Output) => string,
) =>
  Object.assign(
    (read: Reader<z.input<R>>): Report => ({
      kind: id,
      result,
      read: (output) => result.parse(read(output)),
      show,
    }),
    { result },
  );

/** Text of one program alone, made readable. Throws as readers do. */
export const told = (read: Reader<string>): Report => kind('text', z.string(), (text) => text)(read);

/**
 * A kind that is a list: `{ total, items }`. Its text leads with the total; `of` is what one of them is
 * called.
 */
export function listing<S extends z.ZodRawShape>(
  of: string,
  shape: S,
  /** `above` stands before it: what is the same need not be said again. */
  line: (
    item: z.output<z.ZodObject<S>>,
    above: z.output<z.ZodObject<S>> | undefined,
    all: readonly z.output<z.ZodObject<S>>[],
  ) => string,
) {
  const item: z.ZodObject<S> = z.object(shape);
  const plural = `${of.replace(/([^aeiou])y$/, '$1ie').replace(/(s|x|ch|sh)$/, '$1e')}s`;
  const count = (total: number) => (total === 0 ? `no ${plural}` : `${total} ${total === 1 ? of : plural}`);
  const lead = (total: number, shown: number) =>
    count(total) + (shown < total ? `, ${shown} of them here` : '');
  const result = z.object({ total: z.int(), items: z.array(item), more: z.string().optional() });
  const list = kind(plural, result, ({ total, items, more }) => {
    const all = items as z.output<z.ZodObject<S>>[];
    const lines = all.map((one, at) => line(one, all[at - 1], all));
    return [lead(total, all.length), ...lines, ...(more ? [more] : [])].join('\n');
  });
  type Items = readonly z.input<z.ZodObject<S>>[];
  /** `more` says that there are others, and how to get them. */
  const listed = (
    read: Reader<Items | { items: Items; total?: number; more?: string | undefined }>,
  ): Report =>
    list((output) => {
      const found = read(output);
      const { items, ...rest } = 'items' in found ? found : { items: found };
      return { total: items.length, ...rest, items } as never;
    });
  return Object.assign(listed, { result });
}
