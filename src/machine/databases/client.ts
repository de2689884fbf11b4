import { ToolcribError } from '../../core/errors.ts';
import { projectFolders } from '../programs/project-folders.ts';
import { variablesOf, withoutBlanks, type KnownDatabases, type Target } from './target.ts';

/** The program by the first of its names that is there; never one that lies in the project. */
export async function clientProgram(
  client: readonly string[],
  roots: readonly string[],
  { environment }: KnownDatabases,
): Promise<string> {
  const project = projectFolders(roots);
  for (const name of client) {
    const found = await environment.which(name);
    if (found !== undefined && !project.holds(found)) return found;
  }
  throw new ToolcribError(
    'PROGRAM_NOT_FOUND',
    `${client.join(' and ')} was not found on this machine.`,
    'It comes with the client of the database.',
  );
}

/** The variables that tell a program where to connect: only its own user can read them. */
export function connectionVariables(
  target: Target,
  { PGPASSFILE }: Readonly<Record<string, string | undefined>>,
) {
  const names = Object.entries(variablesOf[target.engine]) as [keyof Target, string][];
  const said = Object.fromEntries(names.map(([part, name]) => [name, target[part]?.toString()]));
  const more = { PGPASSFILE, PGCONNECT_TIMEOUT: '10', PGCLIENTENCODING: 'UTF8' };
  return withoutBlanks({ ...said, ...(target.engine === 'postgresql' && more) });
}

/** The arguments before a program's own: where to connect, never a password; and the file that it writes. */
export function connectionArguments(target: Target, path: string | undefined): string[] {
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
    // MariaDB's programs and MySQL's have different options; each passes over the other's that begin with
    // loose-.
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
