import * as z from 'zod';
import { flag, limit, path } from '../../core/params.ts';

export const grepParams = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .max(10_000)
    .regex(/^[^\0]*$/, 'has a NUL character')
    .describe('Rust syntax: no look-around, no backreferences'),
  path: path('File or folder to search').default('.'),
  glob: z.string().min(1).optional().describe('Only these: src/**/*.{ts,tsx}; !*.min.js leaves files out'),
  type: z
    .string()
    .regex(/^\w[\w+-]*$/)
    .optional()
    .describe('File type: ts, py, rust'),
  mode: z.enum(['lines', 'files', 'count']).default('lines').describe('count: of lines, by file'),
  context: z.int().min(0).max(20).default(0).describe('Lines around each match'),
  before: z.int().min(0).max(20).optional(),
  after: z.int().min(0).max(20).optional(),
  ignore_case: z.boolean().default(false),
  fixed: flag('Plain text'),
  multiline: flag('Not in files over 100 MB'),
  hidden: flag('Also dot names'),
  ignored: flag('Also what .gitignore leaves out'),
  encoding: z.string().min(1).max(50).optional().describe('Of files that are not UTF-8'),
  sort: z.enum(['path', 'modified']).default('path'),
  limit: limit(1000, 200),
  cursor: z.string().max(20_000).optional(),
});
export type GrepParams = z.output<typeof grepParams>;

/** How many lines are shown before and after a match. */
export const around = ({ context, before, after }: GrepParams) => ({
  before: before ?? context,
  after: after ?? context,
});

/** All that decides which matches there are, with how much around them, and in which order. */
export function questionOf(given: GrepParams, realPath: string): string {
  const asked = { ...given, limit: 0, cursor: '', context: 0 };
  return JSON.stringify(['grep', realPath, asked, around(given)]);
}
