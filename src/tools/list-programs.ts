import * as z from 'zod';
import { nearest } from '../core/nearest.ts';
import { categories } from '../core/discoverer.ts';
import { ToolcribError } from '../core/errors.ts';
import { defineTool } from './define-tool.ts';
import { wellKnown } from '../discoverers/shared/well-known.ts';
import type { ProgramReport } from '../machine/programs/machine-report.ts';
import { headAndTail, inlineLimit, sanitize } from '../machine/sanitize.ts';
import type { Environment } from '../machine/environment.ts';

/** Lists the known programs: version and path of those on this machine, and how to get the others. */
export default defineTool({
  name: 'list_programs',
  title: 'List programs',
  description:
    'Development programs on this machine: version and path; of one that is missing, how to get it.',
  listed: 'no',
  effects: ['read'],
  params: z.strictObject({
    category: z.enum(categories).optional().describe('Only this kind'),
    program: z.string().optional().describe('Only this one, by id, with all that is known of it'),
  }),
  async run({ work: { category, program } }, { session }) {
    const rows = await session.environment.report();
    const text =
      program === undefined
        ? await formatPrograms(
            rows.filter((row) => category === undefined || row.category === category),
            session.environment,
          )
        : describeProgram(rows, program);
    return { content: [{ type: 'text', text: headAndTail(sanitize(text), inlineLimit, 0, ' …') }] };
  },
});

async function formatPrograms(rows: readonly ProgramReport[], environment: Environment): Promise<string> {
  const here = rows.filter(({ installed }) => installed);
  const missing = rows.filter(({ installed }) => !installed).map(({ id }) => id);
  const listed = new Set(here.flatMap(({ id, path = '' }) => [id, path.replace(/.*[\\/]|\.\w+$/g, '')]));
  const others = (await environment.present(wellKnown)).filter((name) => !listed.has(name));
  return [
    `${here.length} of ${rows.length} programs are here`,
    ...here.map(lineOf),
    ...(others.length > 0 ? [`also here, for run: ${others.join(', ')}`] : []),
    ...(missing.length > 0 ? [`missing (program=ID says how to get one): ${missing.join(', ')}`] : []),
  ].join('\n');
}

const lineOf = ({ id, version, note, path }: ProgramReport): string =>
  [id, version ?? '-', path, note && `(${note})`].filter(Boolean).join(' ');

/** Describes one program in full. Throws ARG_INVALID for one that is not in the catalogue. */
function describeProgram(rows: readonly ProgramReport[], id: string): string {
  const row = rows.find((candidate) => candidate.id === id);
  if (!row) {
    const ids = rows.map((candidate) => candidate.id);
    const best = nearest(id, ids);
    throw new ToolcribError(
      'ARG_INVALID',
      `program: ${JSON.stringify(id)} is not one of those that are known.`,
      best ? `Did you mean ${best}?` : 'Without it, list_programs names all; run runs any program.',
    );
  }
  if (!row.installed) return `${row.id}: missing: ${row.why}\nto get it: ${row.install}`;
  return [
    `${lineOf(row)} from ${row.source}`,
    ...(row.others ?? []).map(({ path, why }) => `not ${path}: ${why}`),
  ].join('\n');
}
