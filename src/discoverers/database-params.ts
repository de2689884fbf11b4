import * as z from 'zod';

/** Which database is asked. Where it is, and as whom, is the operator's: a model does not choose whom to talk to. */
export const connection = {
  profile: z.string().min(1).optional().describe('Named in the settings'),
  database: z
    .string()
    .regex(/^[A-Za-z0-9_][\w.@-]{0,62}$/, 'expected a name, no connection string')
    .optional()
    .describe('Another one of that server'),
};

/** A query of the caller. That it is one, and only reads, is said by the server; backslash commands are a program's. */
export const query = z
  .string()
  .min(1)
  .max(100_000)
  .refine(
    (text) => !/^\s*\\/.test(text),
    'backslash commands are not SQL; there are actions for what they list',
  )
  .refine((text) => !text.includes('\0'), 'contains a NUL character')
  .overwrite((text) => text.trim().replace(/[;\s]+$/, ''))
  .describe('One SELECT, VALUES, TABLE or WITH');

/** What a query brings. */
export const table = z.object({
  columns: z.array(z.object({ name: z.string(), type: z.string() })),
  rows: z.array(z.array(z.unknown())),
  truncated: z.boolean(),
});

export const plan = z.object({ plan: z.unknown() });
