import * as z from 'zod';
import { unlisted } from '../core/accepted.ts';
import { nearest } from '../core/nearest.ts';
import { ToolcribError } from '../core/errors.ts';
import { looksOnly } from '../core/policy.ts';
import { defineTool } from './define-tool.ts';
import type { Session } from '../machine/session.ts';
import type { ToolDefinition } from '../core/tool-definition.ts';
import type { Catalogue } from '../machine/catalogue.ts';
import { scoresOf, type SearchFields } from './catalogue/search.ts';
import { roleWords } from './catalogue/words.ts';

/** The tools of the catalogue itself, which are not searched: whoever calls one knows them. */
const catalogueTools: ReadonlySet<string> = new Set(['find_actions', 'run_action', 'run_read_action']);
const mostActions = 5;
/**
 * The least score of a result, as a part of the best one's; lower ones are most likely about something else.
 */
const leastRelativeScore = 0.35;
/** The factor on the score of an action whose program the project uses. */
const usedFactor = 1.2;

/** Searches all actions of all programs, of which only a part is listed as tools. */
export default defineTool({
  name: 'find_actions',
  title: 'Find actions',
  description:
    'Finds what can be done with the programs of this machine, in plain words. Answers with calls to make.',
  hint: 'find any other action or tool',
  listed: 'first',
  inEveryToolset: true,
  effects: ['read'],
  params: z.strictObject({
    query: z.string().min(1).max(500).describe('What to do: "who changed this line", "stop a container"'),
    program: z.string().optional().describe('Only of this program: git'),
    limit: unlisted(z.int().min(1).optional()),
  }),
  run: async ({ work: { query, program } }, { session }) => ({
    content: [{ type: 'text', text: await searchActions(query, program, session) }],
  }),
});

async function searchActions(query: string, program: string | undefined, session: Session): Promise<string> {
  const { tools: registry, environment } = session;
  const { catalogue } = environment;
  await environment.refresh();
  const callable = new Set((await registry.callable()).map(({ name }) => name));
  const exposure = await registry.listed();
  const listed = new Set(exposure.listed.map(({ name }) => name));
  const all = catalogue.tools.filter(({ name }) => !catalogueTools.has(name));
  const candidates = program === undefined ? all : toolsOf(program, catalogue);
  const isUsed = ({ program: id }: ToolDefinition) => exposure.programs.get(id)?.isUsed ?? false;
  const search = (tools: readonly ToolDefinition[]) => rankTools(tools, query, isUsed, catalogue);
  const here = search(candidates.filter(({ name }) => callable.has(name)));
  const best = here.slice(0, mostActions);
  if (best.length > 0)
    return [
      `${best.length} of ${here.length} that fit; other words, or a program, find others:`,
      ...best.map((tool) => lineOf(tool, listed.has(tool.name))),
    ].join('\n');
  const [missing] = search(candidates);
  const facts = catalogue.programs.find(({ id }) => id === missing?.program);
  const notHere =
    missing && facts
      ? `${missing.name} would fit, but ${facts.title} cannot be used on this machine as it is. `
      : '';
  return `${notHere}No action does that. run runs any program${await commandFor(query, session)}`;
}

/** Ranks the tools that fit a query, the best first; programs that the project uses are more likely meant. */
export function rankTools(
  tools: readonly ToolDefinition[],
  query: string,
  isUsed: (tool: ToolDefinition) => boolean,
  catalogue: Catalogue,
): ToolDefinition[] {
  const scores = scoresOf(
    tools.map((tool) => fieldsOf(tool, catalogue)),
    query,
  );
  const results = tools
    .map((tool, at) => ({ tool, score: (scores[at] ?? 0) * (isUsed(tool) ? usedFactor : 1) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1));
  const leastScore = leastRelativeScore * (results[0]?.score ?? 0);
  return results.filter(({ score }) => score >= leastScore).map(({ tool }) => tool);
}

/** The query as a call of run, when its first word is a program on this machine. */
async function commandFor(query: string, { environment }: Session): Promise<string> {
  const [program = ''] = query.trim().split(/\s+/);
  const isHere = /^[\w.+-]+$/.test(program) && (await environment.which(program)) !== undefined;
  return isHere ? `: ${JSON.stringify({ command: query.trim() })}` : '.';
}

function toolsOf(program: string, { tools, programs }: Catalogue): ToolDefinition[] {
  const ofProgram = tools.filter((tool) => tool.program === program);
  if (ofProgram.length > 0) return ofProgram;
  const ids = programs.map(({ id }) => id);
  const best = nearest(program, ids);
  throw new ToolcribError(
    'ARG_INVALID',
    `program: there are no actions of ${JSON.stringify(program.slice(0, 100))}.`,
    best ? `Did you mean ${best}?` : `The programs are ${ids.join(', ')}; run runs any other.`,
  );
}

/** The texts of a tool that are searched. */
function fieldsOf(tool: ToolDefinition, { programs }: Catalogue): SearchFields {
  const { title = '', category = '' } = programs.find(({ id }) => id === tool.program) ?? {};
  const properties = (tool.inputSchema['properties'] ?? {}) as Record<string, { description?: string }>;
  return {
    name: tool.name,
    title: tool.title,
    program: `${tool.program} ${title} ${category}`,
    description: `${tool.description} ${tool.role ? roleWords[tool.role] : ''}`,
    parameters: Object.entries(properties)
      .map(([name, { description = '' }]) => `${name} ${description}`)
      .join(' '),
  };
}

/** The required arguments of a built-in tool, to be filled in. */
const blankArguments = ({ inputSchema: { required = [] } }: ToolDefinition): Record<string, string> =>
  Object.fromEntries((required as string[]).map((name) => [name, '…']));

/** Formats a tool as one line: the call with an example of its arguments, and its title. */
function lineOf(tool: ToolDefinition, isListed: boolean): string {
  if (tool.action === undefined && isListed) return `${tool.name}  ${tool.title}`;
  const example = JSON.stringify(tool.example ?? blankArguments(tool));
  const runner = looksOnly(tool.effects) ? 'run_read_action' : 'run_action';
  const call = isListed
    ? `${tool.name} ${example}`
    : `${runner} {"action": "${tool.name}", "arguments": ${example}}`;
  return `${call}  ${tool.title}`;
}
