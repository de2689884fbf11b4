import type { QueryAction } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import { fitResult } from '../../core/fit-result.ts';
import type { CallContext, Plan, PlanContext, ToolResult } from '../../core/tool.ts';
import { inlineLimit, spelledNote, spelledOut } from '../presentable.ts';
import { failureOfDatabase, withoutSecrets } from './database-failure.ts';
import { usualLimits, type Limits, type OpenSession, type Session } from './session.ts';
import { targetOf, type DatabaseServices, type Target, type Wanted } from './target.ts';

/** One call of an action that asks a database. */
export interface DatabaseCall {
  readonly tool: string;
  readonly action: QueryAction;
  readonly values: Readonly<Record<string, unknown>>;
  readonly services: { readonly databases: DatabaseServices };
  readonly limits?: Limits;
}

/** A call, and where it connects. */
interface PreparedQuery extends DatabaseCall {
  readonly target: Target;
  /** What is asked. */
  readonly question: string;
  /** Whom, for people. */
  readonly where: string;
}

/** What would be asked, and whom. Throws what targetOf() throws. */
export async function planQuery(
  call: DatabaseCall,
  { workspace }: PlanContext,
): Promise<Plan<PreparedQuery>> {
  const { action, values, services } = call;
  const { databases } = services;
  const target = await targetOf(action.database, values as Wanted, databases);
  const question = questionText(call);
  const where = withoutSecrets(
    `${target.database ?? 'no database'} at ${target.host}, as ${target.user} (${target.from})`,
    target.secrets,
  );
  return {
    effects: action.effects,
    subject: question,
    folder: workspace.roots[0] ?? databases.host.home,
    touches: [],
    preview: where,
    takenBack: false,
    exactly: JSON.stringify([question, where]),
    work: { ...call, target, question, where },
  };
}

/**
 * Asks a database what an action asks, over a connection that is made for it and can only read. Throws PROGRAM_FAILED with
 * what the server says, TIMEOUT, CANCELLED, TOO_LARGE and NOT_FOUND.
 */
export async function askDatabase(call: PreparedQuery, context: CallContext): Promise<ToolResult> {
  const { action, target, question, where, limits = usualLimits } = call;
  const { signal } = context;
  let session: Session | undefined;
  try {
    session = await (await openerOf(action))(target, limits, signal);
    const answer = await answered(session, call);
    return resultOf(answer, session.notes, question, context);
  } catch (error) {
    throw failureOfDatabase(error, { target, where, signal, limits });
  } finally {
    await session?.end();
  }
}

async function openerOf({ database }: QueryAction): Promise<OpenSession> {
  if (database === 'mysql') return (await import('./mysql-session.ts')).openMysql;
  return (await import('./postgres-session.ts')).openPostgres;
}

/** What is asked, for people and for rules about it. */
function questionText({ action, values, tool }: DatabaseCall): string {
  const { asks } = action;
  if ('query' in asks) return String(values[asks.query]);
  if ('explain' in asks) return `EXPLAIN ${String(values[asks.explain])}`;
  return [tool, ...asks.binds.map((name) => String(values[name] ?? ''))].join(' ').trim();
}

type Answer = Readonly<Record<string, unknown>>;

async function answered(session: Session, { action: { asks }, values }: DatabaseCall): Promise<Answer> {
  if ('query' in asks) {
    const {
      columns,
      rows,
      truncated,
      notes = [],
    } = await session.query(String(values[asks.query]), Number(values[asks.limit]));
    return { columns, rows, truncated, ...(notes.length > 0 && { notes }) };
  }
  if ('explain' in asks) return { plan: await session.explain(String(values[asks.explain])) };
  const binds = asks.binds.map((name) => values[name] ?? null);
  const answer: Record<string, unknown> = {};
  for (const [index, [name, sql]] of Object.entries(asks.lists).entries()) {
    const rows = await session.list(sql, placeholders(sql) === 0 ? [] : binds);
    if (index === 0 && rows.length === 0 && asks.missing !== undefined)
      throw new ToolcribError('NOT_FOUND', `${String(binds[0])}: ${asks.missing}`);
    answer[name] = rows;
  }
  return answer;
}

/** How many places of a statement of ours are filled with values. */
const placeholders = (sql: string): number => sql.match(/\$\d|\?/g)?.length ?? 0;

/** What fits into an answer; what does not is kept whole, a row a line, where read_output finds it. */
function resultOf(
  answer: Answer,
  notes: readonly string[],
  question: string,
  context: CallContext,
): ToolResult {
  const { value, omitted, clipped, cleaned } = fitResult(answer, inlineLimit, spelledOut);
  const isCut = Object.keys(omitted).length > 0;
  const kept =
    (isCut || clipped) && Array.isArray(answer['rows']) ? keepRows(answer['rows'], question, context) : [];
  const own = Array.isArray(value['notes']) ? (value['notes'] as string[]) : [];
  const said = [...notes, ...own, ...(cleaned ? [spelledNote] : []), ...kept];
  return { data: { ...value, ...(isCut && { omitted }), ...(said.length > 0 && { notes: said }) } };
}

function keepRows(rows: readonly unknown[], question: string, context: CallContext): string[] {
  const sink = context.keepOutput(question);
  for (const row of rows) sink.add('stdout', Buffer.from(`${JSON.stringify(row)}\n`));
  sink.end();
  return [`all ${rows.length} rows: read_output ${sink.handle}`];
}
