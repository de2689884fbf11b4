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
/**
 * The beginning of a statement that writes; the answer to one that the database refuses names the action for
 * it.
 */
const writing = /^\s*(?:alter|create|delete|drop|insert|merge|replace|truncate|update)\b/i;
type QueryParams = z.output<typeof params>;

/** A database, and the action that queries it. */
interface QuerySource {
  /** The name that the parameter `database` takes. */
  readonly name: string;
  readonly action: ToolDefinition;
  readonly values: Readonly<Record<string, string>>;
}

/**
 * Queries a database of the project or of the settings. Statements that write are left to actions of its
 * program.
 */
export default defineTool({
  name: 'query',
  title: 'Query a database',
  description:
    'Ask a SQL database of the project (SQLite, PostgreSQL, MySQL, DuckDB): ' +
    'a SELECT, its tables, the shape of one.',
  hint: 'query a SQL database, list tables',
  listed: 'yes',
  inEveryToolset: true,
  effects: ['read', 'network'],
  params,
  async plan(request, context) {
    const work = await planQuery(request, context);
    return { ...combinePlans(work.calls), work };
  },
  run: ({ work }, context) => runQuery(work, context),
});

interface QueryWork {
  /** One call, or one for each of several databases; `about` is the name of the database. */
  readonly calls: readonly PlannedCall<string>[];
  readonly sql: string;
  /** The databases that were left out, each with the reason. */
  readonly notes: readonly string[];
}

async function runQuery({ calls, sql, notes }: QueryWork, context: CallContext): Promise<Result> {
  const [call] = calls;
  if (calls.length + notes.length > 1) return tablesOfAll(calls, notes, context);
  if (!call) throw new Error('a call of no acts');
  const result = await call.tool.run(call.plan, context);
  const [part] = result.content;
  if (!result.isError || part?.type !== 'text' || !writing.test(sql)) return result;
  const writer = call.tool.name.replace(/_[a-z]+$/, '_execute');
  const text = `${part.text}\nTo write, call run_action {"action": "${writer}", …}: a person is asked.`;
  return { ...result, content: [{ type: 'text', text }] };
}

/** Lists the tables of several databases, each behind its name; an error takes the place of its tables. */
async function tablesOfAll(
  calls: QueryWork['calls'],
  notes: QueryWork['notes'],
  context: CallContext,
): Promise<Result> {
  const texts: string[] = [];
  for (const { tool, plan, about } of calls) {
    const tables = await tool.run(plan, context).then(textOf, (error: unknown) => describeError(error));
    texts.push(`${about}: ${tables}`);
  }
  const text = headAndTail([...texts, ...notes].join('\n\n'), inlineLimit, 0, ' …');
  return { content: [{ type: 'text', text }] };
}

/** The error of one of several databases in one line. Throws any other error, and CANCELLED. */
function describeError(error: unknown): string {
  if (!(error instanceof ToolcribError) || error.code === 'CANCELLED') throw error;
  return `${error.code}: ${error.message}`;
}

/** Databases whose tables are listed in one call; the others are only named. */
const mostListed = 8;

async function planQuery(request: QueryParams, context: ToolPlanContext): Promise<QueryWork> {
  const { sql = '', table } = request;
  const roleWithoutSql = table === undefined ? 'tables' : 'describe';
  const role = request.sql === undefined ? roleWithoutSql : 'query';
  const sources = await sourcesFor(role, request.database, context);
  const [source, other] = sources;
  if (!source) throw noDatabase(request.database);
  if (!other) return { calls: [await planCall(source, request, context)], sql, notes: [] };
  if (role !== 'tables')
    throw new ToolcribError(
      'ARG_INVALID',
      `database: there are several: ${sources.map(({ name }) => name).join(', ')}.`,
      'Say which one.',
    );
  const calls: PlannedCall<string>[] = [];
  const notes: string[] = [];
  for (const listed of sources.slice(0, mostListed))
    try {
      calls.push(await planCall(listed, request, context));
    } catch (error) {
      notes.push(`${listed.name}: ${describeError(error)}`);
    }
  const unlisted = sources.slice(mostListed).map(({ name }) => name);
  if (unlisted.length > 0) notes.push(`and ${unlisted.join(', ')}: database names one`);
  if (calls.length === 0) throw new ToolcribError('NOT_FOUND', notes.join('; '));
  return { calls, sql, notes };
}

async function planCall(
  source: QuerySource,
  { sql, table, limit }: QueryParams,
  context: ToolPlanContext,
): Promise<PlannedCall<string>> {
  const { database } = source.values;
  if (database !== undefined) await context.workspace.resolve(database, { kind: 'file', mustExist: true });
  const tool = await context.session.load(source.action);
  const entries = Object.entries({ sql, table, limit, ...source.values });
  const values = entries.filter(([name, value]) => value !== undefined && name in tool.params.shape);
  return planCallOf(tool, Object.fromEntries(values), context, source.name);
}

async function sourcesFor(
  role: Role,
  database: string | undefined,
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
      database === engine ||
      tools.isReachable(action) ||
      projectAddress(schemesOf[engine], roots) !== undefined;
    return [
      ...profiles.map(([name]) => ({ name, action, values: { profile: name } })),
      ...(isNamed ? [{ name: engine, action, values: {} }] : []),
    ];
  });
  const files = (await new ProjectView(context.workspace.home, context).databaseFiles(role)).map(
    ({ action, evidence }): QuerySource => ({
      name: evidence,
      action,
      values: { database: evidence },
    }),
  );
  const all = [...servers, ...files];
  if (database === undefined) return firstPerName(all);
  const named = all.filter(({ name, action }) => name === database || action.program === database);
  if (named.length > 0) return firstPerName(named);
  const ofFiles = actions.filter(({ engine }) => engine === undefined);
  const matching = ofFiles.filter(({ program }) => isFileOf(program, database, environment.catalogue));
  const [action] = matching.length > 0 ? matching : ofFiles;
  return action ? [{ name: database, action, values: { database } }] : [];
}

/** Leaves out sources whose name came before: two programs can read the same file. */
const firstPerName = (sources: readonly QuerySource[]): QuerySource[] =>
  sources.filter((source, at) => sources.findIndex(({ name }) => name === source.name) === at);

const isFileOf = (id: string, path: string, { programs }: Catalogue): boolean =>
  (programs.find((program) => program.id === id)?.project ?? []).some(
    (evidence) => typeof evidence === 'string' && namePattern(evidence).test(basename(path)),
  );

const noDatabase = (database: string | undefined): ToolcribError =>
  new ToolcribError(
    'NOT_FOUND',
    database === undefined
      ? 'database: none is named in .env, DATABASE_URL or the settings, ' +
          'and no database file is here, in data or db.'
      : `database: there is no ${JSON.stringify(database)}.`,
    'Give the path of a file, or set DATABASE_URL in the .env of the project.',
  );
