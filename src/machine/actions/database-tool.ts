import { statSync, unlinkSync, writeFileSync } from 'node:fs';
import { compileLine, printable, type CompiledLine, type Values } from '../../core/command-line.ts';
import type { DatabaseDump, DatabaseProgram, DatabaseQuery } from '../../core/database-program.ts';
import {
  textOf,
  type CallContext,
  type Plan,
  type PlanContext,
  type Result,
  type Tool,
} from '../../core/tool.ts';
import type { DatabaseAnswer, PreparedQuery } from '../databases/ask-database.ts';
import { targetName, targetOf, withoutSecrets, type TargetChoice } from '../databases/target.ts';
import { displayPath } from '../paths/display-path.ts';
import { unreadable } from '../paths/opened.ts';
import { lookOnceMore } from '../paths/path-target.ts';
import { codeOf } from '../paths/real-path.ts';
import { rooted } from '../paths/workspace.ts';
import { inlineLimit, sanitize } from '../sanitize.ts';
import type { Session } from '../session.ts';
import { programResult, reported } from './action-result.ts';
import { checkPaths, pathParams, type PathParam } from './check-paths.ts';
import { describeAction } from './describe.ts';
import { execute, type ActionProgram, type Launch } from './run-action.ts';

/**
 * An action of a database's program as a tool: a question to a server, or a dump. Throws for one that there
 * is not.
 */
export function databaseTool(
  of: DatabaseProgram,
  key: string,
  session: Session,
  { env }: ActionProgram,
): Tool {
  const action = of.actions[key];
  if (!action) throw new Error(`${of.id} has no action ${key}`);
  const facts = describeAction(of, key, action);
  if ('databaseQuestion' in action) {
    const { databaseQuestion, effects } = action;
    const question = { tool: facts.name, engine: of.engine, databaseQuestion, effects };
    const asking = () => import('../databases/ask-database.ts');
    return {
      ...facts,
      plan: async (values: Values, context) =>
        (await asking()).planQuery({ ...question, values, known: session }, context),
      async run({ work }: Plan<PreparedQuery>, context) {
        const { askDatabase } = await asking();
        return answerResult(action, work, await askDatabase(work, context.signal), context);
      },
    };
  }
  const dump = {
    of,
    action,
    session,
    env,
    line: compileLine(of, action, action.run),
    paths: pathParams(action.params),
  };
  return {
    ...facts,
    plan: (values: Values, context) => planDump(dump, values, context),
    run: ({ work }: Plan<PreparedDump>, context) => runDump(work, dump, context),
  };
}

/** The rows that fit into an answer; those that do not are kept whole, where read_output finds them. */
function answerResult(
  { out }: DatabaseQuery,
  { values, question: command, target, where }: PreparedQuery,
  answer: DatabaseAnswer,
  context: CallContext,
): Result {
  if (!out) throw new Error(`${command}: has no report`);
  const output = { stdout: JSON.stringify(answer), stderr: '', exitCode: 0, files: {}, after: {}, values };
  const found = out.read(output);
  const text = sanitize(out.show(found as never));
  const notes = target.isOfProject ? [where] : [];
  return reported(out, found, '', { command, notes, handle: keepLong(text, command, context) });
}

/** The handle of a text that is too long for an answer. */
function keepLong(text: string, command: string, context: CallContext): string | undefined {
  if (text.length <= inlineLimit) return undefined;
  const sink = context.keepOutput(command);
  sink.add('stdout', Buffer.from(text));
  sink.end();
  return sink.handle;
}

/** A dump as its tool keeps it, its line compiled. */
interface DumpTool {
  readonly of: DatabaseProgram;
  readonly action: DatabaseDump;
  readonly session: Session;
  /** The environment of its program. */
  readonly env: ActionProgram['env'];
  readonly line: CompiledLine;
  readonly paths: readonly PathParam[];
}

interface PreparedDump {
  readonly launch: Launch;
  /** The new file that it writes. */
  readonly path: string;
}

/**
 * Plans a dump: the program is told in its environment where to connect and with which password. Throws
 * PROGRAM_NOT_FOUND, and what targetOf() throws.
 */
async function planDump(
  { of, action, session, env: own, line, paths: params }: DumpTool,
  given: Values,
  { workspace }: PlanContext,
): Promise<Plan<PreparedDump>> {
  const { client, effects, role } = action;
  const { folder, values, paths } = await checkPaths(params, role, given, workspace);
  const typed = line.write(values).argv;
  const target = targetOf(of.engine, values as TargetChoice, session);
  const path = String(values[action.writes]);
  const { clientProgram, connectionArguments, connectionVariables } = await import('../databases/client.ts');
  const program = await clientProgram(client, workspace.roots, session);
  const argv = [...connectionArguments(target, path), ...typed];
  const command = printable([client[0] ?? '', ...typed]);
  const database = withoutSecrets(targetName(target), target.secrets);
  const env = { ...own, ...connectionVariables(target, session.environment.host.env) };
  return {
    effects,
    subject: command,
    folder,
    paths,
    // Each time: an "always" for queries of a database is none for replacing it.
    ...(effects.includes('destroy') && { approval: 'database' as const }),
    preview: `database: ${database} (${target.from})`,
    isUndoable: false,
    fingerprint: JSON.stringify([program, argv, folder, database]),
    work: { launch: { program, argv, folder, env, command, notes: [], keeps: 'no', lasts: false }, path },
  };
}

/**
 * Runs a dump. Its file is new, and goes when it fails. Throws PATH_EXISTS, and what the workspace throws.
 */
const runDump = (
  { launch, path }: PreparedDump,
  { of, session }: DumpTool,
  context: CallContext,
): Promise<Result> =>
  rooted(context.workspace).atPlace(path, {}, async (place) => {
    lookOnceMore(place, path);
    makeFile(place.at, path);
    let failed = true;
    try {
      const { outcome, details } = await execute(launch, false, context, session);
      const result = await programResult(outcome, { hints: of.hints }, details);
      failed = result.isError === true;
      if (failed) return result;
      const said = `${statSync(place.at).size} bytes in ${displayPath(path)}`;
      return { ...result, content: [{ type: 'text', text: `${said}\n${textOf(result)}`.trim() }] };
    } finally {
      if (failed) unlinkSync(place.at);
    }
  });

/**
 * Makes an empty file that was not there, for its owner alone: a dump has everything that the database has.
 */
function makeFile(at: string, given: string): void {
  try {
    writeFileSync(at, '', { flag: 'wx', mode: 0o600 });
  } catch (error) {
    throw unreadable(given, codeOf(error));
  }
}
