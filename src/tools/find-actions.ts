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

/** Who asks one of these has found them. */
const ofCatalogue: ReadonlySet<string> = new Set(['find_actions', 'run_action', 'run_read_action']);
const mostActions = 5;
/** Of the best one's score; what is further away is most likely something else. */
const nearEnough = 0.35;
/** How much more an action counts whose program the project uses. */
const usedCounts = 1.2;

/** Searches every action of every program: what is listed is a part of what can be called. */
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
    content: [{ type: 'text', text: await answerTo(query, program, session) }],
  }),
});

async function answerTo(query: string, program: string | undefined, session: Session): Promise<string> {
  const { tools: registry, environment } = session;
  const { catalogue } = environment;
  await environment.refresh();
  const callable = new Set((await registry.callable()).map(({ name }) => name));
  const exposure = await registry.listed();
  const listed = new Set(exposure.listed.map(({ name }) => name));
  const all = catalogue.tools.filter(({ name }) => !ofCatalogue.has(name));
  const among = program === undefined ? all : toolsOf(program, catalogue);
  const isUsed = ({ program: id }: ToolDefinition) => exposure.programs.get(id)?.isUsed ?? false;
  const search = (tools: readonly ToolDefinition[]) => bestOf(tools, query, isUsed, catalogue);
  const here = search(among.filter(({ name }) => callable.has(name)));
  if (here.length > 0)
    return [
      `${Math.min(here.length, mostActions)} of ${here.length} that fit; other words, or a program, find others:`,
      ...here.slice(0, mostActions).map((tool) => lineOf(tool, listed.has(tool.name))),
    ].join('\n');
  const [missing] = search(among);
  const facts = catalogue.programs.find(({ id }) => id === missing?.program);
  const notHere =
    missing && facts
      ? `${missing.name} would fit, but ${facts.title} cannot be used on this machine as it is. `
      : '';
  return `${notHere}No action does that. run runs any program${await commandFor(query, session)}`;
}

/** Tools that fit, the best first; what the project uses is most likely meant. */
export function bestOf(
  tools: readonly ToolDefinition[],
  query: string,
  isUsed: (tool: ToolDefinition) => boolean,
  catalogue: Catalogue,
): ToolDefinition[] {
  const scores = scoresOf(
    tools.map((tool) => fieldsOf(tool, catalogue)),
    query,
  );
  const found = tools
    .map((tool, at) => ({ tool, score: (scores[at] ?? 0) * (isUsed(tool) ? usedCounts : 1) }))
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score || (one.tool.name < other.tool.name ? -1 : 1));
  return found.filter(({ score }) => score >= nearEnough * (found[0]?.score ?? 0)).map(({ tool }) => tool);
}

/** Its command, when the first word of the query is a program that is here. */
async function commandFor(query: string, { environment }: Session): Promise<string> {
  const [program = ''] = query.trim().split(/\s+/);
  const isHere = /^[\w.+-]+$/.test(program) && (await environment.which(program)) !== undefined;
  return isHere ? `: ${JSON.stringify({ command: query.trim() })}` : '.';
}

function toolsOf(program: string, { tools, programs }: Catalogue): ToolDefinition[] {
  const known = tools.filter((tool) => tool.program === program);
  if (known.length > 0) return known;
  const ids = programs.map(({ id }) => id);
  const best = nearest(program, ids);
  throw new ToolcribError(
    'ARG_INVALID',
    `program: there are no actions of ${JSON.stringify(program.slice(0, 100))}.`,
    best ? `Did you mean ${best}?` : `The programs are ${ids.join(', ')}; run runs any other.`,
  );
}

/** What a tool is called, said to do, and takes. */
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

/** Arguments of a tool of our own, to be filled in. */
const blankOf = ({ inputSchema: { required = [] } }: ToolDefinition): Record<string, string> =>
  Object.fromEntries((required as string[]).map((name) => [name, '…']));

/** One line: the call with an example of its arguments, and what it does. */
function lineOf(tool: ToolDefinition, isListed: boolean): string {
  if (tool.action === undefined && isListed) return `${tool.name}  ${tool.title}`;
  const given = JSON.stringify(tool.example ?? blankOf(tool));
  const call = looksOnly(tool.effects) ? 'run_read_action' : 'run_action';
  const way = isListed
    ? `${tool.name} ${given}`
    : `${call} {"action": "${tool.name}", "arguments": ${given}}`;
  return `${way}  ${tool.title}`;
}
