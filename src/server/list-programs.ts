import * as z from 'zod';
import { nearest } from '../core/check-params.ts';
import { categories } from '../core/discoverer.ts';
import { ToolcribError } from '../core/errors.ts';
import { fitResult } from '../core/fit-result.ts';
import { defineSimpleTool, type Tool } from '../core/tool.ts';
import type { ProgramReport } from '../machine/programs/machine-report.ts';
import { inlineLimit, presentable } from '../machine/presentable.ts';

export interface ListProgramsServices {
  /** What is known of every program, versions included. */
  report(): Promise<readonly ProgramReport[]>;
}

const program = z.object({
  id: z.string(),
  title: z.string(),
  category: z.string(),
  installed: z.boolean(),
  version: z.string().optional(),
  note: z.string().optional().describe('Why there is no version'),
  path: z.string().optional(),
  source: z.string().optional().describe('Where the path comes from'),
  others: z
    .array(z.object({ path: z.string(), why: z.string() }))
    .optional()
    .describe('Candidates that lost'),
  why: z.string().optional().describe('Why it was not found'),
  install: z.string().optional().describe('How to get it'),
});

/** Which programs there are, which were found where, and why not the others. */
export const listPrograms = (services: ListProgramsServices): Tool =>
  defineSimpleTool({
    name: 'list_programs',
    program: 'toolcrib',
    title: 'List programs',
    description:
      'Development programs on this machine: version and path; missing ones with how to install them.',
    effects: ['read'],
    params: z.strictObject({
      category: z.enum(categories).optional().describe('Only this kind'),
      installed: z.boolean().optional().describe('Only installed (true) or missing (false) ones'),
      program: z.string().optional().describe('Only this one, by id'),
    }),
    result: z.object({
      programs: z.array(program),
      omitted: z.record(z.string(), z.int()).optional(),
    }),
    async call(wanted) {
      const rows = await services.report();
      const ids = rows.map(({ id }) => id);
      if (wanted.program !== undefined && !ids.includes(wanted.program)) {
        const best = nearest(wanted.program, ids);
        throw new ToolcribError(
          'ARG_INVALID',
          `program: ${JSON.stringify(wanted.program)} is not one of those that are known.`,
          best ? `Did you mean ${best}?` : `They are ${ids.join(', ')}.`,
        );
      }
      const programs = rows.filter(
        (row) =>
          (wanted.category === undefined || row.category === wanted.category) &&
          (wanted.installed === undefined || row.installed === wanted.installed) &&
          (wanted.program === undefined || row.id === wanted.program),
      );
      const { value, omitted } = fitResult({ programs }, inlineLimit, presentable);
      return { data: { ...value, ...(Object.keys(omitted).length > 0 ? { omitted } : {}) } };
    },
  });
