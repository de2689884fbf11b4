import { closeSync, constants, openSync, unlinkSync, writeSync } from 'node:fs';
import { printable, renderArgv } from '../../core/argv.ts';
import type { AnyDiscoverer, DatabaseProgramAction } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { CallContext, Plan, PlanContext, ToolResult } from '../../core/tool.ts';
import { failureOf, shownOf } from '../actions/action-result.ts';
import type { ActionServices } from '../actions/action-services.ts';
import { lookOnceMore } from '../changes/last-look.ts';
import { shownPath } from '../paths/shown-path.ts';
import { rooted } from '../paths/workspace.ts';
import { projectFolders } from '../programs/project-folders.ts';
import { withoutSecrets } from './database-failure.ts';
import { targetName, targetOf, type Chosen, type Target } from './target.ts';

/** One call of an action of a program beside a database's client, all paths in `values` checked. */
export interface ProgramCall {
  readonly discoverer: AnyDiscoverer;
  readonly action: DatabaseProgramAction;
  readonly values: Readonly<Record<string, unknown>>;
  /** Those of them that are paths. */
  readonly paths: readonly string[];
  readonly folder: string;
  readonly context: PlanContext;
  readonly services: ActionServices;
}

interface PreparedProgram extends Omit<ProgramCall, 'context'> {
  readonly target: Target;
  readonly program: string;
  readonly argv: readonly string[];
  readonly command: string;
}

const keptBytes = 256 * 1024;
/** A week, which budgets.jobMinutes can be at most: what ends the program is the limit of its job. */
const longestMs = 7 * 24 * 60 * 60 * 1000;

/** What would be started, and with which database. Throws PROGRAM_NOT_FOUND, and what targetOf() throws. */
export async function planDatabaseProgram(call: ProgramCall): Promise<Plan<PreparedProgram>> {
  const { context: _context, ...rest } = call;
  const { action, values, paths, folder, services } = call;
  const asTyped = renderArgv(action.template, values);
  const target = targetOf(action.database, values as Chosen, services.databases);
  const program = await programOf(call);
  const argv = [...connectionArguments(target), ...asTyped];
  const command = printable([action.client[0] ?? '', ...asTyped]);
  const database = withoutSecrets(targetName(target), target.secrets);
  return {
    effects: action.effects,
    subject: command,
    folder,
    touches: paths,
    // Each time: an "always" for queries of a database is none for replacing it.
    ...(action.effects.includes('destroy') && { asks: 'database' as const }),
    preview: `database: ${database} (${target.from})`,
    takenBack: false,
    exactly: JSON.stringify([program, argv, folder, database]),
    work: { ...rest, target, program, argv, command },
  };
}

/**
 * Runs a program beside a database's client, told in its environment where to connect and with which password. What it
 * prints goes to a new file of the workspace, which is removed when it fails. Throws PATH_EXISTS, and what the workspace
 * throws.
 */
export async function runDatabaseProgram(call: PreparedProgram, context: CallContext): Promise<ToolResult> {
  const { discoverer, action, values, folder, services, target, program, argv, command } = call;
  const path = action.writes === undefined ? undefined : String(values[action.writes]);
  const file = path === undefined ? undefined : await newFile(path, context);
  const sink = context.keepOutput(command, folder);
  const env = services.childEnvironment([], discoverer.settings ?? {});
  const outcome = await services.run({
    program,
    argv,
    cwd: folder,
    env: { ...env, ...connectionVariables(target, services.databases.host.env) },
    signal: context.signal,
    onLine: context.progress,
    keepBytes: keptBytes,
    timeoutMs: longestMs,
    ...(file ? { onOutput: file.add } : { sink }),
  });
  sink.end();
  const telling = { notes: [], ...(!file && { handle: sink.handle }) };
  const failure = failureOf({ ...outcome, command }, {}, discoverer.hints, telling);
  const bytes = file?.end(failure === undefined);
  if (failure) return failure;
  if (file && bytes === undefined)
    throw new ToolcribError('WRITE_FAILED', `${path}: could not be written whole; it was removed.`);
  const said = path === undefined ? 'done' : `${bytes} bytes in ${shownPath(path)}`;
  return { content: [{ type: 'text', text: `${said}\n${shownOf(outcome.stderr, telling)}`.trim() }] };
}

/** The program by the first of its names that is there; never one that lies in the project. */
async function programOf({ action, context, services }: ProgramCall): Promise<string> {
  const project = await projectFolders(context.workspace.roots);
  for (const name of action.client) {
    const found = await services.databases.which(name);
    if (found !== undefined && !(await project.holds(found))) return found;
  }
  throw new ToolcribError(
    'PROGRAM_NOT_FOUND',
    `${action.client.join(' and ')} was not found on this machine.`,
    'It comes with the client of the database.',
  );
}

/** What a program is told in its environment, where only its own user can read it. */
function connectionVariables(target: Target, env: Readonly<Record<string, string | undefined>>) {
  const { engine, host, port, user, password, protection, authorities } = target;
  const said =
    engine === 'mysql'
      ? { MYSQL_PWD: password }
      : {
          PGHOST: host,
          PGPORT: String(port),
          PGUSER: user,
          PGPASSWORD: password,
          PGPASSFILE: env['PGPASSFILE'],
          PGSSLMODE: protection,
          PGSSLROOTCERT: authorities,
          PGCONNECT_TIMEOUT: '10',
          PGCLIENTENCODING: 'UTF8',
        };
  return Object.fromEntries(
    Object.entries(said).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** What comes before a program's own arguments: where to connect, never a password. */
function connectionArguments(target: Target): string[] {
  const { engine, host, port, user, database = '', protection, authorities } = target;
  // As a part of a connection string, in which it cannot become another setting.
  if (engine === 'postgresql') return [`--dbname=dbname='${database.replaceAll(/[\\']/g, '\\$&')}'`];
  const address = host.startsWith('/')
    ? [`--socket=${host}`]
    : [`--host=${host}`, `--port=${port}`, '--protocol=TCP'];
  const modes = { 'verify-ca': 'VERIFY_CA', 'verify-full': 'VERIFY_IDENTITY', require: 'REQUIRED' };
  const mode = protection === 'disable' || protection === 'prefer' ? undefined : modes[protection];
  return [
    // First, or it is not taken: option files could name further ones, and plugins.
    '--no-defaults',
    ...address,
    `--user=${user}`,
    // MariaDB's programs and MySQL's have different options; each passes over the other's that begin with loose-.
    ...(mode === undefined ? [] : ['--loose-ssl', `--loose-ssl-mode=${mode}`]),
    ...(protection.startsWith('verify') ? ['--loose-ssl-verify-server-cert'] : []),
    ...(authorities === undefined ? [] : [`--ssl-ca=${authorities}`]),
  ];
}

interface NewFile {
  /** False: nothing more can be written. */
  add(chunk: Buffer): boolean;
  /** Its bytes; undefined when it could not be kept whole. */
  end(keep: boolean): number | undefined;
}

/** A file that was not there, open for writing, for its owner alone: a dump has everything that the database has. */
async function newFile(given: string, { workspace }: CallContext): Promise<NewFile> {
  const place = await rooted(workspace).openPlace(given, { follow: false });
  const { O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_WRONLY } = constants;
  let file: number;
  try {
    lookOnceMore(place, given);
    file = openSync(place.at, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
  } catch (error) {
    await place.folder.handle.close();
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new ToolcribError('PATH_EXISTS', `${shownPath(given)}: is already there.`, 'Give a new name.');
  }
  let bytes: number | undefined = 0;
  return {
    add(chunk) {
      try {
        for (let at = 0; at < chunk.length;) at += writeSync(file, chunk, at);
        if (bytes !== undefined) bytes += chunk.length;
      } catch {
        // The disk is full, for one: the program ends when nobody reads, and what there is goes.
        bytes = undefined;
      }
      return bytes !== undefined;
    },
    end(keep) {
      closeSync(file);
      if (!keep || bytes === undefined) unlinkSync(place.at);
      void place.folder.handle.close();
      return bytes;
    },
  };
}
