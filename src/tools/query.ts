import { basename } from 'node:path';
import * as z from 'zod';
import { ToolcribError } from '../core/errors.ts';
import type { Role } from '../core/program.ts';
import { textOf, type CallContext, type Result } from '../core/tool.ts';
import { planCallOf, combinePlans, type PlannedCall } from '../machine/actions/acts.ts';
import { headAndTail, inlineLimit } from '../machine/sanitize.ts';
import { projectAddress, schemesOf } from '../machine/databases/target.ts';
import { namePattern } from '../machine/programs/evidence.ts';
import type { Catalogue } from '../machine/catalogue.ts';
import { defineTool, type ToolPlanContext } from './define-tool.ts';
import type { ToolDefinition } from '../core/tool-definition.ts';
import { ProjectView } from './project/project-view.ts';

const params = z.strictObject({
  sql: z.string().min(1).max(100_000).optional().describe('One statement that reads: "SELECT * FROM orders"'),
  table: z.string().min(1).optional().describe('The shape of this table instead; without both, all tables'),
  database: z.string().min(1).optional().describe('File, name in the settings, or postgresql, mysql'),
  limit: z.number().int().min(1).max(1000).optional().describe('Most rows; 100 when left out'),
});
/** A database refuses it in words of its own; which action writes is said behind them. */
const writing = /^\s*(?:alter|create|delete|drop|insert|merge|replace|truncate|update)\b/i;
type QueryParams = z.output<typeof params>;

/** A database that can be asked, and by which action. */
interface QuerySource {
  /** By which `database` names it. */
  readonly name: string;
  readonly action: ToolDefinition;
  readonly values: Readonly<Record<string, string>>;
}

/** Asks a database of the project or the settings; what writes is an action of its program. */
export default defineTool({
  name: 'query',
  title: 'Query a database',
  description:
    'Ask a SQL database of the project (SQLite, PostgreSQL, MySQL, DuckDB): a SELECT, its tables, the shape of one.',
  hint: 'query a SQL database, list tables',
  listed: 'yes',
  inEveryToolset: true,
  effects: ['read', 'network'],
  params,
  async plan(asked, context) {
    const work = await workFor(asked, context);
    return { ...combinePlans(work.acts), work };
  },
  run: ({ work }, context) => run(work, context),
});

interface QueryWork {
  /** Of several, each is about its database, by its name. */
  readonly acts: readonly PlannedCall<string>[];
  readonly sql: string;
  /** What is left out, and why. */
  readonly notes: readonly string[];
}

async function run({ acts, sql, notes }: QueryWork, context: CallContext): Promise<Result> {
  const [act] = acts;
  if (acts.length + notes.length > 1) return tablesOfAll(acts, notes, context);
  if (!act) throw new Error('a call of no acts');
  const result = await act.tool.run(act.plan, context);
  const [part] = result.content;
  if (!result.isError || part?.type !== 'text' || !writing.test(sql)) return result;
  const by = act.tool.name.replace(/_[a-z]+$/, '_execute');
  const text = `${part.text}\nTo write, call run_action {"action": "${by}", …}: a person is asked.`;
  return { ...result, content: [{ type: 'text', text }] };
}

/** The tables of each, below its name; of one that does not answer, why. */
async function tablesOfAll(
  acts: QueryWork['acts'],
  notes: QueryWork['notes'],
  context: CallContext,
): Promise<Result> {
  const texts: string[] = [];
  for (const { tool, plan, about } of acts) {
    const said = await tool.run(plan, context).then(textOf, (error: unknown) => reasonOf(error));
    texts.push(`${about}: ${said}`);
  }
  const text = headAndTail([...texts, ...notes].join('\n\n'), inlineLimit, 0, ' …');
  return { content: [{ type: 'text', text }] };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof ToolcribError) || error.code === 'CANCELLED') throw error;
  return `${error.code}: ${error.message}`;
}

/** Of more databases, the tables are listed by name only. */
const mostListed = 8;

async function workFor(asked: QueryParams, context: ToolPlanContext): Promise<QueryWork> {
  const { sql = '', table } = asked;
  const role = asked.sql !== undefined ? 'query' : table !== undefined ? 'describe' : 'tables';
  const found = await sourcesFor(role, asked.database, context);
  const [source, other] = found;
  if (!source) throw noDatabase(asked.database);
  if (!other) return { acts: [await actFor(source, asked, context)], sql, notes: [] };
  if (role !== 'tables')
    throw new ToolcribError(
      'ARG_INVALID',
      `database: there are several: ${found.map(({ name }) => name).join(', ')}.`,
      'Say which one.',
    );
  const acts: PlannedCall<string>[] = [];
  const notes: string[] = [];
  for (const one of found.slice(0, mostListed))
    try {
      acts.push(await actFor(one, asked, context));
    } catch (error) {
      notes.push(`${one.name}: ${reasonOf(error)}`);
    }
  const left = found.slice(mostListed).map(({ name }) => name);
  if (left.length > 0) notes.push(`and ${left.join(', ')}: database names one`);
  if (acts.length === 0) throw new ToolcribError('NOT_FOUND', notes.join('; '));
  return { acts, sql, notes };
}

async function actFor(
  source: QuerySource,
  { sql, table, limit }: QueryParams,
  context: ToolPlanContext,
): Promise<PlannedCall<string>> {
  const { database } = source.values;
  if (database !== undefined) await context.workspace.resolve(database, { kind: 'file', mustExist: true });
  const tool = await context.session.load(source.action);
  const given = Object.entries({ sql, table, limit, ...source.values });
  const values = given.filter(([name, value]) => value !== undefined && name in tool.params.shape);
  return planCallOf(tool, Object.fromEntries(values), context, source.name);
}

async function sourcesFor(
  role: Role,
  wanted: string | undefined,
  context: ToolPlanContext,
): Promise<QuerySource[]> {
  const { settings, tools, environment } = context.session;
  const { roots } = context.workspace;
  const actions = (await tools.callable()).filter((tool) => tool.role === role);
  const servers = actions.flatMap((action): QuerySource[] => {
    const { engine } = action;
    if (engine === undefined) return [];
    const profiles = Object.entries(settings.databases).filter(([, profile]) => profile.engine === engine);
    const isNamed =
      wanted === engine ||
      tools.isReachable(action) ||
      projectAddress(schemesOf[engine], roots) !== undefined;
    return [
      ...profiles.map(([name]) => ({ name, action, values: { profile: name } })),
      ...(isNamed ? [{ name: engine, action, values: {} }] : []),
    ];
  });
  const files = (await new ProjectView(context.workspace.home, context).databaseFiles(role)).map(
    ({ action, sign }): QuerySource => ({
      name: sign,
      action,
      values: { database: sign },
    }),
  );
  const all = [...servers, ...files];
  if (wanted === undefined) return onePerName(all);
  const named = all.filter(({ name, action }) => name === wanted || action.program === wanted);
  if (named.length > 0) return onePerName(named);
  const ofFiles = actions.filter(({ engine }) => engine === undefined);
  const fitting = ofFiles.filter(({ program }) => isFileOf(program, wanted, environment.catalogue));
  const [action] = fitting.length > 0 ? fitting : ofFiles;
  return action ? [{ name: wanted, action, values: { database: wanted } }] : [];
}

/** Two programs can read the same file: the first is the one. */
const onePerName = (sources: readonly QuerySource[]): QuerySource[] =>
  sources.filter((one, at) => sources.findIndex(({ name }) => name === one.name) === at);

const isFileOf = (id: string, path: string, { programs }: Catalogue): boolean =>
  (programs.find((program) => program.id === id)?.project ?? []).some(
    (sign) => typeof sign === 'string' && namePattern(sign).test(basename(path)),
  );

const noDatabase = (wanted: string | undefined): ToolcribError =>
  new ToolcribError(
    'NOT_FOUND',
    wanted === undefined
      ? 'database: none is named in .env, DATABASE_URL or the settings, and no database file is here, in data or db.'
      : `database: there is no ${JSON.stringify(wanted)}.`,
    'Give the path of a file, or set DATABASE_URL in the .env of the project.',
  );
