import { statSync, unlinkSync, writeFileSync } from 'node:fs';
import { printable, write } from '../../core/command-line.ts';
import { ToolcribError } from '../../core/errors.ts';
import { textOf, type CallContext, type Plan, type Result } from '../../core/tool.ts';
import { programResult } from '../actions/action-result.ts';
import type { ActionCall } from '../actions/plan-call.ts';
import { execute, type PreparedProgram } from '../actions/run-program.ts';
import { unreadable } from '../paths/opened.ts';
import { lookOnceMore } from '../paths/path-target.ts';
import { codeOf } from '../paths/real-path.ts';
import { displayPath } from '../paths/display-path.ts';
import { rooted } from '../paths/workspace.ts';
import { projectFolders } from '../programs/project-folders.ts';
import { targetName, targetOf, variablesOf, withoutBlanks, withoutSecrets } from './target.ts';
import type { TargetChoice, Target } from './target.ts';

interface PreparedDump extends PreparedProgram {
  readonly call: ActionCall;
  /** The new file that it writes. */
  readonly path: string | undefined;
}

/**
 * What would be started, and with which database: the program is told in its environment where to connect and with
 * which password. Throws PROGRAM_NOT_FOUND, and what targetOf() throws.
 */
export async function planDatabaseProgram(call: ActionCall): Promise<Plan<PreparedDump>> {
  const { of, action, values, paths, folder, services } = call;
  const { client, database: engine } = action;
  if (!client || !engine) throw new Error(`${call.key} is no program of a database`);
  const asTyped = write(of, action, action.run, values).argv;
  const target = targetOf(engine, values as TargetChoice, services.databases);
  const path = action.writes === undefined ? undefined : String(values[action.writes]);
  const program = await programOf(client, call);
  const argv = [...connectionArguments(target, path), ...asTyped];
  const command = printable([client[0] ?? '', ...asTyped]);
  const database = withoutSecrets(targetName(target), target.secrets);
  const env = { ...services.env, ...connectionVariables(target, services.databases.host.env) };
  return {
    effects: action.effects,
    subject: command,
    folder,
    paths,
    // Each time: an "always" for queries of a database is none for replacing it.
    ...(action.effects.includes('destroy') && { approval: 'database' as const }),
    preview: `database: ${database} (${target.from})`,
    isUndoable: false,
    fingerprint: JSON.stringify([program, argv, folder, database]),
    work: { program, argv, folder, env, command, notes: [], keeps: 'no', lasts: false, call, path },
  };
}

/** Runs it. A file that it writes is new, and goes when it fails. Throws PATH_EXISTS, and what the workspace throws. */
export async function runDatabaseProgram(dump: PreparedDump, context: CallContext): Promise<Result> {
  const { path, call } = dump;
  const running = async () => {
    const { outcome, telling } = await execute({ ...dump, isWhole: false }, context, {
      run: call.services.run,
    });
    return programResult(outcome, { hints: call.of.hints }, telling);
  };
  if (path === undefined) return running();
  return rooted(context.workspace).atPlace(path, {}, async (place) => {
    lookOnceMore(place, path);
    makeFile(place.at, path);
    let failed = true;
    try {
      const result = await running();
      failed = result.isError === true;
      if (failed) return result;
      const said = `${statSync(place.at).size} bytes in ${displayPath(path)}`;
      return { ...result, content: [{ type: 'text', text: `${said}\n${textOf(result)}`.trim() }] };
    } finally {
      if (failed) unlinkSync(place.at);
    }
  });
}

/** An empty file that was not there, for its owner alone: a dump has everything that the database has. */
function makeFile(at: string, given: string): void {
  try {
    writeFileSync(at, '', { flag: 'wx', mode: 0o600 });
  } catch (error) {
    throw unreadable(given, codeOf(error));
  }
}

/** The program by the first of its names that is there; never one that lies in the project. */
async function programOf(client: readonly string[], { context, services }: ActionCall): Promise<string> {
  const project = projectFolders(context.workspace.roots);
  for (const name of client) {
    const found = await services.databases.which(name);
    if (found !== undefined && !project.holds(found)) return found;
  }
  throw new ToolcribError(
    'PROGRAM_NOT_FOUND',
    `${client.join(' and ')} was not found on this machine.`,
    'It comes with the client of the database.',
  );
}

/** What a program is told in its environment, where only its own user can read it. */
function connectionVariables(target: Target, { PGPASSFILE }: Readonly<Record<string, string | undefined>>) {
  const names = Object.entries(variablesOf[target.engine]) as [keyof Target, string][];
  const said = Object.fromEntries(names.map(([part, name]) => [name, target[part]?.toString()]));
  const more = { PGPASSFILE, PGCONNECT_TIMEOUT: '10', PGCLIENTENCODING: 'UTF8' };
  return withoutBlanks({ ...said, ...(target.engine === 'postgresql' && more) });
}

/** What comes before a program's own arguments: where to connect, never a password; and the file that it writes. */
function connectionArguments(target: Target, path: string | undefined): string[] {
  const { engine, host, port, user, database = '', sslmode, sslrootcert } = target;
  const mode = mysqlModes[sslmode];
  const given = (value: string | undefined, ...args: string[]) => (value === undefined ? [] : args);
  if (engine === 'postgresql')
    return [
      // As a part of a connection string, in which it cannot become another setting.
      `--dbname=dbname='${database.replaceAll(/[\\']/g, '\\$&')}'`,
      ...given(path, `--file=${path}`),
    ];
  return [
    // First, or it is not taken: option files could name further ones, and plugins.
    '--no-defaults',
    ...(host.startsWith('/') ? [`--socket=${host}`] : [`--host=${host}`, `--port=${port}`, '--protocol=TCP']),
    `--user=${user}`,
    ...given(path, `--result-file=${path}`),
    // MariaDB's programs and MySQL's have different options; each passes over the other's that begin with loose-.
    ...given(mode, '--loose-ssl', `--loose-ssl-mode=${mode}`),
    ...(sslmode.startsWith('verify') ? ['--loose-ssl-verify-server-cert'] : []),
    ...given(sslrootcert, `--ssl-ca=${sslrootcert}`),
  ];
}

const mysqlModes: Partial<Record<Target['sslmode'], string>> = {
  require: 'REQUIRED',
  'verify-ca': 'VERIFY_CA',
  'verify-full': 'VERIFY_IDENTITY',
};
