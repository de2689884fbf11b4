import type { Target } from './target.ts';

/** What a program of the server is told in its environment, where only its own user can read it. */
export function connectionVariables(target: Target): Record<string, string> {
  const { engine, host, port, user, password, protection, authorities, certificate, key } = target;
  if (engine === 'mysql') return password === undefined ? {} : { MYSQL_PWD: password };
  const said = {
    PGHOST: host,
    PGPORT: String(port),
    PGUSER: user,
    PGPASSWORD: password,
    PGSSLMODE: protection,
    PGSSLROOTCERT: authorities,
    PGSSLCERT: certificate,
    PGSSLKEY: key,
    PGCONNECT_TIMEOUT: '10',
    PGAPPNAME: 'toolcrib',
    PGCLIENTENCODING: 'UTF8',
  };
  return Object.fromEntries(
    Object.entries(said).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** What comes before a program's own arguments: where to connect, never a password. */
export function connectionArguments(target: Target): string[] {
  const { engine, host, port, user, database = '', protection, authorities } = target;
  if (engine === 'postgresql') return [`--dbname=dbname=${conninfo(database)}`];
  const address = host.startsWith('/')
    ? [`--socket=${host}`]
    : [`--host=${host}`, `--port=${port}`, '--protocol=TCP'];
  // First, or it is not taken: option files could name further ones, and plugins.
  return ['--no-defaults', ...address, `--user=${user}`, ...encrypted(protection, authorities)];
}

/** A value of a connection string, in which it cannot become another setting. */
const conninfo = (value: string): string => `'${value.replaceAll(/[\\']/g, '\\$&')}'`;

/** MariaDB's programs and MySQL's have different options; each takes the other's for none when it begins with loose-. */
function encrypted(protection: Target['protection'], authorities: string | undefined): string[] {
  if (protection === 'disable' || protection === 'prefer') return [];
  const mode = { require: 'REQUIRED', 'verify-ca': 'VERIFY_CA', 'verify-full': 'VERIFY_IDENTITY' }[
    protection
  ];
  return [
    '--loose-ssl',
    `--loose-ssl-mode=${mode}`,
    ...(protection === 'require' ? [] : ['--loose-ssl-verify-server-cert']),
    ...(authorities === undefined ? [] : [`--ssl-ca=${authorities}`]),
  ];
}
