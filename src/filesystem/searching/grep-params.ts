import * as z from 'zod';
import { flag, limit, path } from '../../core/params.ts';
import { cursorParam } from '../listing/kept-lists.ts';

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
  ignore_case: z.boolean().default(false),
  fixed: flag('Plain text'),
  multiline: flag('Not in files over 100 MB'),
  hidden: flag('Also dot names'),
  ignored: flag('Also what .gitignore leaves out'),
  encoding: z.string().min(1).max(50).optional().describe('Of files that are not UTF-8'),
  limit: limit(1000, 200),
  cursor: cursorParam,
});
export type GrepParams = z.output<typeof grepParams>;
