import * as z from 'zod';

/** An array of that, which is looked through to the first that is none: to tell of each takes seconds. */
export const listOf = <Schema extends z.ZodType>(schema: Schema) =>
  z.array(z.unknown()).transform((values, context): z.output<Schema>[] => {
    const list: z.output<Schema>[] = [];
    for (const value of values) {
      const { success, data } = schema.safeParse(value);
      if (!success) {
        context.addIssue({ code: 'custom' });
        return z.NEVER;
      }
      list.push(data);
    }
    return list;
  });

/** `file:line`, as far as it is known. */
export const placeOf = (file: string | undefined, line: number | undefined): string | undefined =>
  file === undefined ? undefined : `${file}${line === undefined ? '' : `:${line}`}`;
