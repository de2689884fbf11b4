import * as z from 'zod';

/** Which database is asked. Where it is, and as whom, is up to the operator: a model does not choose whom to talk to. */
export const connection = {
  profile: z.string().min(1).optional().describe('Named in the settings'),
  database: z
    .string()
    .regex(/^[A-Za-z0-9_][\w.@-]{0,62}$/, 'expected a name, no connection string')
    .optional()
    .describe('Another one of that server'),
};

/**
 * A query of the caller; `refuses` names functions that reach outside the database, which the rights of the role should
 * already keep from doing that.
 */
export const query = (refuses: RegExp) =>
  z
    .string()
    .min(1)
    .max(100_000)
    .refine(
      (text) => !/^\s*\\/.test(text),
      'backslash commands are not SQL; there are actions for what they list',
    )
    .refine((text) => !text.includes('\0'), 'contains a NUL character')
    .refine((text) => !refuses.test(text), {
      error: (issue) => `${refuses.exec(String(issue.input))?.[0].trim()}: reaches outside the database`,
    })
    .overwrite((text) => text.trim().replace(/[;\s]+$/, ''))
    .describe('One SELECT, VALUES, TABLE or WITH');

/** What a query brings. */
export const table = z.object({
  columns: z.array(z.object({ name: z.string(), type: z.string() })),
  rows: z.array(z.array(z.unknown())),
  truncated: z.boolean(),
});

export const plan = z.object({ plan: z.unknown() });
