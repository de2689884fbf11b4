import { closeSync, constants, openSync, unlinkSync, writeSync } from 'node:fs';
import { printable, renderArgv } from '../../core/argv.ts';
import type { AnyDiscoverer, DatabaseProgramAction } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { CallContext, Plan, PlanContext, ToolResult } from '../../core/tool.ts';
import { failureOf, shownOf } from '../actions/action-result.ts';
import { lookOnceMore } from '../paths/last-look.ts';
import { rooted } from '../paths/workspace.ts';
import { shownPath } from '../paths/shown-path.ts';
import { projectFolders } from '../programs/project-folders.ts';
import type { ActionServices } from '../actions/action-services.ts';
import { connectionArguments, connectionVariables } from './program-connection.ts';
import { targetOf, type Target, type Wanted } from './target.ts';

/** One call of an action of a program beside a database's client, all paths in `values` checked. */
export interface ProgramCall {
  readonly name: string;
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
  const { context, ...rest } = call;
  const { action, values, paths, folder, services } = call;
  const asTyped = renderArgv(action.template, values);
  const target = await targetOf(action.database, values as Wanted, services.databases);
  const program = await programOf(call);
  const argv = [...connectionArguments(target), ...asTyped];
  const command = printable([action.client[0] ?? '', ...asTyped]);
  const database = `${target.user}@${target.host}/${target.database ?? ''}`;
  const changes = action.effects.includes('destroy');
  return {
    effects: action.effects,
    subject: command,
    folder,
    touches: paths,
    ...(changes && { asks: 'database' as const, lasting: { kind: 'database' as const, database } }),
    ...(context.preview && { preview: `database: ${database} (${target.from})` }),
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
  const outcome = await services.run({
    program,
    argv,
    cwd: folder,
    env: { ...services.childEnvironment([], discoverer.settings ?? {}), ...connectionVariables(target) },
    signal: context.signal,
    onLine: context.progress,
    keepBytes: keptBytes,
    timeoutMs: longestMs,
    ...(file && { onOutput: file.add }),
    ...(!file && { sink }),
  });
  sink.end();
  const telling = { notes: [], ...(!file && { handle: sink.handle }) };
  const failed = failureOf({ ...outcome, command }, {}, discoverer.hints, telling);
  const failure = failed ?? (file?.failed ? unwritten(path) : undefined);
  file?.end(failure === undefined);
  if (failure) return failure;
  const said = file ? `${file.bytes()} bytes in ${shownPath(path ?? '')}` : 'done';
  return { content: [{ type: 'text', text: `${said}\n${shownOf(outcome.stderr, telling)}`.trim() }] };
}

const unwritten = (path: string | undefined): ToolResult => ({
  isError: true,
  content: [{ type: 'text', text: `WRITE_FAILED: ${path}: could not be written whole; it was removed.` }],
});

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

interface NewFile {
  /** False: nothing more can be written. */
  add(chunk: Buffer): boolean;
  bytes(): number;
  readonly failed: boolean;
  end(keep: boolean): void;
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
  let bytes = 0;
  let failed = false;
  return {
    add(chunk) {
      try {
        for (let at = 0; at < chunk.length;) at += writeSync(file, chunk, at);
        bytes += chunk.length;
      } catch {
        // The disk is full, for one: the program ends when nobody reads, and what there is goes.
        failed = true;
      }
      return !failed;
    },
    bytes: () => bytes,
    get failed() {
      return failed;
    },
    end(keep) {
      closeSync(file);
      if (!keep) unlinkSync(place.at);
      void place.folder.handle.close();
    },
  };
}
